// Matches documents against one segment, by their events.
//
//   start ─► Automaton: the label path ─► Results: what it completes; Frames: what it adds there
//   text  ─► TextBuffer, while an element asks for it ─► PredicateIndex ─► Frames
//   end   ─► RowJoiner: the rows of the element with the literals of its frame ─► Frames, Results
//
// A document can also be matched in parts.  A piece begins inside elements that another part has opened:
// `enter` opens their frames and nothing else, since what their start tags complete is known there.  The
// frame of an element that is not finished in the piece is not closed: `take` takes its literals out, for the
// entry of the element in a partial.  Later, `reopen` and `inject` bring them back, each element after its
// parent, and it is closed, each before its parent.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "automaton.hpp"
#include "cache_keeper.hpp"
#include "conformance.hpp"
#include "copy_share.hpp"
#include "flat.hpp"
#include "frames.hpp"
#include "partial.hpp"
#include "path_interest.hpp"
#include "predicates.hpp"
#include "results.hpp"
#include "row_joiner.hpp"
#include "segment.hpp"
#include "text.hpp"
#include "text_items.hpp"
#include "tuning.hpp"

namespace twigcast {

class Matcher {
  public:
    Matcher(const Segment& segment, const Tuning& tuning)
        : segment_(segment), tuning_(tuning), automaton_(segment),
          conformance_(segment, tuning.cache_bytes / 8), predicates_(segment, automaton_.names),
          text_(predicates_.on_string()), frames_(automaton_.blocks, segment.atoms()),
          results_(segment, automaton_.blocks), joiner_(segment, automaton_, frames_, results_, tuning),
          interest_(segment, automaton_), keeper_(tuning.cache_bytes) {
        for (u32 p = 0; p < segment.predicate_count(); ++p)
            needs_text_ = needs_text_ || segment.predicates[p].kind != ON_ATTRIBUTE;
    }
    Matcher(const Matcher&) = delete;

    const Segment& segment() const { return segment_; }
    const Conformance& conformance() const { return conformance_; }
    PathInterest& interest() { return interest_; }
    bool needs_text() const { return needs_text_; }

    // Whether the content of the open element makes no difference.
    bool is_skipping() const { return skipped_ && !conformance_.following(); }

    // Events

    // `result` has a bit for every position up to the last one of this segment.
    void begin(u64* result) {
        tidy();
        ++document_;
        ++documents_;
        joiner_.begin(documents_, document_);
        results_.begin(result, document_);
        skipped_ = collecting_ = 0;
        frames_.open(0, Automaton::DOCUMENT, 0);
        conformance_.begin();
        segment_.for_ends(0, [this](u32 slot) { results_.complete(slot); });
    }

    void start(const char* name, std::size_t length, u64 hash, const char** attributes, u32 depth) {
        if (!descend(name, length, hash, depth)) return;
        Frame& frame = frames_[depth];
        Automaton::Node& node = automaton_[frame.node];
        if (node.visited != document_) {
            node.again = node.visited != 0;
            node.visited = document_;
            const u32* accepts = automaton_.accepts(node);
            for (u32 i = 0; i < node.accept_count; ++i) results_.accept(accepts[i]);
        }
        if (node.push_count && node.given != frames_[node.deepest].instance) {
            node.given = frames_[node.deepest].instance;
            const u32* push = automaton_.pushes(node);
            for (u32 i = 0; i < node.push_count; ++i) joiner_.give(push[i]);
        }
        if (node.flags & NEEDS_ATTRIBUTES)
            for (; *attributes; attributes += 2)
                if (u32 groups = predicates_.groups_of(attributes[0]))
                    on_attribute(frame, groups, attributes[1]);
        if (node.flags & (NEEDS_TEXT | NEEDS_STRING)) collect(frame);
    }

    void end(u32 depth) {
        if (skipped_) {
            --skipped_;
            if (!skipped_) begin_text_node(frames_[depth - 1]);
            return;
        }
        Frame& frame = frames_[depth];
        if (frame.needs & HAS_ROWS) {
            string_.clear();
            if (frame.needs & (NEEDS_TEXT | NEEDS_STRING)) {
                if (frame.needs & NEEDS_TEXT) end_text_node(frame);
                if (frame.needs & NEEDS_STRING) work_ += text_.compare(frame.string_start, string_);
                --collecting_;
            }
            joiner_.close(frame, string_);
        }
        begin_text_node(frames_[depth - 1]);
    }

    void text(const char* bytes, std::size_t length) {
        if (collecting_) text_.append(bytes, length);
    }

    // A comment or processing instruction separates the text before it and after it into two nodes.
    void interrupt(u32 depth) {
        if (skipped_ || !(frames_[depth].needs & NEEDS_TEXT)) return;
        end_text_node(frames_[depth]);
        begin_text_node(frames_[depth]);
    }

    void finish() {
        joiner_.close_document(true);
        results_.complete_accepted();
        conformance_.finish([this](u32 position) { results_.set(position); });
    }

    // Copies of elements, see copy_share.hpp; between `begin_copy` and `end_copy` they are in the open
    // element.

    void begin_copy(u32 depth) { copies_.begin(frame_at(depth), frames_, flushes_); }
    void end_copy(u32 depth) { copies_.end(frame_at(depth), flushes_); }
    bool has_copy(u32 depth) { return copies_.fits(frame_at(depth), flushes_); }

    // Gives the open element what was noted; `text` is the string-value of the copied elements.
    void repeat_copy(u32 depth, const std::string& text) {
        Frame* frame = frame_at(depth);
        if (frame && (frame->needs & NEEDS_TEXT)) end_text_node(*frame);
        if (collecting_) text_.append(text.data(), text.size());
        if (!frame) return;
        begin_text_node(*frame);
        work_ += copies_.repeat(*frame, frames_);
    }

    // Pieces of a document

    // `place` is where the piece stands in the document.
    void begin_piece(u64* result, u64 place) {
        begin(result);
        place_ = place;
    }

    void enter(const char* name, std::size_t length, u64 hash, u32 depth) {
        if (!descend(name, length, hash, depth)) return;
        if (frames_[depth].needs & (NEEDS_TEXT | NEEDS_STRING)) collect(frames_[depth]);
    }

    // Another part belongs here, inside the open element of this depth: the document goes to `before`, and on
    // at `place`.
    void hole(u32 depth, u64 before, u64 place) {
        interrupt(depth);
        place_ = place;
        text_.hole(place, before);
    }

    // Takes the literals out of the frame of the deepest open element, which `end` then does not close.
    void take(u32 depth, PieceLiterals& out) {
        if (skipped_) return;
        Frame& frame = frames_[depth];
        if (frame.needs & NEEDS_TEXT) end_text_node(frame);
        if (frame.needs & (NEEDS_TEXT | NEEDS_STRING)) --collecting_;
        take_joined(depth, out);
    }

    // Does the same without the text.
    void take_joined(u32 depth, PieceLiterals& out);

    // Appends the text of the deepest open element, in items between holes; to be called before `take`.
    void take_text(u32 depth, u64 place_end, std::vector<TextItem>& out) const {
        if (!skipped_ && (frames_[depth].needs & NEEDS_STRING))
            text_.items(frames_[depth].string_start, place_end, out);
    }

    // To be called at the end of a piece, after the literals of all open frames were taken.
    void finish_piece() {
        results_.complete_accepted();
        place_ = 0;
    }

    void reopen(const char* name, std::size_t length, u64 hash, u32 depth) {
        if (descend(name, length, hash, depth))
            frames_[depth].needs &= ~NEEDS_TEXT;  // the text was read in the pieces
    }

    void inject(u32 depth, const PieceLiterals& literals);

    // Closes the deepest open element; `text` is its string-value, if that is wanted and not summarised.
    void close_complete(u32 depth, const std::string& text, const TextSummary* summary, std::size_t segment);

    // Completes the rows of the deepest open element that hold whatever the missing parts contain.
    void close_waiting(u32 depth) {
        if (!skipped_ && (frames_[depth].needs & HAS_ROWS)) joiner_.close_incomplete(frames_[depth]);
    }

    // Completes what was accepted and, if `decide`, the rows of the document itself: all of them if it is
    // complete.
    void finish_join(bool is_complete, bool decide) {
        if (decide) joiner_.close_document(is_complete);
        results_.complete_accepted();
    }

    // Appends the literals of the substrings in a text that string-values are searched for.
    void find_substrings(const std::string& text, std::vector<u32>& out) const;

    // The length of the longest constant with which string-values are compared.
    std::size_t longest_string() const;
    std::size_t text_limit() const { return tuning_.text_bytes; }

    // Figures

    // How much was done so far, in steps of a few nanoseconds.
    u64 work() const { return work_ + joiner_.work() + frames_.work + automaton_.work(); }

    MatcherStats statistics() const {
        MatcherStats all;
        all.documents = documents_;
        all.elements = frames_.opened;
        all.closes = joiner_.closes;
        all.memo_tries = joiner_.memo_tries;
        all.memo_hits = joiner_.memo_hits;
        all.flushes = flushes_;
        all.rekeys = joiner_.rekeys;
        all.path_nodes = automaton_.path_nodes();
        all.states = automaton_.state_count();
        all.components = automaton_.component_count();
        all.bytes = cache_bytes() + buffer_bytes();
        all.work = work();
        return all;
    }

    // The positions whose rows had their rarest literal satisfied most often; returns how many documents were
    // sampled.
    u64 candidates(std::size_t most, std::vector<Candidate>& out) const {
        const std::size_t before = out.size();
        const u64 sampled = joiner_.rarity().candidates(most, out);
        for (std::size_t i = before; i < out.size(); ++i)
            out[i].position = results_.position_of(out[i].position);
        return sampled;
    }

  private:
    static constexpr u32 MEMO_LITERALS = 256;             // of one value in the memo of values
    static constexpr std::size_t KEPT_BUFFERS = 1 << 20;  // bytes

    // The frame of the open element; null if no pattern looks into it.
    Frame* frame_at(u32 depth) { return skipped_ ? nullptr : &frames_[depth]; }

    // Opens the frame of an element; false if no pattern looks into it.
    bool descend(const char* name, std::size_t length, u64 hash, u32 depth) {
        u32 symbol = NONE;
        if (conformance_.following()) {  // also inside elements that no pattern looks into
            symbol = automaton_.symbol(name, length, hash);
            conformance_.start(symbol, depth, automaton_);
        }
        if (skipped_) {
            ++skipped_;
            return false;
        }
        Frame& above = frames_[depth - 1];
        if (above.needs & NEEDS_TEXT) end_text_node(above);
        if (symbol == NONE) symbol = automaton_.symbol(name, length, hash);
        u32 id = automaton_.child(above.node, symbol);
        if (id == 0) {
            skipped_ = 1;
            return false;
        }
        if (keeper_.is_look_due(memory_steps())) id = check_memory(depth, symbol);
        frames_.open(depth, id, symbol).needs = automaton_[id].flags;
        return true;
    }

    // From here on the text is kept, for the text nodes or the string-value of this element.
    void collect(Frame& frame) {
        if (collecting_++ == 0) text_.begin(place_);
        frame.string_start = text_.here();
        frame.text_start = text_.size();
    }

    void on_attribute(Frame& frame, u32 groups, const char* value) {
        const std::size_t length = std::strlen(value);
        if (length > ValueMemo::LONGEST || !tuning_.memo) {
            predicates_.on_attribute(groups, value, length, frame.predicates);
            return frames_.limit_predicates(frame);
        }
        u32 block = values_.find(groups, value, length);
        if (block == NONE) {
            found_.clear();
            predicates_.on_attribute(groups, value, length, found_);
            if (!found_.ranges.empty() || found_.literals.size() > MEMO_LITERALS) {
                frame.predicates.append(found_);
                return frames_.limit_predicates(frame);
            }
            sort_unique(found_.literals);
            block = automaton_.blocks.intern(found_.literals);
            if (!values_.full()) values_.insert(block);
        }
        if (block) frame.values.push_back(block);
    }

    void begin_text_node(Frame& frame) {
        if (frame.needs & NEEDS_TEXT) frame.text_start = text_.size();
    }

    void end_text_node(Frame& frame) {
        if (text_.size() == frame.text_start) return;
        const char* from = text_.from(frame.text_start);
        const std::size_t length = text_.size() - frame.text_start;
        predicates_.on_text(ON_TEXT, from, length, frame.predicates);
        if (frame.text_nodes++ == 0) {
            predicates_.on_text(ON_FIRST_TEXT, from, length, frame.first);
            frame.first_place = place_;
        }
        frame.text_start = text_.size();
        frames_.limit_predicates(frame);
    }

    // Memory

    std::size_t cache_bytes() const {
        return automaton_.bytes() + values_.bytes() + predicates_.bytes() + joiner_.cache_bytes() +
               results_.cache_bytes();
    }

    std::size_t buffer_bytes() const {
        return text_.bytes() + found_.bytes() + string_.bytes() + frames_.bytes() + conformance_.bytes() +
               joiner_.buffer_bytes() + results_.buffer_bytes();
    }

    u64 memory_steps() const { return automaton_.path_nodes() + frames_.opened; }

    // To be called between two documents.
    void tidy() {
        text_.shrink(KEPT_BUFFERS);
        joiner_.shrink(KEPT_BUFFERS);
        frames_.shrink(KEPT_BUFFERS);
        if (values_.full()) values_.clear();
        bool is_due =
            keeper_.is_renewal_due(cache_bytes(), document_, automaton_) || frames_.has_few_numbers_left();
        if (keeper_.are_names_due(automaton_.symbol_bytes(), document_)) {
            automaton_.clear_names();
            conformance_.clear();
            results_.forget_documents();
            keeper_.forget_documents();
            document_ = 0;
            is_due = true;
        }
        if (is_due) {
            flush();
            keeper_.renewed(cache_bytes());
        }
    }

    void flush() {
        automaton_.renew(keeper_.kept_since(document_), keeper_.kept_bytes());
        joiner_.forget();
        results_.forget_blocks();
        values_.clear();
        frames_.restart_numbers();
        ++flushes_;
    }

    u32 check_memory(u32 depth, u32 symbol);

    const Segment& segment_;
    const Tuning tuning_;
    Automaton automaton_;
    Conformance conformance_;
    PredicateIndex predicates_;
    TextBuffer text_;
    Frames frames_;
    Results results_;
    RowJoiner joiner_;
    PathInterest interest_;
    CacheKeeper keeper_;
    CopyShare copies_;
    ValueMemo values_;
    LiteralSet found_, string_;  // of an attribute; on the string-value of the element that ends
    u64 work_ = 0, place_ = 0, documents_ = 0, flushes_ = 0;
    u32 document_ = 0;                  // the number of the document; begins again when names are forgotten
    u32 skipped_ = 0, collecting_ = 0;  // open elements into which no pattern looks, and whose text is kept
    bool needs_text_ = false;
};

// Renews full caches in the middle of a document: blocks become plain atoms, and the open path is computed
// again.
inline u32 Matcher::check_memory(u32 depth, u32 symbol) {
    keeper_.looked(memory_steps());
    if (!keeper_.is_full(cache_bytes())) return automaton_.child(frames_[depth - 1].node, symbol);
    results_.complete_accepted();
    frames_.spell_all(depth);
    copies_.spell_all(frames_);
    flush();
    u32 node = Automaton::DOCUMENT;
    for (u32 d = 0; d < depth; ++d) {
        if (d) node = automaton_.child(node, frames_[d].symbol);
        frames_[d].node = node;
        frames_.renew(frames_[d]);
    }
    const u32 id = automaton_.child(node, symbol);
    keeper_.looked(memory_steps());
    return id;
}

inline void Matcher::take_joined(u32 depth, PieceLiterals& out) {
    if (skipped_) return;
    Frame& frame = frames_[depth];
    if (depth && !(frame.needs & HAS_ROWS)) return;
    out.atoms = frame.atoms;
    frames_.spell_blocks(frame.blocks, out.atoms);
    work_ += out.atoms.size();
    frames_.sort_atoms(out.atoms);
    out.predicates = frame.predicates;
    frames_.spell_blocks(frame.values, out.predicates.literals);
    out.predicates.normalise();
    out.first = frame.first;
    out.first.normalise();
    out.first_place = frame.text_nodes ? frame.first_place : PieceLiterals::NOWHERE;
    frame.needs = 0;
}

inline void Matcher::inject(u32 depth, const PieceLiterals& literals) {
    if (skipped_) return;
    Frame& frame = frames_[depth];
    frame.atoms.insert(frame.atoms.end(), literals.atoms.begin(), literals.atoms.end());
    frame.most_atoms = std::max(frame.most_atoms, 2 * frame.atoms.size());
    frame.predicates.append(literals.predicates);
    frame.most_predicates = std::max(frame.most_predicates, 2 * frame.predicates.size());
    frame.first = literals.first;
    frame.first_place = literals.first_place;
    frame.text_nodes = literals.first_place != PieceLiterals::NOWHERE;
}

inline void Matcher::close_complete(u32 depth, const std::string& text, const TextSummary* summary,
                                    std::size_t segment) {
    if (skipped_) {
        --skipped_;
        return;
    }
    Frame& frame = frames_[depth];
    string_.clear();
    if ((frame.needs & NEEDS_STRING) && summary) {
        const PredicateGroup& strings = predicates_.on_string();
        const std::string& digits = summary->number;
        // Longer than any constant, if the text is; then only its first bytes count.
        const std::string value = summary->head + (summary->bytes > summary->head.size() ? "\n" : "");
        strings.compare(value.data(), value.size(), summary->characters, string_);
        if (strings.has_numbers()) {
            GrowingNumber number;
            number.append(digits.data(), digits.size(), 0);
            strings.compare_number(number.value(digits.data(), 0), string_);
        }
        const std::vector<u32>& found = summary->found[segment];
        string_.literals.insert(string_.literals.end(), found.begin(), found.end());
    } else if (frame.needs & NEEDS_STRING) {
        text_.begin(0);
        const TextBuffer::Place start = text_.here();
        text_.append(text.data(), text.size());
        work_ += text_.compare(start, string_);
    }
    if (frame.needs & HAS_ROWS) joiner_.close(frame, string_);
}

inline void Matcher::find_substrings(const std::string& text, std::vector<u32>& out) const {
    const SubstringIndex& substrings = predicates_.on_string().substrings();
    if (substrings.empty()) return;
    Occurrences found(substrings);
    found.begin();
    found.scan(text.data(), text.size(), 0);
    found.within(0, out);
    sort_unique(out);
}

inline std::size_t Matcher::longest_string() const {
    std::size_t longest = 0;
    for (u32 p = 0; p < segment_.predicate_count(); ++p)
        if (segment_.predicates[p].kind == ON_STRING)
            longest = std::max<std::size_t>(longest, segment_.predicates[p].text_length);
    return longest;
}

}  // namespace twigcast
