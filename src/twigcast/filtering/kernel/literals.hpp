// Literals that hold for an element: atoms and value predicates by number, single ones and ranges of many.
#pragma once

#include <algorithm>
#include <vector>

#include "flat.hpp"

namespace twigcast {

struct LiteralRange {  // from, and one after the last
    u32 from, to;
};

struct LiteralSet {
    std::vector<u32> literals;
    std::vector<LiteralRange> ranges;

    bool empty() const { return literals.empty() && ranges.empty(); }
    std::size_t size() const { return literals.size() + ranges.size(); }
    std::size_t bytes() const { return bytes_of(literals) + bytes_of(ranges); }
    void clear() { literals.clear(), ranges.clear(); }
    void push(u32 literal) {
        if (literal != NONE) literals.push_back(literal);
    }
    void append(const LiteralSet& more) {
        literals.insert(literals.end(), more.literals.begin(), more.literals.end());
        ranges.insert(ranges.end(), more.ranges.begin(), more.ranges.end());
    }

    // Sorts both, removes duplicates, and makes one range of those that touch.
    void compact() {
        sort_unique(literals);
        std::sort(ranges.begin(), ranges.end(),
                  [](LiteralRange a, LiteralRange b) { return a.from < b.from; });
        std::size_t kept = 0;
        for (const LiteralRange& range : ranges) {
            if (kept && range.from <= ranges[kept - 1].to)
                ranges[kept - 1].to = std::max(ranges[kept - 1].to, range.to);
            else ranges[kept++] = range;
        }
        ranges.resize(kept);
    }

    // Does the same, and leaves out single literals that are in a range: equal sets become the same.
    void normalise() {
        compact();
        if (ranges.empty()) return;
        auto in_range = [this](u32 literal) {
            auto after =
                std::upper_bound(ranges.begin(), ranges.end(), literal,
                                 [](u32 value, const LiteralRange& range) { return value < range.from; });
            return after != ranges.begin() && literal < (after - 1)->to;
        };
        literals.erase(std::remove_if(literals.begin(), literals.end(), in_range), literals.end());
    }
};

}  // namespace twigcast
