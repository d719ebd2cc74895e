// Sets of origins, and who of them has been given what.
//
// An origin is an open element (by its depth) at which branching patterns are alive.  Most origins of a deep
// path are in the same state, so a path node has one entry for each state, with the set of the origins that
// are in it:
//
//   origins        9 ──► 4 ──► 2        deepest first; equal sets are one, others share their ends
//   grant          (origins, block): gives a block to the deepest origin, then goes on with the rest
//
// An origin that has a block already has it from a grant with the same rest, so a grant stops there: each
// open element is given each block once, whatever the number of elements and of paths below it.
#pragma once

#include "flat.hpp"

namespace twigcast {

constexpr u32 RESULT = NONE;  // as a depth: the document's result rather than an element's frame

class OriginSets {
  public:
    struct Set {
        u32 depth, rest, size;  // the deepest origin; the set of the others, 0 if there are none
    };
    struct Grant {
        u32 depth, block, given, rest;  // `given`: the last instance of an element that was given the block
    };
    static constexpr u32 OF_RESULT = 1;  // the set whose only member is the result

    OriginSets() { clear(); }

    const Set& operator[](u32 set) const { return sets_[set]; }
    Grant& granted(u32 grant) { return grants_[grant]; }

    u32 with(u32 depth, u32 rest) {
        u64 key = u64(depth) << 32 | rest;
        u32 known = set_of_.find(key);
        if (known != NONE) return known;
        u32 id = static_cast<u32>(sets_.size());
        sets_.push_back(Set{depth, rest, 1 + sets_[rest].size});
        set_of_.insert(key, id);
        return id;
    }

    u32 unite(u32 a, u32 b) {
        std::size_t from = open_.size();
        u32 united;
        for (;;) {
            if (a == 0 || b == 0 || a == b) {
                united = a ? a : b;
                break;
            }
            if (sets_[a].depth < sets_[b].depth) std::swap(a, b);
            united = open_.size() - from < FEW ? NONE : united_.find(u64(a) << 32 | b);
            if (united != NONE) break;
            open_.push_back({a, b});
            if (sets_[a].depth == sets_[b].depth) b = sets_[b].rest;
            a = sets_[a].rest;
        }
        for (std::size_t i = open_.size(); i-- > from;) {
            united = with(sets_[open_[i].first].depth, united);
            if (i - from >= FEW) united_.insert(u64(open_[i].first) << 32 | open_[i].second, united);
        }
        work += open_.size() - from;
        open_.resize(from);
        return united;
    }

    u32 grant(u32 set, u32 block) {
        u32 rest = 0;
        for (open_.clear(); set; set = sets_[set].rest) {
            u32 known = grant_of_.find(u64(set) << 32 | block);
            if (known != NONE) {
                rest = known;
                break;
            }
            open_.push_back({set, 0});
        }
        work += open_.size();
        for (; !open_.empty(); open_.pop_back()) {
            grant_of_.insert(u64(open_.back().first) << 32 | block, static_cast<u32>(grants_.size()));
            grants_.push_back(Grant{sets_[open_.back().first].depth, block, 0, rest});
            rest = static_cast<u32>(grants_.size() - 1);
        }
        return rest;
    }

    std::size_t bytes() const {
        return bytes_of(sets_) + bytes_of(grants_) + set_of_.bytes() + grant_of_.bytes() + united_.bytes();
    }

    void clear() {
        release(sets_), release(grants_), release(open_);
        set_of_.clear(), grant_of_.clear(), united_.clear();
        sets_.push_back(Set{0, 0, 0});
        sets_.push_back(Set{RESULT, 0, 1});
        grants_.push_back(Grant{0, 0, 0, 0});
    }

    u64 work = 0;  // sets and grants looked at

  private:
    static constexpr std::size_t FEW = 4;  // shorter unions are not remembered

    std::vector<Set> sets_;
    std::vector<Grant> grants_;
    FlatMap set_of_, grant_of_, united_;
    std::vector<std::pair<u32, u32>> open_;
};

}  // namespace twigcast
