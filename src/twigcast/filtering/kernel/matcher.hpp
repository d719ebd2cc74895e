// Matches documents against one segment: frames, joins, results.
//
// A frame is an open element's set of satisfied atoms, kept as references to shared blocks.  When the element
// ends, the rows alive on its path are joined with that set; the payloads of complete rows go to the frames of
// ancestors, or to the result.  There are three ways to join, each faster than the one before where it applies:
//
//   rows       test every row of the state's components, straight from the file
//   program    rows indexed by their rarest literal; made for states that are used more than a few times
//   memo       (state, set of blocks) -> the payloads; only for rows without value predicates, and for small sets
#pragma once

#include "conformance.hpp"
#include "output.hpp"
#include "partial.hpp"
#include "row_programs.hpp"
#include "text.hpp"
#include "tuning.hpp"

namespace twigcast {

class Matcher {
  public:
    Matcher(const Segment& segment, const Tuning& tuning)
        : segment_(segment), automaton_(segment), conformance_(segment, tuning.cache_bytes / 8),
          predicates_(segment, automaton_.names), text_(predicates_.on_string()), tuning_(tuning) {
        marks_.resize(segment.literals());
        noted_.resize(segment.atoms());
        seen_.assign(segment.literals(), 0);
        frames_.resize(64);
        single_ = segment.header->positions;
        base_ = segment.header->base;
        completed_in_.assign(segment.header->slots - single_, 0);
        needs_text_ = false;
        for (u32 p = 0; p < segment.predicate_count(); ++p)
            needs_text_ = needs_text_ || segment.predicates[p].kind != ON_ATTRIBUTE;
    }
    Matcher(const Matcher&) = delete;

    bool needs_text() const { return needs_text_; }

    // Whether the content of the open element makes no difference.
    bool is_skipping() const { return skipped_ && !conformance_.following(); }

    // `result` has a bit for every position up to the last one of this segment.
    void begin(u64* result) {
        result_ = result;
        tidy();
        ++document_;
        ++stats.documents;
        sampling_ = stats.documents <= 64 || (stats.documents & 15) == 0;
        sampled_ += sampling_;
        samples_left_ = MOST_SAMPLES;
        if (stats.documents == next_rekey_) rekey();
        skipped_ = collecting_ = deepest_ = 0;
        accepted_.clear();
        open(frames_[0], Automaton::DOCUMENT, 0);
        conformance_.begin();
        segment_.for_ends(0, [this](u32 slot) { complete_slot(slot); });
    }

    void start(const char* name, std::size_t length, u64 hash, const char** attributes, u32 depth) {
        if (!descend(name, length, hash, depth)) return;
        Frame& frame = frames_[depth];
        Automaton::Node& node = automaton_[frame.node];
        if (node.visited != document_) {
            node.again = node.visited != 0;
            node.visited = document_;
            const u32* accepts = automaton_.accepts(node);
            for (u32 i = 0; i < node.accept_count; ++i) accept(accepts[i]);
        }
        if (node.push_count && node.given != frames_[node.deepest].instance) {
            node.given = frames_[node.deepest].instance;
            const u32* push = automaton_.pushes(node);
            for (u32 i = 0; i < node.push_count; ++i) give(push[i]);
        }
        if (node.flags & NEEDS_ATTRIBUTES)
            for (; *attributes; attributes += 2)
                if (u32 groups = predicates_.groups_of(attributes[0])) on_attribute(frame, groups, attributes[1]);
        if (node.flags & (NEEDS_TEXT | NEEDS_STRING)) collect(frame);
    }

    void end(u32 depth) {
        if (skipped_) {
            --skipped_;
            if (!skipped_ && (frames_[depth - 1].needs & NEEDS_TEXT)) frames_[depth - 1].text_start = text_.size();
            return;
        }
        Frame& frame = frames_[depth];
        if (frame.needs & HAS_ROWS) close(frame);
        Frame& above = frames_[depth - 1];
        if (above.needs & NEEDS_TEXT) above.text_start = text_.size();
    }

    void text(const char* bytes, std::size_t length) {
        if (collecting_) text_.append(bytes, length);
    }

    // A comment or processing instruction separates the text before it and after it into two nodes.
    void interrupt(u32 depth) {
        if (skipped_ || !(frames_[depth].needs & NEEDS_TEXT)) return;
        end_text_node(frames_[depth]);
        frames_[depth].text_start = text_.size();
    }

    void finish() {
        Frame& document = frames_[0];
        closing_.clear();
        if (segment_.flags[0] & HAS_ROWS) {
            mark(document, true);
            test_rows<true>(0, true), test_rows<true>(0, false);
            unmark();
        }
        for (u32 block : accepted_) complete(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
        conformance_.finish([this](u32 position) { set(position); });
    }

    // pieces.hpp
    void begin_piece(u64* result, u64 place);
    void enter(const char* name, std::size_t length, u64 hash, u32 depth);
    void hole(u32 depth, u64 before, u64 place);
    void take(u32 depth, PieceLiterals& out);
    void take_joined(u32 depth, PieceLiterals& out);
    void take_text(u32 depth, u64 place_end, std::vector<TextItem>& out) const;
    void finish_piece();
    void reopen(const char* name, std::size_t length, u64 hash, u32 depth);
    void inject(u32 depth, const PieceLiterals& literals);
    bool wants_string(u32 depth) const { return !skipped_ && (frames_[depth].needs & NEEDS_STRING); }
    void close_complete(u32 depth, const std::string& text, const TextSummary* summary, std::size_t segment);
    void find_substrings(const std::string& text, std::vector<u32>& out) const;
    std::size_t longest_string() const;
    std::size_t text_limit() const { return tuning_.text_bytes; }
    void close_waiting(u32 depth);
    void finish_join(bool is_complete, bool decide);
    u32 interest(const std::vector<Label>& path, bool below, bool any_space);
    const Conformance& conformance() const { return conformance_; }
    const Segment& segment() const { return segment_; }

    // copies.hpp
    bool sees(const std::vector<Label>& path);
    bool reads_text(const std::vector<Label>& path);
    void begin_copy(u32 depth);
    void end_copy(u32 depth);
    bool has_copy(u32 depth) const;
    void repeat_copy(u32 depth, const std::string& text);

    // How much was done so far, in steps of a few nanoseconds.
    u64 work() const { return work_ + automaton_.work(); }

    MatcherStats statistics() const {
        MatcherStats all = stats;
        all.path_nodes = automaton_.path_nodes();
        all.states = automaton_.state_count();
        all.components = automaton_.component_count();
        all.bytes = cache_bytes() + buffer_bytes();
        all.work = work();
        return all;
    }

    // The positions whose rows had their rarest literal satisfied most often, in the documents sampled.
    u64 candidates(std::size_t most, std::vector<Candidate>& out) const;

  private:
    struct Frame {
        u32 node = 0, symbol = 0, instance = 0, needs = 0, text_nodes = 0;
        TextBuffer::Place string_start;
        std::size_t text_start = 0;
        std::vector<u32> blocks, atoms;  // satisfied atoms: shared blocks of them, and single ones
        std::vector<u32> values;         // satisfied predicates, likewise
        LiteralSet predicates, first;    // those that hold now or for some text; those that hold for the first text
        u64 first_place = 0;
        std::size_t most_atoms = 0, most_predicates = 0;  // when duplicates are next removed

        std::size_t bytes() const {
            return bytes_of(blocks) + bytes_of(atoms) + bytes_of(values) + bytes_of(predicates.literals) + bytes_of(predicates.ranges) +
                   bytes_of(first.literals) + bytes_of(first.ranges);
        }
    };
    // What elements gave to the frame of their parent, to be given to further parents with the same content.
    struct Copy {
        std::vector<u32> blocks, atoms, blocks_before, atoms_before;
        u64 flushes = 0;
        u32 node = NONE;
        bool complete = false;
    };
    static constexpr u32 MOST_INSTANCES = 0xF0000000u;
    static constexpr u32 MEMO_BLOCKS = 32;  // in a set of the memo; with 8, MEDLINE took 6 % longer and NITF 2 % less
    static constexpr u32 ONE_BLOCK = 0x80000000u;
    static constexpr u32 PROGRAM_AFTER = 3;    // uses of a state before its rows are indexed
    static constexpr u32 INTERNED_ATOMS = 64;  // larger results of a join for one origin are not interned as a block
    static constexpr u32 MANY_ALONE = 128;     // rows with one literal, from which on they stand by themselves
    static constexpr u32 MEMO_LITERALS = 256;  // of one value in the memo of values
    static constexpr std::size_t COMPACTION = 512, MOST_SAMPLES = 1 << 16;

    void open(Frame& frame, u32 node, u32 symbol) {
        frame.node = node;
        frame.symbol = symbol;
        frame.instance = ++instance_;
        frame.needs = frame.text_nodes = 0;
        frame.blocks.clear();
        frame.atoms.clear();
        frame.values.clear();
        frame.predicates.clear();
        frame.first.clear();
        frame.most_atoms = 16 * COMPACTION;
        frame.most_predicates = COMPACTION;
        ++stats.elements;
    }

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
        if (depth >= frames_.size()) frames_.resize(frames_.size() * 2);
        deepest_ = std::max(deepest_, depth);
        if (automaton_.path_nodes() + stats.elements > next_check_) id = check_memory(depth, symbol);
        open(frames_[depth], id, symbol);
        frames_[depth].needs = automaton_[id].flags;
        return true;
    }

    // From here on the text is kept, for the text nodes or the string-value of this element.
    void collect(Frame& frame) {
        if (collecting_++ == 0) {
            text_.begin();
            places_.assign(1, TextPlace{0, place_, place_});
        }
        frame.string_start = text_.here();
        frame.text_start = text_.size();
    }

    void on_attribute(Frame& frame, u32 groups, const char* value) {
        std::size_t length = std::strlen(value);
        if (length > ValueMemo::LONGEST || !tuning_.memo) {
            predicates_.on_attribute(groups, value, length, frame.predicates);
            limit(frame);
            return;
        }
        u32 block = values_.find(groups, value, length);
        if (block == NONE) {
            found_.clear();
            predicates_.on_attribute(groups, value, length, found_);
            if (!found_.ranges.empty() || found_.literals.size() > MEMO_LITERALS) {
                frame.predicates.append(found_);
                limit(frame);
                return;
            }
            unique(found_.literals);
            block = automaton_.blocks.intern(found_.literals);
            if (!values_.full()) values_.insert(block);
        }
        if (block) frame.values.push_back(block);
    }

    void end_text_node(Frame& frame) {
        if (text_.size() == frame.text_start) return;
        const char* from = text_.from(frame.text_start);
        std::size_t length = text_.size() - frame.text_start;
        predicates_.on_text(ON_TEXT, from, length, frame.predicates);
        if (frame.text_nodes++ == 0) {
            predicates_.on_text(ON_FIRST_TEXT, from, length, frame.first);
            frame.first_place = place_;
        }
        frame.text_start = text_.size();
        limit(frame);
    }

    // Removes duplicates from the predicates of an element whenever they have doubled.
    void limit(Frame& frame) {
        LiteralSet& set = frame.predicates;
        if (set.literals.size() + set.ranges.size() <= frame.most_predicates) return;
        work_ += set.literals.size() + set.ranges.size();
        unique(set.literals);
        std::sort(set.ranges.begin(), set.ranges.end(), [](LiteralRange a, LiteralRange b) { return a.from < b.from; });
        std::size_t kept = 0;
        for (const LiteralRange& range : set.ranges) {
            if (kept && range.from <= set.ranges[kept - 1].to)
                set.ranges[kept - 1].to = std::max(set.ranges[kept - 1].to, range.to);
            else set.ranges[kept++] = range;
        }
        set.ranges.resize(kept);
        frame.most_predicates = std::max(COMPACTION, 2 * (set.literals.size() + kept));
    }

    void close(Frame& frame) {
        u32 needs = frame.needs;
        closing_.clear();
        if (needs & (NEEDS_TEXT | NEEDS_STRING)) {
            if (needs & NEEDS_TEXT) end_text_node(frame);
            if (needs & NEEDS_STRING) work_ += text_.compare(frame.string_start, closing_);
            --collecting_;
        }
        join_rows(frame);
    }

    // Joins the rows of an element with the literals of its frame and with those in `closing_`.
    void join_rows(Frame& frame) {
        u32 needs = frame.needs;
        bool any = !frame.blocks.empty() || !frame.atoms.empty();
        bool pure = (needs & HAS_PURE) && (any || (needs & ALWAYS_PURE));
        bool predicates = !frame.values.empty() || !frame.predicates.empty() || !frame.first.empty() || !closing_.empty();
        bool valued = (needs & HAS_PREDICATE) && (predicates || (needs & ALWAYS_PREDICATE));
        if (!pure && !valued) return;
        ++stats.closes;
        // Only the memo needs sorted, distinct blocks; marking a block twice is cheaper than looking for duplicates.
        if (frame.blocks.size() > 1 && frame.blocks.size() <= 2 * MEMO_BLOCKS) unique(frame.blocks);
        Automaton::Node& node = automaton_[frame.node];
        if (pure) {
            bool remembered = tuning_.memo && !waiting_ && frame.atoms.empty() && frame.blocks.size() <= MEMO_BLOCKS &&
                              (node.tries < 64 || node.hits * 2 >= node.tries);
            if (remembered) join_remembered(frame, node);
            else join(frame, node, true);
        }
        if (valued) join(frame, node, false);
        if (marked_) unmark();
    }

    void deliver(u32 origins, u32 block) {
        const OriginSets::Set& set = automaton_.origins[origins];
        if (set.depth == RESULT) {
            accept(block);
        } else if (set.rest == 0) {
            const std::vector<u32>& blocks = frames_[set.depth].blocks;
            if (blocks.empty() || blocks.back() != block) add_block(frames_[set.depth], block);
        } else if (automaton_.to_split(origins, block)) {
            split_.assign(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
            for (u32 atom : split_) give(automaton_.origins.grant(origins, automaton_.blocks.intern(&atom, 1)));
            work_ += split_.size();
        } else {
            give(automaton_.origins.grant(origins, block));
        }
    }

    // Gives a block to origins, from the deepest up to the first that has it.
    void give(u32 id) {
        for (; id; ++work_) {
            OriginSets::Grant& grant = automaton_.origins.granted(id);
            Frame& origin = frames_[grant.depth];
            if (grant.given == origin.instance) return;
            grant.given = origin.instance;
            add_block(origin, grant.block);
            id = grant.rest;
        }
    }

    void add_block(Frame& frame, u32 block) {
        frame.blocks.push_back(block);
        if (frame.blocks.size() <= COMPACTION) return;
        unique(frame.blocks);
        if (frame.blocks.size() <= COMPACTION / 2) return;
        for (u32 each : frame.blocks)  // still many distinct blocks: keep their atoms instead
            frame.atoms.insert(frame.atoms.end(), automaton_.blocks[each].begin(), automaton_.blocks[each].end());
        frame.blocks.clear();
        limit_atoms(frame);
    }

    // Removes duplicates whenever the atoms have doubled.
    void limit_atoms(Frame& frame) {
        if (frame.atoms.size() <= frame.most_atoms) return;
        work_ += frame.atoms.size();
        std::size_t kept = 0;
        for (u32 atom : frame.atoms)
            if (noted_.set(atom)) frame.atoms[kept++] = atom;
        frame.atoms.resize(kept);
        for (u32 atom : frame.atoms) noted_.words()[atom >> 6] = 0;
        frame.most_atoms = std::max(16 * COMPACTION, 2 * frame.atoms.size());
    }

    void accept(u32 block) {
        if (block >= accepted_in_.size()) accepted_in_.resize(automaton_.blocks.count() + 64, 0);
        if (accepted_in_[block] == document_) return;
        accepted_in_[block] = document_;
        accepted_.push_back(block);
    }

    void complete(const u32* slot, const u32* end) {
        for (; slot < end; ++slot) complete_slot(*slot);
    }

    void complete_slot(u32 slot) {
        if (slot < single_) return set(base_ + slot);
        if (completed_in_[slot - single_] == document_) return;
        completed_in_[slot - single_] = document_;
        const u32* start = segment_.slot_start + (slot - single_);
        for (u32 i = start[0]; i < start[1]; ++i) set(segment_.positions[i]);
    }

    void set(u32 position) { result_[position >> 6] |= 1ull << (position & 63); }

    // joins.hpp
    void join_remembered(Frame& frame, Automaton::Node& node);
    void join(Frame& frame, Automaton::Node& node, bool pure);
    void mark(Frame& frame, bool with_predicates);
    void mark_predicates(Frame& frame);
    void mark_blocks(const std::vector<u32>& blocks);
    void mark_literals(const LiteralSet& set);
    void mark_word(u32 word, u64 mask);
    void unmark();
    void sample(std::size_t from);
    WordSpan words_of(u32 block);
    bool holds(u32 literal) const;
    template <bool TO_RESULT>
    void run(u32 id, bool pure, Receiver receiver);
    template <bool TO_RESULT>
    void run_alone(u32* program, Receiver receiver);
    template <bool TO_RESULT>
    void test_word(const u32* program, u32 number, u64 marked);
    template <bool TO_RESULT>
    void test_key(const u32* program, const u32* keys);
    template <bool TO_RESULT>
    u32 test_row(const u32* rows, u32 at);
    template <bool TO_RESULT>
    void complete_row(u32 payload);
    template <bool TO_RESULT>
    void test_rows(u32 node, bool pure);
    void make_programs(u32 id);
    struct Keyed {
        u32 key, at;  // the rarest positive literal of a row, or NONE if it has none; its offset in the file
    };
    void append_program(const std::vector<Keyed>& sorted);
    static void append_row(std::vector<u32>& rows, u32 payload, const std::vector<u32>& literals);
    bool rarer(u32 a, u32 b) const;
    int expected_rarity(u32 literal) const;
    void rekey();

    // caches.hpp
    std::size_t cache_bytes() const;
    std::size_t buffer_bytes() const;
    void tidy();
    void shrink_buffers();
    void flush();
    u32 check_memory(u32 depth, u32 symbol);

    static void unique(std::vector<u32>& items) {
        std::sort(items.begin(), items.end());
        items.erase(std::unique(items.begin(), items.end()), items.end());
    }

    static constexpr std::size_t CHECK_EVERY = 1024;       // elements and path nodes between looks at the memory
    static constexpr std::size_t KEPT_BUFFERS = 1 << 20;   // bytes
    static constexpr std::size_t SMALL_CACHE = 32u << 20;  // of which nothing is evicted unless it must be
    static constexpr u32 GENERATION = 64, LONG_AGO = 1024;  // documents

    const Segment& segment_;
    Automaton automaton_;
    Conformance conformance_;
    PredicateIndex predicates_;
    TextBuffer text_;
    Tuning tuning_;
    std::size_t next_check_ = CHECK_EVERY, bytes_before_ = 0, grown_ = 0;
    std::vector<Frame> frames_;
    ListPool sets_;
    FlatMap memo_;
    ValueMemo values_;
    std::vector<u32> code_;  // the programs
    u32 program_at_ = 0;     // where the last one begins
    std::vector<Keyed> keyed_[2];   // while programs are made
    std::vector<u32> parts_[9];
    Bits marks_, noted_;  // noted_: while duplicates are removed
    std::vector<u32> touched_, accepted_, accepted_in_, completed_in_, seen_, split_;
    struct TextPlace {
        std::size_t at;   // in the text
        u64 place, from;  // in the document: of the bytes from there on; where the bytes before the hole end
    };
    std::vector<TextPlace> places_;
    LiteralSet found_, closing_;  // closing_: the predicates on the string-value of the element that ends
    Output emitted_;
    Copy copy_;
    std::vector<MarkWord> block_words_;  // of blocks that were marked, as words
    std::vector<WordSpan> words_of_;     // by block
    u64* result_ = nullptr;
    u64 next_rekey_ = 16, sampled_ = 0, samples_left_ = 0, work_ = 0, place_ = 0;
    u32 document_ = 0, instance_ = 0, skipped_ = 0, collecting_ = 0, base_ = 0, single_ = 0, deepest_ = 0, swept_ = 0;
    bool marked_ = false, needs_text_ = false, sampling_ = true;
    bool waiting_ = false;  // rows with negative literals are not decided yet

  public:
    MatcherStats stats;
};

}  // namespace twigcast

#include "caches.hpp"
#include "copies.hpp"
#include "joins.hpp"
#include "pieces.hpp"
