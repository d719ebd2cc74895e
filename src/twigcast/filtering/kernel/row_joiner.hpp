// Joins: when an element ends, the rows alive on its path are joined with the literals of its frame; the
// payloads of complete rows go to the frames of ancestors, or to the results.
//
// Each way to join is faster than the one before where it applies: rows, program (row_programs.hpp), and
//
//   memo       (state, set of blocks) -> the payloads; for small sets, and rows without value predicates
#pragma once

#include <vector>

#include "automaton.hpp"
#include "flat.hpp"
#include "frames.hpp"
#include "literals.hpp"
#include "marks.hpp"
#include "output.hpp"
#include "rarity.hpp"
#include "results.hpp"
#include "row_programs.hpp"
#include "tuning.hpp"

namespace twigcast {

class RowJoiner {
  public:
    RowJoiner(const Segment& segment, Automaton& automaton, Frames& frames, Results& results,
              const Tuning& tuning)
        : segment_(segment), automaton_(automaton), frames_(frames), results_(results),
          wants_memo_(tuning.memo), rarity_(segment), marks_(automaton.blocks, segment.literals()),
          programs_(segment, automaton, marks_, rarity_, tuning.programs) {}

    // `number` counts all documents of the matcher from 1; `document` is the number that path nodes are
    // visited with.
    void begin(u64 number, u32 document) {
        document_ = document;
        rarity_.begin(number);
        if (number != next_rekey_) return;
        next_rekey_ *= 8;
        programs_.forget();
        ++rekeys;
    }

    // Joins the rows of an element with the literals of its frame, and with those of its string-value.
    void close(Frame& frame, const LiteralSet& string) {
        const u32 needs = frame.needs;
        const bool pure = (needs & HAS_PURE) && (frame.has_atoms() || (needs & ALWAYS_PURE));
        const bool predicates = frame.has_predicates() || !string.empty();
        const bool valued = (needs & HAS_PREDICATE) && (predicates || (needs & ALWAYS_PREDICATE));
        if (!pure && !valued) return;
        ++closes;
        // Only the memo needs sorted, distinct blocks; marking a block twice is cheaper than looking for
        // duplicates.
        if (frame.blocks.size() > 1 && frame.blocks.size() <= 2 * MEMO_BLOCKS) sort_unique(frame.blocks);
        Automaton::Node& node = automaton_[frame.node];
        if (pure) {
            const bool remembered = wants_memo_ && !marks_.is_incomplete && frame.atoms.empty() &&
                                    frame.blocks.size() <= MEMO_BLOCKS &&
                                    (node.tries < 64 || node.hits * 2 >= node.tries);
            if (remembered) join_remembered(frame, node);
            else join(frame, node, string, true);
        }
        if (valued) join(frame, node, string, false);
        if (marks_.are_set()) work_ += marks_.clear();
    }

    // Completes the rows that hold whatever the missing parts of the document contain.
    void close_incomplete(Frame& frame) {
        LiteralSet first;  // another part may have an earlier text
        std::swap(first, frame.first);
        marks_.is_incomplete = true;
        close(frame, LiteralSet());
        marks_.is_incomplete = false;
        std::swap(first, frame.first);
    }

    // Tests the rows of the document itself; of an incomplete one, those that hold in any case.
    void close_document(bool is_complete) {
        if (!(segment_.flags[0] & HAS_ROWS)) return;
        marks_.is_incomplete = !is_complete;
        mark(frames_[0]);
        mark_predicates(frames_[0], LiteralSet());
        for (const bool pure : {true, false}) programs_.test_rows(0, pure, results_);
        work_ += marks_.clear();
        marks_.is_incomplete = false;
    }

    // Gives a block to origins, from the deepest up to the first that has it.
    void give(u32 id) {
        for (; id; ++work_) {
            OriginSets::Grant& grant = automaton_.origins.granted(id);
            Frame& origin = frames_[grant.depth];
            if (grant.given == origin.instance) return;
            grant.given = origin.instance;
            frames_.add_block(origin, grant.block);
            id = grant.rest;
        }
    }

    const Rarity& rarity() const { return rarity_; }

    // Forgets all that depends on states and blocks.
    void forget() {
        sets_.clear();
        memo_.clear();
        programs_.clear();
        marks_.forget_blocks();
    }

    void shrink(std::size_t most_bytes) { emitted_.shrink(most_bytes); }

    std::size_t cache_bytes() const {
        return sets_.bytes() + memo_.bytes() + programs_.bytes() + marks_.cache_bytes();
    }
    std::size_t buffer_bytes() const { return emitted_.bytes() + marks_.buffer_bytes() + bytes_of(split_); }
    u64 work() const { return work_ + programs_.work; }

    u64 closes = 0, memo_tries = 0, memo_hits = 0, rekeys = 0;

  private:
    static constexpr u32 MEMO_BLOCKS =
        32;  // in a set of the memo; with 8, MEDLINE took 6 % longer and NITF 2 % less
    static constexpr u32 ONE_BLOCK = 0x80000000u;
    static constexpr u32 INTERNED_ATOMS =
        64;  // larger results of a join for one origin are not interned as a block

    void join_remembered(Frame& frame, Automaton::Node& node) {
        // A set of one block, the most frequent kind, needs no interning: the number of the block identifies
        // it.
        const u32 set = frame.blocks.size() == 1 ? ONE_BLOCK | frame.blocks[0] : sets_.intern(frame.blocks);
        for (u32 i = 0; i < node.join_count; ++i) {
            const Automaton::Context context = automaton_.joins(node)[i];
            if (!(automaton_.state(context.state).flags & HAS_PURE)) continue;
            const u64 key = u64(context.state) << 32 | set;
            u32 block = memo_.find(key);
            ++node.tries, ++memo_tries, ++work_;
            if (block == NONE) {
                if (!marks_.are_set()) mark(frame);
                emitted_.clear();
                programs_.run(context.state, true, Receiver{}, emitted_);
                block = automaton_.blocks.intern(emitted_.begin(), static_cast<u32>(emitted_.size()));
                memo_.insert(key, block);
            } else {
                ++node.hits, ++memo_hits;
            }
            if (block) deliver(context.origins, block);
        }
    }

    void join(Frame& frame, Automaton::Node& node, const LiteralSet& string, bool pure) {
        if (!marks_.are_set()) mark(frame);
        if (!pure) mark_predicates(frame, string);
        for (u32 i = 0; i < node.join_count; ++i) {
            const Automaton::Context context = automaton_.joins(node)[i];
            if (!(automaton_.state(context.state).flags & (pure ? HAS_PURE : HAS_PREDICATE))) continue;
            const OriginSets::Set origins = automaton_.origins[context.origins];
            if (origins.depth == RESULT) {
                programs_.run(context.state, pure, Receiver{context.origins, document_}, results_);
                continue;
            }
            Frame& origin = frames_[origins.depth];
            emitted_.clear();
            programs_.run(context.state, pure, Receiver{context.origins, origin.instance}, emitted_);
            if (emitted_.empty()) continue;
            work_ += emitted_.size();
            if (emitted_.size() <= INTERNED_ATOMS || origins.rest) {
                // The atoms are not sorted, because a program nearly always finds the same atoms in the same
                // order.
                deliver(context.origins,
                        automaton_.blocks.intern(emitted_.begin(), static_cast<u32>(emitted_.size())));
            } else {
                frames_.add_atoms(origin, emitted_.begin(), emitted_.end());
            }
        }
    }

    void deliver(u32 origins, u32 block) {
        const OriginSets::Set& set = automaton_.origins[origins];
        if (set.depth == RESULT) {
            results_.accept(block);
        } else if (set.rest == 0) {
            Frame& origin = frames_[set.depth];
            if (origin.blocks.empty() || origin.blocks.back() != block) frames_.add_block(origin, block);
        } else if (automaton_.to_split(origins, block)) {
            split_.assign(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
            for (u32 atom : split_)
                give(automaton_.origins.grant(origins, automaton_.blocks.intern(&atom, 1)));
            work_ += split_.size();
        } else {
            give(automaton_.origins.grant(origins, block));
        }
    }

    void mark(const Frame& frame) {
        marks_.begin();
        marks_.set_blocks(frame.blocks);
        marks_.set_all(frame.atoms);
        if (rarity_.is_sampling()) sample(0);
    }

    void mark_predicates(const Frame& frame, const LiteralSet& string) {
        const std::size_t before = marks_.touched().size();
        marks_.set_blocks(frame.values);
        marks_.set_all(frame.predicates);
        marks_.set_all(frame.first);
        marks_.set_all(string);
        if (rarity_.is_sampling()) sample(before);
    }

    void sample(std::size_t from) {
        for (const std::vector<u32>& touched = marks_.touched(); from < touched.size(); ++from)
            rarity_.count(touched[from], marks_.words()[touched[from]]);
    }

    const Segment& segment_;
    Automaton& automaton_;
    Frames& frames_;
    Results& results_;
    const bool wants_memo_;
    Rarity rarity_;
    Marks marks_;
    RowPrograms programs_;
    ListPool sets_;
    FlatMap memo_;
    Output emitted_;
    std::vector<u32> split_;
    u64 work_ = 0, next_rekey_ = 16;
    u32 document_ = 0;
};

}  // namespace twigcast
