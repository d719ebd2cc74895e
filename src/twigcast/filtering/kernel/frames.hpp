// The frames of the open elements: what of their branches holds so far.
//
//   atoms        satisfied atoms, kept as references to shared blocks of them, and single ones
//   values       blocks of satisfied predicates; predicates: those that hold now or for some text
//
// Invariant: a set in a frame is at most twice as large as it was without duplicates, or small.  Every frame
// that is opened has a new instance number, so that a grant can note to which element it was given last.
#pragma once

#include <algorithm>
#include <vector>

#include "flat.hpp"
#include "literals.hpp"
#include "text.hpp"

namespace twigcast {

struct Frame {
    u32 node = 0, symbol = 0, instance = 0, needs = 0, text_nodes = 0;
    TextBuffer::Place string_start;
    std::size_t text_start = 0;
    std::vector<u32> blocks, atoms;
    std::vector<u32> values;
    LiteralSet predicates, first;  // `first`: those that hold for the first text
    u64 first_place = 0;
    std::size_t most_atoms = 0, most_predicates = 0;  // when duplicates are next removed

    bool has_atoms() const { return !blocks.empty() || !atoms.empty(); }
    bool has_predicates() const { return !values.empty() || !predicates.empty() || !first.empty(); }

    std::size_t bytes() const {
        return bytes_of(blocks) + bytes_of(atoms) + bytes_of(values) + predicates.bytes() + first.bytes();
    }
};

class Frames {
  public:
    // `blocks` are the sets that frames refer to; `atoms` is how many atoms there are.
    Frames(const ListPool& blocks, std::size_t atoms) : blocks_(blocks) {
        noted_.resize(atoms);
        frames_.resize(FEW_FRAMES);
    }

    // By depth; 0 is the document.
    Frame& operator[](u32 depth) { return frames_[depth]; }
    const Frame& operator[](u32 depth) const { return frames_[depth]; }

    Frame& open(u32 depth, u32 node, u32 symbol) {
        if (depth >= frames_.size()) frames_.resize(frames_.size() * 2);
        deepest_ = std::max(deepest_, depth);
        Frame& frame = frames_[depth];
        frame.node = node;
        frame.symbol = symbol;
        frame.needs = frame.text_nodes = 0;
        frame.blocks.clear();
        frame.atoms.clear();
        frame.values.clear();
        frame.predicates.clear();
        frame.first.clear();
        frame.most_atoms = MANY_ATOMS;
        frame.most_predicates = COMPACTION;
        renew(frame);
        ++opened;
        return frame;
    }

    // Gives the frame a new number: nothing is left out any more because the frame was given it.
    void renew(Frame& frame) { frame.instance = ++instance_; }

    void add_block(Frame& frame, u32 block) {
        frame.blocks.push_back(block);
        if (frame.blocks.size() <= COMPACTION) return;
        sort_unique(frame.blocks);
        if (frame.blocks.size() <= COMPACTION / 2) return;
        spell_blocks(frame.blocks, frame.atoms);  // still many distinct blocks: keep their atoms instead
        limit_atoms(frame);
    }

    void add_atoms(Frame& frame, const u32* from, const u32* to) {
        frame.atoms.insert(frame.atoms.end(), from, to);
        limit_atoms(frame);
    }

    void limit_predicates(Frame& frame) {
        if (frame.predicates.size() <= frame.most_predicates) return;
        work += frame.predicates.size();
        frame.predicates.compact();
        frame.most_predicates = std::max(COMPACTION, 2 * frame.predicates.size());
    }

    // Moves what the blocks have to a list; the blocks are gone then.
    void spell_blocks(std::vector<u32>& blocks, std::vector<u32>& to) const {
        for (u32 block : blocks) to.insert(to.end(), blocks_[block].begin(), blocks_[block].end());
        blocks.clear();
    }

    // Makes the frames above this depth independent of blocks, which are to be forgotten.
    void spell_all(u32 depth) {
        for (u32 d = 0; d < depth; ++d) {
            spell_blocks(frames_[d].blocks, frames_[d].atoms);
            sort_unique(frames_[d].atoms);
            spell_blocks(frames_[d].values, frames_[d].predicates.literals);
        }
    }

    // Sorts atoms and removes duplicates: many of them by bits rather than by sorting.
    void sort_atoms(std::vector<u32>& atoms) {
        std::vector<u64>& words = noted_.words();
        if (atoms.size() <= words.size()) return sort_unique(atoms);
        for (u32 atom : atoms) noted_.set(atom);
        atoms.clear();
        for (std::size_t w = 0; w < words.size(); ++w) {
            for (u64 word = words[w]; word; word &= word - 1)
                atoms.push_back(static_cast<u32>(w * 64 + static_cast<u32>(__builtin_ctzll(word))));
            words[w] = 0;
        }
    }

    bool has_few_numbers_left() const { return instance_ > MOST_INSTANCES; }
    void restart_numbers() { instance_ = 0; }

    // Gives back what one document has taken; to be called between two documents.
    void shrink(std::size_t most_bytes) {
        std::size_t bytes = 0;
        for (u32 d = 0; d <= deepest_; ++d) bytes += frames_[d].bytes();
        if (bytes > most_bytes || deepest_ >= DEEP) {
            release(frames_);
            frames_.resize(FEW_FRAMES);
        }
        deepest_ = 0;
    }

    std::size_t bytes() const {
        std::size_t bytes = bytes_of(frames_);
        for (const Frame& frame : frames_) bytes += frame.bytes();
        return bytes;
    }

    u64 opened = 0, work = 0;  // frames; steps

  private:
    static constexpr u32 MOST_INSTANCES = 0xF0000000u, DEEP = 4096, FEW_FRAMES = 64;
    static constexpr std::size_t COMPACTION = 512, MANY_ATOMS = 16 * COMPACTION;

    void limit_atoms(Frame& frame) {
        if (frame.atoms.size() <= frame.most_atoms) return;
        work += frame.atoms.size();
        std::size_t kept = 0;
        for (u32 atom : frame.atoms)
            if (noted_.set(atom)) frame.atoms[kept++] = atom;
        frame.atoms.resize(kept);
        for (u32 atom : frame.atoms) noted_.words()[atom >> 6] = 0;
        frame.most_atoms = std::max(MANY_ATOMS, 2 * frame.atoms.size());
    }

    const ListPool& blocks_;
    std::vector<Frame> frames_;
    Bits noted_;  // all zero, but while duplicates are removed
    u32 instance_ = 0, deepest_ = 0;
};

}  // namespace twigcast
