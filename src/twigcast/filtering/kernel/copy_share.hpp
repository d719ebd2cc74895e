// What elements gave to the frame of their parent, to be given to further parents with the same content.
//
// A mapping can put copies of some elements into each of several parents of one place.  Their label paths are
// the same, so are the rows that they complete: ancestors of the parents have what the first copy gave them,
// and further parents are given the same blocks.  Only string-values that contain a copy need its text again.
//
// Invariant: what was noted is used only in the generation of the caches in which it was noted.
#pragma once

#include <vector>

#include "flat.hpp"
#include "frames.hpp"

namespace twigcast {

class CopyShare {
  public:
    // From now on, note what is given to the frame of the open element; null if no pattern looks into the
    // element.
    void begin(Frame* frame, Frames& frames, u64 generation) {
        is_complete_ = false;
        generation_ = generation;
        if (!frame) return;
        frames.renew(*frame);
        node_ = frame->node;
        blocks_before_.clear(), blocks_before_.swap(frame->blocks);
        atoms_before_.clear(), atoms_before_.swap(frame->atoms);
    }

    void end(Frame* frame, u64 generation) {
        is_complete_ = generation_ == generation;
        if (!frame) {
            node_ = NONE;
            return;
        }
        blocks_ = frame->blocks;
        atoms_ = frame->atoms;
        frame->blocks.insert(frame->blocks.end(), blocks_before_.begin(), blocks_before_.end());
        frame->atoms.insert(frame->atoms.end(), atoms_before_.begin(), atoms_before_.end());
        blocks_before_.clear();
        atoms_before_.clear();
    }

    // Whether `repeat` does what the elements between `begin` and `end` did.
    bool fits(const Frame* frame, u64 generation) const {
        return is_complete_ && generation_ == generation && (frame ? frame->node : NONE) == node_;
    }

    // Gives a frame what was noted; returns how much that was.
    std::size_t repeat(Frame& frame, Frames& frames) const {
        for (u32 block : blocks_) frames.add_block(frame, block);
        frames.add_atoms(frame, atoms_.data(), atoms_.data() + atoms_.size());
        return blocks_.size() + atoms_.size();
    }

    // Makes what is set aside independent of blocks, which are to be forgotten.
    void spell_all(const Frames& frames) { frames.spell_blocks(blocks_before_, atoms_before_); }

  private:
    std::vector<u32> blocks_, atoms_;
    std::vector<u32> blocks_before_, atoms_before_;  // of the frame, while elements are copied
    u64 generation_ = 0;
    u32 node_ = NONE;
    bool is_complete_ = false;
};

}  // namespace twigcast
