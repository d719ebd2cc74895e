// Which value predicates a string satisfies.
//
// Predicates are grouped by what they look at: the text, the string-value, or the attributes a name test admits.
// A group answers `=` by hashing, inequalities by one binary search in sorted thresholds, the rest one by one.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "segment.hpp"

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

inline bool compares(u32 op, u32 first, double left, double right) {
    switch (op - first) {
        case 0: return left == right;
        case 1: return left != right;
        case 2: return left < right;
        case 3: return left <= right;
        case 4: return left > right;
        default: return left >= right;
    }
}

inline std::size_t code_points(const char* bytes, std::size_t length) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < length; ++i) count += (bytes[i] & 0xC0) != 0x80;
    return count;
}

class PredicateGroup {
  public:
    void add(const Segment& segment, u32 index) {
        const Predicate& predicate = segment.predicates[index];
        u32 literal = segment.atoms() + index;
        const char* text = segment.strings + predicate.text;
        switch (predicate.op) {
            case EXISTS: exists_.push_back(literal); break;
            case STRING_EQ: equal_.insert(text, predicate.text_length, hash_bytes(text, predicate.text_length), literal); break;
            case NUMBER_EQ: case NUMBER_LT: case NUMBER_LE: case NUMBER_GT: case NUMBER_GE:
                thresholds_[predicate.op - NUMBER_EQ].push_back({predicate.number, literal});
                numeric_ = true;
                break;
            case NUMBER_NE: numeric_ = true; others_.push_back(index); break;
            default: others_.push_back(index);
        }
        lengths_ = lengths_ || predicate.op >= LENGTH_EQ;
    }

    void seal() {
        for (auto& sorted : thresholds_) std::sort(sorted.begin(), sorted.end());
    }

    // Appends the literals that hold for the value.
    void evaluate(const Segment& segment, const char* value, std::size_t length, std::vector<u32>& out) const {
        out.insert(out.end(), exists_.begin(), exists_.end());
        if (equal_.size()) {
            u32 literal = equal_.find(value, length, hash_bytes(value, length));
            if (literal != NONE) out.push_back(literal);
        }
        double number = 0;
        if (numeric_) {
            number = to_number(value, length);
            if (number == number) compare(number, out);
        }
        if (others_.empty()) return;
        double points = lengths_ ? static_cast<double>(code_points(value, length)) : 0;
        for (u32 index : others_) {
            const Predicate& predicate = segment.predicates[index];
            const char* text = segment.strings + predicate.text;
            bool holds;
            switch (predicate.op) {
                case STRING_NE:
                    holds = length != predicate.text_length || std::memcmp(value, text, length) != 0;
                    break;
                case NUMBER_NE: holds = number != predicate.number; break;
                case CONTAINS:
                    holds = predicate.text_length == 0 || memmem(value, length, text, predicate.text_length) != nullptr;
                    break;
                case STARTS_WITH:
                    holds = length >= predicate.text_length && std::memcmp(value, text, predicate.text_length) == 0;
                    break;
                default: holds = compares(predicate.op, LENGTH_EQ, points, predicate.number);
            }
            if (holds) out.push_back(segment.atoms() + index);
        }
    }

  private:
    using Threshold = std::pair<double, u32>;

    void compare(double number, std::vector<u32>& out) const {
        auto below = [](const Threshold& t, double v) { return t.first < v; };
        auto above = [](double v, const Threshold& t) { return v < t.first; };
        auto lower = [&](u32 op) {
            const auto& t = thresholds_[op - NUMBER_EQ];
            return std::lower_bound(t.begin(), t.end(), number, below);
        };
        auto upper = [&](u32 op) {
            const auto& t = thresholds_[op - NUMBER_EQ];
            return std::upper_bound(t.begin(), t.end(), number, above);
        };
        auto push = [&](auto from, auto to) {
            for (; from != to; ++from) out.push_back(from->second);
        };
        auto all = [&](u32 op) -> const std::vector<Threshold>& { return thresholds_[op - NUMBER_EQ]; };
        push(lower(NUMBER_EQ), upper(NUMBER_EQ));
        push(upper(NUMBER_LT), all(NUMBER_LT).end());    // value < threshold
        push(lower(NUMBER_LE), all(NUMBER_LE).end());    // value <= threshold
        push(all(NUMBER_GT).begin(), lower(NUMBER_GT));  // value > threshold
        push(all(NUMBER_GE).begin(), upper(NUMBER_GE));  // value >= threshold
    }

    std::vector<u32> exists_, others_;
    NameTable equal_;
    std::vector<Threshold> thresholds_[NUMBER_GE - NUMBER_EQ + 1];  // NUMBER_NE's stays empty
    bool numeric_ = false, lengths_ = false;
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

class PredicateIndex {
  public:
    PredicateIndex(const Segment& segment, const NameTests& names) : segment_(segment), names_(names) {
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

    void on_attribute(const char* name, const char* value, std::vector<u32>& out) {
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
        if (groups == 0) return;
        std::size_t value_length = std::strlen(value);
        for (u32 group : group_lists_[groups]) attribute_[group].evaluate(segment_, value, value_length, out);
    }

    void on_element(u32 kind, const char* value, std::size_t length, std::vector<u32>& out) const {
        element_[kind].evaluate(segment_, value, length, out);
    }

  private:
    static constexpr std::size_t MOST_NAMES = 1 << 16;

    const Segment& segment_;
    const NameTests& names_;
    PredicateGroup element_[ON_STRING + 1];
    std::vector<PredicateGroup> attribute_;
    std::vector<u32> tests_;
    NameTable attribute_names_;
    ListPool group_lists_;
    std::vector<u32> scratch_;
};

}  // namespace twigcast
