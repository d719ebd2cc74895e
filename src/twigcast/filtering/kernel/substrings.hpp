// Finds which of many strings occur in a text, in one pass whatever their number (Aho and Corasick's
// automaton).
//
// States are numbered breadth-first, so the first states are near the root, where a scan nearly always is:
// these have a table of their transitions by class of bytes.  The children of any other state are consecutive
// and are searched in order; most states have one child.  A scan can stop anywhere and continue later, so
// that the text of a document is scanned once for all elements whose string-value is tested by `contains`.
//
// A scan notes at each position only the longest string that ends there; the strings that end with it are
// found by its links when somebody asks.  So a scan takes the same time for any number of strings and of
// occurrences.
#pragma once

#include <algorithm>
#include <string>

#include "flat.hpp"

namespace twigcast {

class SubstringIndex {
  public:
    void add(const char* bytes, std::size_t length, u32 literal) {
        words_.push_back({std::string(bytes, length), literal});
    }

    bool empty() const { return words_.empty(); }

    void seal() {
        if (words_.empty()) return;
        std::sort(words_.begin(), words_.end());
        // Breadth-first over ranges of the sorted words that share a prefix.
        struct Range {
            std::size_t from, to, depth;
        };
        std::vector<Range> ranges{{0, words_.size(), 0}};
        std::vector<u32> parent{0}, literal, length;
        strings_.push_back(String{NONE, 0, 0});
        bytes_.push_back(0);
        for (std::size_t state = 0; state < ranges.size(); ++state) {
            Range range = ranges[state];
            first_child_.push_back(static_cast<u32>(ranges.size()));
            literal.push_back(NONE);
            length.push_back(static_cast<u32>(range.depth));
            std::size_t at = range.from;
            while (at < range.to && words_[at].first.size() == range.depth)
                literal[state] = words_[at++].second;
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
            if (class_[bytes_[state]] == 0)
                class_[bytes_[state]] =
                    static_cast<std::uint16_t>(++classes_);  // class 0: in none of the strings
        ++classes_;
        fail_.assign(ranges.size(), 0);
        output_.assign(ranges.size(), 0);
        tabled_ = static_cast<u32>(std::min(ranges.size(), TABLE / classes_));
        table_.assign(std::size_t(tabled_) * classes_, 0);
        for (u32 state = 0; state < ranges.size(); ++state) {
            // The failure state of a state is nearer to the root, so its transitions are known already.
            if (parent[state] != 0) fail_[state] = step(fail_[parent[state]], bytes_[state]);
            output_[state] = output_[fail_[state]];
            if (literal[state] != NONE) {
                strings_.push_back(String{literal[state], length[state], output_[state]});
                output_[state] = static_cast<u32>(strings_.size() - 1);
            }
            if (state >= tabled_) continue;
            u32* steps = &table_[std::size_t(state) * classes_];
            if (state) std::copy_n(&table_[std::size_t(fail_[state]) * classes_], classes_, steps);
            for (u32 child = first_child_[state]; child < first_child_[state + 1]; ++child)
                steps[class_[bytes_[child]]] = child;
        }
    }

    // Continues from `state` over bytes that begin at `position` of the text; calls found(string, its end in
    // the text).
    template <class Found>
    u32 scan(u32 state, const char* bytes, std::size_t length, std::size_t position,
             const Found& found) const {
        for (std::size_t i = 0; i < length; ++i) {
            state = step(state, static_cast<u8>(bytes[i]));
            if (u32 hit = output_[state]) found(hit, position + i + 1);
        }
        return state;
    }

    std::size_t string_count() const { return strings_.size(); }
    u32 literal(u32 string) const { return strings_[string].literal; }
    u32 length(u32 string) const { return strings_[string].length; }
    u32 shorter(u32 string) const {
        return strings_[string].shorter;
    }  // the next string that it ends with; 0: none

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

    struct String {
        u32 literal, length, shorter;
    };

    std::vector<std::pair<std::string, u32>> words_;
    std::vector<String>
        strings_;  // the words by number, from 1; `output_` has for a state the longest that ends there
    std::vector<u32> first_child_, fail_, output_, table_;
    std::vector<u8> bytes_;
    std::uint16_t class_[256] = {};
    u32 classes_ = 0, tabled_ = 0;
};

// The strings that were found in a text so far, the latest first, so that those inside any range that ends
// here are listed without a look at the others.
//
//   strings found, by the end of their last occurrence:   newest_ ──► … ──► oldest
class Occurrences {
  public:
    explicit Occurrences(const SubstringIndex& index) : index_(index) {}

    void begin() {  // a new text
        if (last_.empty() && !index_.empty()) last_.assign(index_.string_count(), Last{0, 0, 0, 0, 0});
        ++text_;
        newest_ = state_ = 0;
    }

    void scan(const char* bytes, std::size_t length, std::size_t position) {
        state_ = index_.scan(state_, bytes, length, position,
                             [this](u32 string, std::size_t end) { note(string, end); });
    }

    // Appends the literals of the strings that occur in the text from `start` on; returns how many strings it
    // looked at.
    std::size_t within(std::size_t start, std::vector<u32>& out) {
        std::size_t looked = 0;
        ++listing_;
        for (u32 string = newest_; string && last_[string].end > start; string = last_[string].older) {
            std::size_t end = last_[string].end;
            for (u32 each = string; each && last_[each].listed != listing_; each = index_.shorter(each)) {
                ++looked;
                last_[each].listed = listing_;  // later ends come first, so that this is the last occurrence
                if (end - index_.length(each) >= start) out.push_back(index_.literal(each));
            }
        }
        return looked;
    }

    std::size_t bytes() const { return bytes_of(last_); }

  private:
    struct Last {
        std::size_t end;
        u64 text, listed;
        u32 older, newer;
    };

    void note(u32 string, std::size_t end) {
        Last& last = last_[string];
        last.end = end;
        if (newest_ == string) return;
        if (last.text == text_) {  // move it to the front
            last_[last.newer].older = last.older;
            if (last.older) last_[last.older].newer = last.newer;
        }
        last.text = text_;
        last.older = newest_;
        if (newest_) last_[newest_].newer = string;
        newest_ = string;
    }

    const SubstringIndex& index_;
    std::vector<Last> last_;  // by string
    u64 text_ = 0, listing_ = 0;
    u32 newest_ = 0, state_ = 0;
};

}  // namespace twigcast
