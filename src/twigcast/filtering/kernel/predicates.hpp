// Finds the value predicates that a string satisfies.
//
// Predicates are grouped by what they look at: the text, the string-value, or the attributes a name test admits.
// A group answers `=` and `starts-with` by hashing, inequalities by binary search in sorted thresholds, `contains` by
// one pass; only `!=` of several values is tried one by one.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "segment.hpp"
#include "substrings.hpp"

namespace twigcast {

// Strings to numbers, open addressing; the strings are kept.
class NameTable {
  public:
    u32 find(const char* bytes, std::size_t length, u64 hash) const {
        if (slots_.empty()) return NONE;
        for (std::size_t i = hash & mask_;; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.value == NONE) return NONE;
            if (slot.hash == static_cast<u32>(hash >> 32) && slot.length == length &&
                std::memcmp(text_.data() + slot.at, bytes, length) == 0)
                return slot.value;
        }
    }
    u32 find(const std::string& name) const { return find(name.data(), name.size(), hash_bytes(name.data(), name.size())); }

    void insert(const char* bytes, std::size_t length, u64 hash, u32 value) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        place(Slot{text_.size(), static_cast<u32>(length), static_cast<u32>(hash >> 32), value}, hash);
        text_.append(bytes, length);
        ++size_;
    }
    void insert(const std::string& name, u32 value) {
        insert(name.data(), name.size(), hash_bytes(name.data(), name.size()), value);
    }

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return slots_.capacity() * sizeof(Slot) + text_.capacity(); }
    void clear() { *this = NameTable(); }

  private:
    struct Slot {
        std::size_t at;
        u32 length, hash, value;
    };

    void place(const Slot& slot, u64 hash) {
        std::size_t i = hash & mask_;
        while (slots_[i].value != NONE) i = (i + 1) & mask_;
        slots_[i] = slot;
    }

    void grow() {
        std::vector<Slot> old;
        old.swap(slots_);
        slots_.assign(old.empty() ? 64 : old.size() * 2, Slot{0, 0, 0, NONE});
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old)
            if (slot.value != NONE) place(slot, hash_bytes(text_.data() + slot.at, slot.length));
    }

    std::vector<Slot> slots_;
    std::string text_;
    std::size_t mask_ = 0, size_ = 0;
};

// XPath's number(): optional white space around an optional minus and decimal digits; NaN for anything else.
inline double to_number(const char* from, std::size_t length) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    const char* to = from + length;
    while (from < to && space(*from)) ++from;
    while (to > from && space(to[-1])) --to;
    const char* at = from;
    if (at < to && *at == '-') ++at;
    bool digits = false, point = false;
    for (; at < to; ++at) {
        if (*at >= '0' && *at <= '9') digits = true;
        else if (*at == '.' && !point) point = true;
        else return nan;
    }
    if (!digits) return nan;
    double value = nan;
    auto [end, error] = std::from_chars(from, to, value, std::chars_format::fixed);
    if (error == std::errc::result_out_of_range) {
        // Too large becomes infinite, too small zero, as IEEE rounding would have it.
        bool negative = *from == '-', large = false;
        for (at = from + negative; at < to && *at != '.'; ++at) large = large || *at != '0';
        value = large ? std::numeric_limits<double>::infinity() : 0.0;
        return negative ? -value : value;
    }
    return end == to ? value : nan;
}

// Comparisons of a number with many thresholds: the literals of each operator sorted by threshold.
class Thresholds {
  public:
    void add(u32 comparison, double threshold, u32 literal) {  // comparison: = != < <= > >=
        sorted_[comparison].push_back({threshold, literal});
        empty_ = false;
    }
    bool empty() const { return empty_; }
    void seal() {
        for (auto& thresholds : sorted_) std::sort(thresholds.begin(), thresholds.end());
    }

    void evaluate(double number, std::vector<u32>& out) const {
        enum { EQ, NE, LT, LE, GT, GE };
        if (number != number) {  // not-a-number differs from every number; no other comparison holds for it
            push(sorted_[NE].begin(), sorted_[NE].end(), out);
            return;
        }
        push(lower(EQ, number), upper(EQ, number), out);
        push(sorted_[NE].begin(), lower(NE, number), out);
        push(upper(NE, number), sorted_[NE].end(), out);
        push(upper(LT, number), sorted_[LT].end(), out);    // number < threshold
        push(lower(LE, number), sorted_[LE].end(), out);    // number <= threshold
        push(sorted_[GT].begin(), lower(GT, number), out);  // number > threshold
        push(sorted_[GE].begin(), upper(GE, number), out);  // number >= threshold
    }

  private:
    using Threshold = std::pair<double, u32>;
    using Place = std::vector<Threshold>::const_iterator;

    Place lower(u32 comparison, double number) const {
        return std::lower_bound(sorted_[comparison].begin(), sorted_[comparison].end(), number,
                                [](const Threshold& t, double v) { return t.first < v; });
    }
    Place upper(u32 comparison, double number) const {
        return std::upper_bound(sorted_[comparison].begin(), sorted_[comparison].end(), number,
                                [](double v, const Threshold& t) { return v < t.first; });
    }
    static void push(Place from, Place to, std::vector<u32>& out) {
        for (; from != to; ++from) out.push_back(from->second);
    }

    std::vector<Threshold> sorted_[6];
    bool empty_ = true;
};

inline std::size_t code_points(const char* bytes, std::size_t length) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < length; ++i) count += (bytes[i] & 0xC0) != 0x80;
    return count;
}

class PredicateGroup {
  public:
    void add(const Segment& segment, u32 index) {
        const Predicate& predicate = segment.predicates[index];
        u32 literal = segment.atoms() + index, length = predicate.text_length;
        const char* text = segment.strings + predicate.text;
        if (predicate.op == EXISTS) exists_.push_back(literal);
        else if (predicate.op == STRING_EQ) equal_.insert(text, length, hash_bytes(text, length), literal);
        else if (predicate.op == STRING_NE) different_.push_back({std::string(text, length), literal});
        else if (predicate.op == CONTAINS) substrings_.add(text, length, literal);
        else if (predicate.op == STARTS_WITH) {
            starts_.insert(text, length, hash_bytes(text, length), literal);
            start_lengths_.push_back(length);
        } else if (predicate.op >= LENGTH_EQ) lengths_.add(predicate.op - LENGTH_EQ, predicate.number, literal);
        else numbers_.add(predicate.op - NUMBER_EQ, predicate.number, literal);
    }

    void seal() {
        numbers_.seal();
        lengths_.seal();
        substrings_.seal();
        std::sort(start_lengths_.begin(), start_lengths_.end());
        start_lengths_.erase(std::unique(start_lengths_.begin(), start_lengths_.end()), start_lengths_.end());
    }

    const SubstringIndex& substrings() const { return substrings_; }

    // Appends the literals that hold for the value, except those of `contains`.
    void compare(const char* value, std::size_t length, std::vector<u32>& out) const {
        out.insert(out.end(), exists_.begin(), exists_.end());
        if (equal_.size()) push(equal_.find(value, length, hash_bytes(value, length)), out);
        if (!numbers_.empty()) numbers_.evaluate(to_number(value, length), out);
        if (!lengths_.empty()) lengths_.evaluate(static_cast<double>(code_points(value, length)), out);
        for (u32 start : start_lengths_) {
            if (start > length) break;
            push(starts_.find(value, start, hash_bytes(value, start)), out);
        }
        for (const auto& [text, literal] : different_)
            if (text.size() != length || std::memcmp(text.data(), value, length) != 0) out.push_back(literal);
    }

    // Appends all literals that hold for the value.
    void evaluate(const char* value, std::size_t length, std::vector<u32>& out) {
        compare(value, length, out);
        if (substrings_.empty()) return;
        found_.clear();
        substrings_.scan(0, value, length, 0, found_);
        for (const Occurrence& occurrence : found_) out.push_back(occurrence.literal);
    }

  private:
    static void push(u32 literal, std::vector<u32>& out) {
        if (literal != NONE) out.push_back(literal);
    }

    std::vector<u32> exists_, start_lengths_;
    std::vector<std::pair<std::string, u32>> different_;
    NameTable equal_, starts_;
    Thresholds numbers_, lengths_;
    SubstringIndex substrings_;
    std::vector<Occurrence> found_;
};

// The name tests of a segment that admit a name, as expat gives it: `local` or `uri \f local`.
class NameTests {
  public:
    explicit NameTests(const Segment& segment) {
        for (u32 t = 0; t < segment.test_count(); ++t) {
            const NameTest& test = segment.tests[t];
            std::string space = test.space == NONE ? "" : std::string(segment.strings + test.space, test.space_length);
            std::string local = test.local == NONE ? "" : std::string(segment.strings + test.local, test.local_length);
            if (test.space == NONE && test.local == NONE) any_ = t;
            else if (test.space == NONE) any_space_.insert(local, t);
            else if (test.local == NONE) any_local_.insert(space, t);
            else exact_.insert(space.empty() ? local : space + '\f' + local, t);
        }
    }

    void admitting(const char* name, std::size_t length, std::vector<u32>& out) const {
        out.clear();
        push(exact_.find(name, length, hash_bytes(name, length)), out);
        const char* cut = static_cast<const char*>(std::memchr(name, '\f', length));
        const char* local = cut ? cut + 1 : name;
        std::size_t local_length = name + length - local, space_length = cut ? cut - name : 0;
        if (any_space_.size()) push(any_space_.find(local, local_length, hash_bytes(local, local_length)), out);
        if (any_local_.size()) push(any_local_.find(name, space_length, hash_bytes(name, space_length)), out);
        push(any_, out);
        std::sort(out.begin(), out.end());
    }

  private:
    static void push(u32 test, std::vector<u32>& out) {
        if (test != NONE) out.push_back(test);
    }

    NameTable exact_, any_space_, any_local_;
    u32 any_ = NONE;
};

// A cache of the literals that short values satisfy: attributes have few distinct values, which recur.
class ValueMemo {
  public:
    static constexpr std::size_t LONGEST = 56, MOST = 1 << 16;

    // Returns the cached block of a value for these groups, or NONE; a following `insert` stores it for the same value.
    u32 find(u32 groups, const char* value, std::size_t length) {
        std::memcpy(key_, &groups, sizeof groups);
        std::memcpy(key_ + sizeof groups, value, length);
        length_ = length + sizeof groups;
        hash_ = hash_bytes(key_, length_);
        return blocks_.find(key_, length_, hash_);
    }
    void insert(u32 block) { blocks_.insert(key_, length_, hash_, block); }

    bool full() const { return blocks_.size() >= MOST; }
    std::size_t bytes() const { return blocks_.bytes(); }
    void clear() { blocks_.clear(); }

  private:
    NameTable blocks_;
    char key_[sizeof(u32) + LONGEST];
    std::size_t length_ = 0;
    u64 hash_ = 0;
};

class PredicateIndex {
  public:
    PredicateIndex(const Segment& segment, const NameTests& names) : names_(names) {
        FlatMap of_test;
        for (u32 p = 0; p < segment.predicate_count(); ++p) {
            const Predicate& predicate = segment.predicates[p];
            if (predicate.kind != ON_ATTRIBUTE) {
                element_[predicate.kind].add(segment, p);
                continue;
            }
            u32 group = of_test.find(predicate.test);
            if (group == NONE) {
                of_test.insert(predicate.test, group = static_cast<u32>(attribute_.size()));
                attribute_.emplace_back();
                tests_.push_back(predicate.test);
            }
            attribute_[group].add(segment, p);
        }
        for (PredicateGroup& group : element_) group.seal();
        for (PredicateGroup& group : attribute_) group.seal();
    }

    // The groups that look at attributes of this name; 0 for none.
    u32 groups_of(const char* name) {
        std::size_t length = std::strlen(name);
        u64 hash = hash_bytes(name, length);
        u32 groups = attribute_names_.find(name, length, hash);
        if (groups == NONE) {
            names_.admitting(name, length, scratch_);
            std::size_t kept = 0;
            for (u32 test : scratch_) {
                auto at = std::find(tests_.begin(), tests_.end(), test);
                if (at != tests_.end()) scratch_[kept++] = static_cast<u32>(at - tests_.begin());
            }
            scratch_.resize(kept);
            groups = group_lists_.intern(scratch_);
            if (attribute_names_.size() > MOST_NAMES) attribute_names_.clear();
            attribute_names_.insert(name, length, hash, groups);
        }
        return groups;
    }

    void on_attribute(u32 groups, const char* value, std::size_t length, std::vector<u32>& out) {
        for (u32 group : group_lists_[groups]) attribute_[group].evaluate(value, length, out);
    }

    void on_text(u32 kind, const char* value, std::size_t length, std::vector<u32>& out) {
        element_[kind].evaluate(value, length, out);
    }

    // `contains` on a string-value is decided while the text is read, not here.
    void on_string(const char* value, std::size_t length, std::vector<u32>& out) const {
        element_[ON_STRING].compare(value, length, out);
    }
    const SubstringIndex& substrings() const { return element_[ON_STRING].substrings(); }

  private:
    static constexpr std::size_t MOST_NAMES = 1 << 16;

    const NameTests& names_;
    PredicateGroup element_[ON_STRING + 1];
    std::vector<PredicateGroup> attribute_;
    std::vector<u32> tests_;
    NameTable attribute_names_;
    ListPool group_lists_;
    std::vector<u32> scratch_;
};

}  // namespace twigcast
