// Positions as bits: the answer of a document, and the positions that are left out of it.
#pragma once

#include <vector>

#include "flat.hpp"

namespace twigcast {

inline u64 count_positions(const u64* result, const u64* gone, std::size_t words) {
    u64 count = 0;
    for (std::size_t w = 0; w < words; ++w)
        count += static_cast<u64>(__builtin_popcountll(result[w] & ~gone[w]));
    return count;
}

// Appends the positions of the set bits, in order, without those that are `gone`.
inline void append_positions(const u64* result, const u64* gone, std::size_t words, std::vector<u32>& out) {
    std::size_t at = out.size();
    out.resize(at + count_positions(result, gone, words));
    u32* to = out.data() + at;
    for (std::size_t w = 0; w < words; ++w)
        for (u64 word = result[w] & ~gone[w]; word; word &= word - 1)
            *to++ = static_cast<u32>(w * 64 + static_cast<u32>(__builtin_ctzll(word)));
}

inline bool intersect(const u64* a, const u64* b, std::size_t words) {
    for (std::size_t w = 0; w < words; ++w)
        if (a[w] & b[w]) return true;
    return false;
}

}  // namespace twigcast
