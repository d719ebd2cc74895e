// Matching a document in parts; methods of the class Matcher.
//
// A piece begins inside elements that another part has opened: `enter` opens their frames and nothing else, since what
// their start tags complete is known there.  The frame of an element that is not finished here is not closed: `take`
// takes its literals out, for the entry of the element in a partial.  Later, `reopen` and `inject` bring them back, and
// the element is closed like any other.
#pragma once

#include "matcher.hpp"

namespace twigcast {

// `place` is where the piece stands in the document.
inline void Matcher::begin_piece(u64* result, u64 place) {
    begin(result);
    place_ = place;
}

inline void Matcher::enter(const char* name, std::size_t length, u64 hash, u32 depth) {
    if (!descend(name, length, hash, depth)) return;
    if (frames_[depth].needs & (NEEDS_TEXT | NEEDS_STRING)) collect(frames_[depth]);
}

// Another part belongs here, inside the open element of this depth: the document goes to `before`, and on at `place`.
inline void Matcher::hole(u32 depth, u64 before, u64 place) {
    interrupt(depth);
    place_ = place;
    places_.push_back(TextPlace{text_.size(), place, before});
}

// Takes the literals out of the frame of the deepest open element, which `end` then does not close.
inline void Matcher::take(u32 depth, PieceLiterals& out) {
    if (skipped_) return;
    Frame& frame = frames_[depth];
    if (frame.needs & NEEDS_TEXT) end_text_node(frame);
    if (frame.needs & (NEEDS_TEXT | NEEDS_STRING)) --collecting_;
    take_joined(depth, out);
}

// Does the same without the text.
inline void Matcher::take_joined(u32 depth, PieceLiterals& out) {
    if (skipped_) return;
    Frame& frame = frames_[depth];
    if (depth && !(frame.needs & HAS_ROWS)) return;
    out.atoms.assign(frame.atoms.begin(), frame.atoms.end());
    for (u32 block : frame.blocks)
        out.atoms.insert(out.atoms.end(), automaton_.blocks[block].begin(), automaton_.blocks[block].end());
    work_ += out.atoms.size();
    if (out.atoms.size() > noted_.words().size()) {  // many: by bits rather than by sorting
        for (u32 atom : out.atoms) noted_.set(atom);
        out.atoms.clear();
        for (std::size_t w = 0; w < noted_.words().size(); ++w) {
            for (u64 word = noted_.words()[w]; word; word &= word - 1)
                out.atoms.push_back(static_cast<u32>(w * 64 + static_cast<u32>(__builtin_ctzll(word))));
            noted_.words()[w] = 0;
        }
    } else {
        sort_unique(out.atoms);
    }
    out.predicates = frame.predicates;
    for (u32 block : frame.values)
        out.predicates.literals.insert(out.predicates.literals.end(), automaton_.blocks[block].begin(),
                                       automaton_.blocks[block].end());
    normalise(out.predicates);
    out.first = frame.first;
    normalise(out.first);
    out.first_place = frame.text_nodes ? frame.first_place : PieceLiterals::NOWHERE;
    frame.needs = 0;
}

// Appends the text of the deepest open element, in items between holes; to be called before `take`.
inline void Matcher::take_text(u32 depth, u64 place_end, std::vector<TextItem>& out) const {
    if (!wants_string(depth)) return;
    std::size_t from = frames_[depth].string_start.at;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        std::size_t begin = std::max(from, places_[i].at), end = i + 1 < places_.size() ? places_[i + 1].at : text_.size();
        if (begin >= end) continue;
        TextItem item;
        item.place = places_[i].place;
        item.end = i + 1 < places_.size() ? places_[i + 1].from : place_end;
        item.text.assign(text_.from(begin), end - begin);
        out.push_back(std::move(item));
    }
}

// To be called at the end of a piece, after the literals of all open frames were taken.
inline void Matcher::finish_piece() {
    for (u32 block : accepted_) complete(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
    place_ = 0;
}

// How much an element with this label path, or with `below` anything in it, can contribute: 0 if it makes no difference.
// With `any_space`, the last label is a local name in an unknown namespace.
inline u32 Matcher::interest(const std::vector<Label>& path, bool below, bool any_space) {
    if (segment_.schema_count()) return 1;
    u32 node = Automaton::DOCUMENT;
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (automaton_[node].flags & (NEEDS_TEXT | NEEDS_STRING)) return 1;
        const Label& label = path[i];
        const bool is_last = i + 1 == path.size();
        u32 symbol = is_last && any_space ? automaton_.local_symbol(label.name, label.length)
                                          : automaton_.symbol(label.name, label.length, label.hash);
        node = automaton_.child(node, symbol);
        if (node == 0) return 0;
    }
    const Automaton::Node& last = automaton_[node];
    u32 found = last.push_count + ((last.flags & HAS_ROWS) ? 1 : 0) + (below ? 1 : 0);
    for (u32 i = 0; i < last.accept_count; ++i) found += automaton_.blocks[automaton_.accepts(last)[i]].size;
    return found;
}

// Joining.  The elements of entries are reopened, each after its parent, and closed, each before its parent.

inline void Matcher::reopen(const char* name, std::size_t length, u64 hash, u32 depth) {
    if (descend(name, length, hash, depth)) frames_[depth].needs &= ~NEEDS_TEXT;  // the text was read in the pieces
}

inline void Matcher::inject(u32 depth, const PieceLiterals& literals) {
    if (skipped_) return;
    Frame& frame = frames_[depth];
    frame.atoms.insert(frame.atoms.end(), literals.atoms.begin(), literals.atoms.end());
    frame.most_atoms = std::max(frame.most_atoms, 2 * frame.atoms.size());
    frame.predicates.append(literals.predicates);
    frame.most_predicates = std::max(frame.most_predicates, 2 * (frame.predicates.literals.size() + frame.predicates.ranges.size()));
    frame.first = literals.first;
    frame.first_place = literals.first_place;
    frame.text_nodes = literals.first_place != PieceLiterals::NOWHERE;
}


// Closes the deepest open element; `text` is its string-value, if that is wanted and not summarised.
inline void Matcher::close_complete(u32 depth, const std::string& text, const TextSummary* summary, std::size_t segment) {
    if (skipped_) {
        --skipped_;
        return;
    }
    Frame& frame = frames_[depth];
    closing_.clear();
    if ((frame.needs & NEEDS_STRING) && summary) {
        const PredicateGroup& strings = predicates_.on_string();
        const std::string& digits = summary->number;
        // Longer than any constant, if the text is; then only its first bytes count.
        const std::string value = summary->head + (summary->bytes > summary->head.size() ? "\n" : "");
        strings.compare(value.data(), value.size(), summary->characters, closing_);
        if (strings.has_numbers()) {
            GrowingNumber number;
            number.append(digits.data(), digits.size(), 0);
            strings.compare_number(number.value(digits.data(), 0), closing_);
        }
        const std::vector<u32>& found = summary->found[segment];
        closing_.literals.insert(closing_.literals.end(), found.begin(), found.end());
    } else if (frame.needs & NEEDS_STRING) {
        text_.begin();
        TextBuffer::Place start = text_.here();
        text_.append(text.data(), text.size());
        work_ += text_.compare(start, closing_);
    }
    if (frame.needs & HAS_ROWS) join_rows(frame);
}

// Appends the literals of the substrings in a text that string-values are searched for.
inline void Matcher::find_substrings(const std::string& text, std::vector<u32>& out) const {
    const SubstringIndex& substrings = predicates_.on_string().substrings();
    if (substrings.empty()) return;
    Occurrences found(substrings);
    found.begin();
    found.scan(text.data(), text.size(), 0);
    found.within(0, out);
    sort_unique(out);
}

// The length of the longest constant with which string-values are compared.
inline std::size_t Matcher::longest_string() const {
    std::size_t longest = 0;
    for (u32 p = 0; p < segment_.predicate_count(); ++p)
        if (segment_.predicates[p].kind == ON_STRING)
            longest = std::max<std::size_t>(longest, segment_.predicates[p].text_length);
    return longest;
}

// Completes the rows of the deepest open element that hold whatever the missing parts contain.
inline void Matcher::close_waiting(u32 depth) {
    if (skipped_) return;
    Frame& frame = frames_[depth];
    LiteralSet first;
    first.literals.swap(frame.first.literals), first.ranges.swap(frame.first.ranges);
    closing_.clear();
    waiting_ = true;
    if (frame.needs & HAS_ROWS) join_rows(frame);
    waiting_ = false;
    first.literals.swap(frame.first.literals), first.ranges.swap(frame.first.ranges);
}

// Completes what was accepted and, if `decide`, the rows of the document itself: all of them if it is complete.
inline void Matcher::finish_join(bool is_complete, bool decide) {
    waiting_ = !is_complete;
    closing_.clear();
    if (decide && (segment_.flags[0] & HAS_ROWS)) {
        mark(frames_[0], true);
        test_rows<true>(0, true), test_rows<true>(0, false);
        unmark();
    }
    waiting_ = false;
    for (u32 block : accepted_) complete(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
}

}  // namespace twigcast
