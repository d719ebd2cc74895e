// The literals that hold at the element that is closed, as bits.
//
// Invariant: between two closes all bits are zero; `touched` lists the words that are not.  Blocks of
// literals are kept as words of the bit set, which are computed when a block is first marked.
#pragma once

#include <algorithm>
#include <vector>

#include "flat.hpp"
#include "literals.hpp"
#include "segment.hpp"

namespace twigcast {

class Marks {
  public:
    Marks(const ListPool& blocks, std::size_t literals) : blocks_(blocks) { marks_.resize(literals); }

    bool are_set() const { return is_set_; }
    const u64* words() { return marks_.words().data(); }
    const std::vector<u32>& touched() const { return touched_; }

    void begin() {
        is_set_ = true;
        touched_.clear();
    }

    void set(u32 literal) { set_word(literal >> 6, 1ull << (literal & 63)); }

    void set_all(const std::vector<u32>& literals) {
        for (u32 literal : literals) set(literal);
    }

    void set_all(const LiteralSet& set) {
        set_all(set.literals);
        for (LiteralRange range : set.ranges)
            for (u32 from = range.from; from < range.to;) {
                const u32 to = std::min(range.to, (from | 63) + 1);
                set_word(from >> 6, ~0ull >> (64 - (to - from)) << (from & 63));
                from = to;
            }
    }

    void set_blocks(const std::vector<u32>& blocks) {
        for (u32 block : blocks) {
            const Range range = words_of(block);
            for (u32 i = range.from; i < range.to; ++i) set_word(block_words_[i].word, block_words_[i].mask);
        }
    }

    // Returns how many words were set.
    std::size_t clear() {
        for (u32 word : touched_) marks_.words()[word] = 0;
        is_set_ = false;
        return touched_.size();
    }

    // Whether a literal of a row holds; none that is negative, while it is not known what else there is.
    bool holds(u32 literal) const {
        if (literal & NEGATIVE) return !is_incomplete && !marks_.test(literal & LITERAL);
        return marks_.test(literal & LITERAL);
    }

    void forget_blocks() { release(block_words_), release(words_of_); }
    std::size_t cache_bytes() const { return bytes_of(block_words_) + bytes_of(words_of_); }
    std::size_t buffer_bytes() const { return bytes_of(touched_); }

    bool is_incomplete = false;  // other parts of the document may have more literals for the element

  private:
    struct Word {
        u32 word;
        u64 mask;
    };
    struct Range {
        u32 from, to;
    };

    void set_word(u32 word, u64 mask) {
        u64& marks = marks_.words()[word];
        if (!marks) touched_.push_back(word);
        marks |= mask;
    }

    Range words_of(u32 block) {
        if (block >= words_of_.size()) words_of_.resize(blocks_.count() + 64, Range{0, 0});
        Range& range = words_of_[block];
        if (range.to == 0 && block) {
            const Span literals = blocks_[block];
            std::vector<u32> sorted(literals.begin(), literals.end());
            std::sort(sorted.begin(), sorted.end());
            range.from = static_cast<u32>(block_words_.size());
            for (u32 literal : sorted) {
                if (block_words_.size() == range.from || block_words_.back().word != literal >> 6)
                    block_words_.push_back(Word{literal >> 6, 0});
                block_words_.back().mask |= 1ull << (literal & 63);
            }
            range.to = static_cast<u32>(block_words_.size());
        }
        return range;
    }

    const ListPool& blocks_;
    Bits marks_;
    std::vector<u32> touched_;
    std::vector<Word> block_words_;
    std::vector<Range> words_of_;  // by block
    bool is_set_ = false;
};

}  // namespace twigcast
