// Finds which of many strings occur in a text, in one pass whatever their number (Aho and Corasick's automaton).
//
// States are numbered breadth-first, so the first states are near the root, where a scan nearly always is: these have
// a table of their transitions by class of bytes.  The children of any other state are consecutive and are searched in
// order; most states have one child.  A scan can stop anywhere and continue later, so that the text of a document is
// scanned once for all elements whose string-value is tested by `contains`.
#pragma once

#include <algorithm>
#include <string>

#include "flat.hpp"

namespace twigcast {

struct Occurrence {
    std::size_t start;
    u32 literal;
};

class SubstringIndex {
  public:
    void add(const char* bytes, std::size_t length, u32 literal) { words_.push_back({std::string(bytes, length), literal}); }

    bool empty() const { return words_.empty(); }

    void seal() {
        if (words_.empty()) return;
        std::sort(words_.begin(), words_.end());
        // Breadth-first over ranges of the sorted words that share a prefix.
        struct Range {
            std::size_t from, to, depth;
        };
        std::vector<Range> ranges{{0, words_.size(), 0}};
        std::vector<u32> parent{0};
        bytes_.push_back(0);
        for (std::size_t state = 0; state < ranges.size(); ++state) {
            Range range = ranges[state];
            first_child_.push_back(static_cast<u32>(ranges.size()));
            literal_.push_back(NONE);
            depth_.push_back(static_cast<u32>(range.depth));
            std::size_t at = range.from;
            while (at < range.to && words_[at].first.size() == range.depth) literal_[state] = words_[at++].second;
            while (at < range.to) {
                char byte = words_[at].first[range.depth];
                std::size_t end = at;
                while (end < range.to && words_[end].first[range.depth] == byte) ++end;
                ranges.push_back({at, end, range.depth + 1});
                parent.push_back(static_cast<u32>(state));
                bytes_.push_back(static_cast<u8>(byte));
                at = end;
            }
        }
        first_child_.push_back(static_cast<u32>(ranges.size()));
        for (u32 state = 1; state < ranges.size(); ++state)
            if (class_[bytes_[state]] == 0) class_[bytes_[state]] = static_cast<std::uint16_t>(++classes_);  // class 0: in none of the strings
        ++classes_;
        fail_.assign(ranges.size(), 0);
        output_.assign(ranges.size(), 0);
        tabled_ = static_cast<u32>(std::min(ranges.size(), TABLE / classes_));
        table_.assign(std::size_t(tabled_) * classes_, 0);
        for (u32 state = 0; state < ranges.size(); ++state) {
            // The failure state of a state is nearer to the root, so its transitions are known already.
            if (parent[state] != 0) fail_[state] = step(fail_[parent[state]], bytes_[state]);
            output_[state] = literal_[state] != NONE ? state : output_[fail_[state]];
            if (state >= tabled_) continue;
            u32* steps = &table_[std::size_t(state) * classes_];
            if (state) std::copy_n(&table_[std::size_t(fail_[state]) * classes_], classes_, steps);
            for (u32 child = first_child_[state]; child < first_child_[state + 1]; ++child)
                steps[class_[bytes_[child]]] = child;
        }
    }

    // Continues from `state` over bytes that begin at `position` of the text.
    u32 scan(u32 state, const char* bytes, std::size_t length, std::size_t position, std::vector<Occurrence>& found) const {
        for (std::size_t i = 0; i < length; ++i) {
            state = step(state, static_cast<u8>(bytes[i]));
            for (u32 hit = output_[state]; hit; hit = output_[fail_[hit]])
                found.push_back(Occurrence{position + i + 1 - depth_[hit], literal_[hit]});
        }
        return state;
    }

  private:
    u32 step(u32 state, u8 byte) const {
        while (state >= tabled_) {
            for (u32 child = first_child_[state], end = first_child_[state + 1]; child < end; ++child)
                if (bytes_[child] == byte) return child;
            state = fail_[state];
        }
        return table_[std::size_t(state) * classes_ + class_[byte]];
    }

    static constexpr std::size_t TABLE = 1 << 18;  // steps: a megabyte

    std::vector<std::pair<std::string, u32>> words_;
    std::vector<u32> first_child_, literal_, depth_, fail_, output_, table_;
    std::vector<u8> bytes_;
    std::uint16_t class_[256] = {};
    u32 classes_ = 0, tabled_ = 0;
};

}  // namespace twigcast
