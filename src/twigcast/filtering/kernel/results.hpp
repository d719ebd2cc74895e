// The positions that a document matches, as bits: rows that are complete set them, by slot or by block of
// slots.
//
// A slot below `single_` is a position; any other stands for several.  Blocks are collected, and completed at
// the end of the document, each once.
#pragma once

#include <vector>

#include "flat.hpp"
#include "segment.hpp"

namespace twigcast {

class Results {
  public:
    Results(const Segment& segment, const ListPool& blocks)
        : segment_(segment), blocks_(blocks), single_(segment.header->positions), base_(segment.header->base),
          completed_in_(segment.header->slots - single_, 0) {}

    // `bits` has a bit for every position up to the last one of the segment; `document` is a number, not 0.
    void begin(u64* bits, u32 document) {
        bits_ = bits;
        document_ = document;
        accepted_.clear();
    }

    void accept(u32 block) {
        if (block >= accepted_in_.size()) accepted_in_.resize(blocks_.count() + 64, 0);
        if (accepted_in_[block] == document_) return;
        accepted_in_[block] = document_;
        accepted_.push_back(block);
    }

    // Completes what was accepted; afterwards the blocks can be forgotten.
    void complete_accepted() {
        for (u32 block : accepted_)
            for (u32 slot : blocks_[block]) complete(slot);
        accepted_.clear();
    }

    void complete(u32 slot) {
        if (slot < single_) return set(base_ + slot);
        if (completed_in_[slot - single_] == document_) return;
        completed_in_[slot - single_] = document_;
        const u32* start = segment_.slot_start + (slot - single_);
        for (u32 i = start[0]; i < start[1]; ++i) set(segment_.positions[i]);
    }

    // Pairs of a literal and a slot: completes the slots whose literals are marked.  Whether one is, is
    // unpredictable, so the code does not branch on it.
    void complete_pairs(const u32* pair, const u32* end, const u64* marks) {
        for (; pair < end; pair += 2) {
            const u64 holds = marks[pair[0] >> 6] >> (pair[0] & 63) & 1;
            const u32 slot = pair[1], position = base_ + slot;
            if (slot < single_) bits_[position >> 6] |= holds << (position & 63);
            else if (holds) complete(slot);
        }
    }

    void set(u32 position) { bits_[position >> 6] |= 1ull << (position & 63); }

    // A position of a slot.
    u32 position_of(u32 slot) const {
        return slot < single_ ? base_ + slot : segment_.positions[segment_.slot_start[slot - single_]];
    }

    void forget_blocks() { release(accepted_in_); }
    void forget_documents() { completed_in_.assign(completed_in_.size(), 0); }

    std::size_t cache_bytes() const { return bytes_of(accepted_in_); }
    std::size_t buffer_bytes() const { return bytes_of(accepted_); }

  private:
    const Segment& segment_;
    const ListPool& blocks_;
    const u32 single_, base_;
    u64* bits_ = nullptr;
    u32 document_ = 0;
    std::vector<u32> accepted_, accepted_in_;  // blocks; by block, the last document that has it
    std::vector<u32> completed_in_;            // likewise by slot
};

}  // namespace twigcast
