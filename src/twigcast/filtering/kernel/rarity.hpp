// How often literals hold, counted in some documents: the rarest literal of a row is its key.
#pragma once

#include <algorithm>
#include <vector>

#include "flat.hpp"
#include "segment.hpp"
#include "tuning.hpp"

namespace twigcast {

class Rarity {
  public:
    explicit Rarity(const Segment& segment) : segment_(segment), seen_(segment.literals(), 0) {}

    // `number` counts documents from 1: the first ones are sampled, and then one in sixteen.
    void begin(u64 number) {
        is_sampling_ = number <= 64 || (number & 15) == 0;
        sampled_ += is_sampling_;
        left_ = MOST_SAMPLES;
    }

    bool is_sampling() const { return is_sampling_; }

    void count(u32 word, u64 literals) {
        if (!left_) return;
        --left_;
        for (; literals; literals &= literals - 1)
            ++seen_[word * 64 + static_cast<u32>(__builtin_ctzll(literals))];
    }

    // For equal counts, an equality is assumed to be rarer than structure, and structure rarer than any other
    // predicate.
    bool is_rarer(u32 a, u32 b) const {
        if (seen_[a] != seen_[b]) return seen_[a] < seen_[b];
        return expected(a) < expected(b);
    }

    // The slots of the document whose rows had their rarest literal satisfied most often; returns how many
    // documents were sampled.
    u64 candidates(std::size_t most, std::vector<Candidate>& out) const;

  private:
    static constexpr u64 MOST_SAMPLES = 1 << 16;

    int expected(u32 literal) const {
        if (literal < segment_.atoms()) return 1;
        const u32 op = segment_.predicates[literal - segment_.atoms()].op;
        return op == STRING_EQ || op == NUMBER_EQ ? 0 : 2;
    }

    const Segment& segment_;
    std::vector<u32> seen_;
    u64 sampled_ = 0, left_ = 0;
    bool is_sampling_ = true;
};

inline u64 Rarity::candidates(std::size_t most, std::vector<Candidate>& out) const {
    std::vector<u64> counts(segment_.header->slots, 0);
    std::vector<u32> open{0};  // the nodes of the document's trie
    while (!open.empty()) {
        const u32 node = open.back();
        open.pop_back();
        for (u32 child = segment_.first_child[node]; child < segment_.first_child[node + 1]; ++child)
            open.push_back(child);
        for (u32 at = segment_.row_start[node], to = segment_.row_start[node + 1]; at < to;) {
            const u32 slot = segment_.rows[at++];
            u64 least = sampled_;
            for (;;) {
                const u32 literal = segment_.rows[at++];
                if (!(literal & NEGATIVE)) least = std::min<u64>(least, seen_[literal & LITERAL]);
                if (literal & LAST) break;
            }
            counts[slot] += least;
        }
    }
    std::vector<u32> order;
    for (u32 slot = 0; slot < counts.size(); ++slot)
        if (counts[slot]) order.push_back(slot);
    most = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      [&](u32 a, u32 b) { return counts[a] != counts[b] ? counts[a] > counts[b] : a < b; });
    for (std::size_t i = 0; i < most; ++i) out.push_back(Candidate{order[i], counts[order[i]]});
    return sampled_;
}

}  // namespace twigcast
