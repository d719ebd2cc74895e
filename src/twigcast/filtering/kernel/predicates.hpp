// Finds the value predicates that a string satisfies.
//
// Predicates are grouped by what they look at: the text, the string-value, or the attributes a name test
// admits. A group answers `=` by hashing, `starts-with` by one search in sorted strings, inequalities by
// binary search in sorted thresholds, `contains` by one pass.  The literals of the sorted ones are
// consecutive numbers, so that however many of them hold, they are a range; `!=` holds for the two ranges
// around the equal one.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>

#include "literals.hpp"
#include "numbers.hpp"
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
    u32 find(const std::string& name) const {
        return find(name.data(), name.size(), hash_bytes(name.data(), name.size()));
    }

    void insert(const char* bytes, std::size_t length, u64 hash, u32 value) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        place(Slot{text_.size(), static_cast<u32>(length), static_cast<u32>(hash >> 32), value}, hash);
        text_.append(bytes, length);
        ++size_;
    }
    void insert(const std::string& name, u32 value) {
        insert(name.data(), name.size(), hash_bytes(name.data(), name.size()), value);
    }

    // As a cache of names that documents have: inserts, unless the name is long, into a table that is emptied
    // when full.
    void remember(const char* bytes, std::size_t length, u64 hash, u32 value) {
        if (length > LONGEST) return;
        if (size_ >= MOST) clear();
        insert(bytes, length, hash, value);
    }

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return bytes_of(slots_) + text_.capacity(); }
    void clear() { *this = NameTable(); }

  private:
    static constexpr std::size_t MOST = 1 << 14, LONGEST = 256;  // 16,384 names are 2 MB, 6 at most

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

// Literals in the order of what they compare with; the builder numbers them in this order.
class OrderedLiterals {
  public:
    void push_back(u32 literal) {
        consecutive_ = consecutive_ && (literals_.empty() || literals_.back() + 1 == literal);
        literals_.push_back(literal);
    }
    void hold(std::size_t from, std::size_t to, LiteralSet& out) const {
        if (from >= to) return;
        if (consecutive_ && to - from > FEW) out.ranges.push_back({literals_[from], literals_[to - 1] + 1});
        else
            out.literals.insert(out.literals.end(), literals_.begin() + static_cast<std::ptrdiff_t>(from),
                                literals_.begin() + static_cast<std::ptrdiff_t>(to));
    }

  private:
    static constexpr std::size_t FEW = 16;

    std::vector<u32> literals_;
    bool consecutive_ = true;
};

// Comparisons of a number with many thresholds: the literals of each operator sorted by threshold.
class Thresholds {
  public:
    void add(u32 comparison, double threshold, u32 literal) {  // comparison: = != < <= > >=
        unsorted_.push_back({comparison, threshold, literal});
        empty_ = false;
    }
    bool empty() const { return empty_; }
    void seal() {
        std::sort(unsorted_.begin(), unsorted_.end(), [](const Added& a, const Added& b) {
            if (a.comparison != b.comparison) return a.comparison < b.comparison;
            bool number = a.threshold == a.threshold, other = b.threshold == b.threshold;
            if (number != other) return number;  // not-a-number comes last
            if (number && a.threshold != b.threshold) return a.threshold < b.threshold;
            return a.literal < b.literal;
        });
        for (const Added& each : unsorted_) {
            numbers_[each.comparison].push_back(each.threshold);
            literals_[each.comparison].push_back(each.literal);
        }
        release(unsorted_);
    }

    void evaluate(double number, LiteralSet& out) const {
        enum { EQ, NE, LT, LE, GT, GE };
        if (number != number) {  // not-a-number differs from every number; no other comparison holds for it
            literals_[NE].hold(0, numbers_[NE].size(), out);
            return;
        }
        literals_[EQ].hold(lower(EQ, number), upper(EQ, number), out);
        literals_[NE].hold(0, lower(NE, number), out);
        literals_[NE].hold(upper(NE, number), numbers_[NE].size(), out);
        literals_[LT].hold(upper(LT, number), numbers_[LT].size(), out);  // number < threshold
        literals_[LE].hold(lower(LE, number), numbers_[LE].size(), out);  // number <= threshold
        literals_[GT].hold(0, lower(GT, number), out);                    // number > threshold
        literals_[GE].hold(0, upper(GE, number), out);                    // number >= threshold
    }

  private:
    struct Added {
        u32 comparison;
        double threshold;
        u32 literal;
    };

    std::size_t lower(u32 comparison, double number) const {
        const std::vector<double>& numbers = numbers_[comparison];
        return static_cast<std::size_t>(std::lower_bound(numbers.begin(), numbers.end(), number) -
                                        numbers.begin());
    }
    std::size_t upper(u32 comparison, double number) const {
        const std::vector<double>& numbers = numbers_[comparison];
        return static_cast<std::size_t>(std::upper_bound(numbers.begin(), numbers.end(), number) -
                                        numbers.begin());
    }

    std::vector<Added> unsorted_;
    std::vector<double> numbers_[6];
    OrderedLiterals literals_[6];
    bool empty_ = true;
};

// Which of many strings a value begins with, or differs from.
//
// The strings are sorted.  Whatever stands between a prefix of the value and the value also begins with that
// prefix, so all prefixes of the value are on the chain of prefixes of the last string that is not greater.
class SortedStrings {
  public:
    void add(const char* text, std::size_t length, u32 literal) {
        strings_.push_back({std::string(text, length), literal, NONE});
    }
    bool empty() const { return strings_.empty(); }

    void seal() {
        std::sort(strings_.begin(), strings_.end(), [](const Entry& a, const Entry& b) {
            return a.text != b.text ? a.text < b.text : a.literal < b.literal;
        });
        for (u32 i = 0; i < strings_.size(); ++i) {
            literals_.push_back(strings_[i].literal);
            u32 above = i ? i - 1 : NONE;
            while (above != NONE &&
                   strings_[i].text.compare(0, strings_[above].text.size(), strings_[above].text) != 0)
                above = strings_[above].prefix;
            strings_[i].prefix = above;
        }
    }

    void begin(std::string_view value, LiteralSet& out) const {
        std::size_t after = upper(value);
        if (after == 0) return;
        u32 at = static_cast<u32>(after - 1);
        std::size_t same = 0, most = std::min(value.size(), strings_[at].text.size());
        while (same < most && value[same] == strings_[at].text[same]) ++same;
        for (; at != NONE; at = strings_[at].prefix)
            if (strings_[at].text.size() <= same) out.push(strings_[at].literal);
    }

    void differ(std::string_view value, LiteralSet& out) const {
        std::size_t after = upper(value), equal = after;
        while (equal > 0 && strings_[equal - 1].text == value) --equal;
        literals_.hold(0, equal, out);
        literals_.hold(after, strings_.size(), out);
    }

  private:
    struct Entry {
        std::string text;
        u32 literal, prefix;  // prefix: the longest other string that it begins with
    };

    std::size_t upper(std::string_view value) const {
        auto at = std::upper_bound(
            strings_.begin(), strings_.end(), value,
            [](std::string_view v, const Entry& entry) { return v < std::string_view(entry.text); });
        return static_cast<std::size_t>(at - strings_.begin());
    }

    std::vector<Entry> strings_;
    OrderedLiterals literals_;
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
        else if (predicate.op == STRING_EQ) {
            equal_.insert(text, length, hash_bytes(text, length), literal);
            if (length >= equal_length_.size()) equal_length_.resize(length + 1, 0);
            equal_length_[length] = 1;
        } else if (predicate.op == STRING_NE) different_.add(text, length, literal);
        else if (predicate.op == CONTAINS) substrings_.add(text, length, literal);
        else if (predicate.op == STARTS_WITH) starts_.add(text, length, literal);
        else if (predicate.op >= LENGTH_EQ) lengths_.add(predicate.op - LENGTH_EQ, predicate.number, literal);
        else numbers_.add(predicate.op - NUMBER_EQ, predicate.number, literal);
    }

    void seal() {
        numbers_.seal();
        lengths_.seal();
        substrings_.seal();
        starts_.seal();
        different_.seal();
    }

    const SubstringIndex& substrings() const { return substrings_; }
    bool has_numbers() const { return !numbers_.empty(); }
    bool has_lengths() const { return !lengths_.empty(); }

    // Appends the literals that hold for the value, except those of `contains` and of the value as a number.
    void compare(const char* value, std::size_t length, std::size_t characters, LiteralSet& out) const {
        out.literals.insert(out.literals.end(), exists_.begin(), exists_.end());
        if (length < equal_length_.size() && equal_length_[length])
            out.push(equal_.find(value, length, hash_bytes(value, length)));
        if (!lengths_.empty()) lengths_.evaluate(static_cast<double>(characters), out);
        if (!starts_.empty()) starts_.begin({value, length}, out);
        if (!different_.empty()) different_.differ({value, length}, out);
    }

    void compare_number(double number, LiteralSet& out) const { numbers_.evaluate(number, out); }

    // Appends all literals that hold for the value.
    void evaluate(const char* value, std::size_t length, LiteralSet& out) {
        compare(value, length, lengths_.empty() ? 0 : code_points(value, length), out);
        if (!numbers_.empty()) numbers_.evaluate(to_number(value, length), out);
        if (substrings_.empty()) return;
        found_.begin();
        found_.scan(value, length, 0);
        found_.within(0, out.literals);
    }

  private:
    std::vector<u32> exists_;
    std::vector<u8> equal_length_;  // by length: whether some value that is compared with has it
    NameTable equal_;
    SortedStrings starts_, different_;
    Thresholds numbers_, lengths_;
    SubstringIndex substrings_;
    Occurrences found_{substrings_};
};

// The name tests of a segment that admit a name, as expat gives it: `local` or `uri \f local`.
class NameTests {
  public:
    explicit NameTests(const Segment& segment) {
        for (u32 t = 0; t < segment.test_count(); ++t) {
            const NameTest& test = segment.tests[t];
            std::string space =
                test.space == NONE ? "" : std::string(segment.strings + test.space, test.space_length);
            std::string local =
                test.local == NONE ? "" : std::string(segment.strings + test.local, test.local_length);
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
        if (any_space_.size())
            push(any_space_.find(local, local_length, hash_bytes(local, local_length)), out);
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

    // Returns the cached block of a value for these groups, or NONE; a following `insert` stores it for the
    // same value.
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
        for (u32 p = 0; p < segment.predicate_count(); ++p) {
            const Predicate& predicate = segment.predicates[p];
            if (predicate.kind != ON_ATTRIBUTE) {
                element_[predicate.kind].add(segment, p);
                continue;
            }
            u32 group = group_of_.find(predicate.test);
            if (group == NONE) {
                group_of_.insert(predicate.test, group = static_cast<u32>(attribute_.size()));
                attribute_.emplace_back();
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
                u32 group = group_of_.find(test);
                if (group != NONE) scratch_[kept++] = group;
            }
            scratch_.resize(kept);
            groups = group_lists_.intern(scratch_);
            attribute_names_.remember(name, length, hash, groups);
        }
        return groups;
    }

    void on_attribute(u32 groups, const char* value, std::size_t length, LiteralSet& out) {
        for (u32 group : group_lists_[groups]) attribute_[group].evaluate(value, length, out);
    }

    void on_text(u32 kind, const char* value, std::size_t length, LiteralSet& out) {
        element_[kind].evaluate(value, length, out);
    }

    const PredicateGroup& on_string() const { return element_[ON_STRING]; }
    std::size_t bytes() const { return attribute_names_.bytes() + group_lists_.bytes(); }

  private:
    const NameTests& names_;
    PredicateGroup element_[ON_STRING + 1];
    std::deque<PredicateGroup> attribute_;  // never moved: a group refers to parts of itself
    FlatMap group_of_;                      // by name test
    NameTable attribute_names_;
    ListPool group_lists_;
    std::vector<u32> scratch_;
};

}  // namespace twigcast
