// What a part of a document shows about all subscriptions: a partial.
//
//   accepted   positions that match whatever the other parts contain
//   entries    elements that the part does not finish: open at its begin or end, or with a hole in them
//   members    the numbers of the fragments in it
//
// An entry has the literals that hold for its element so far.  Frames are sets, so the entry of an element is
// the union of its entries in all parts, and the element can be closed when it is complete: started, ended,
// and all holes in it filled.  Merging is commutative, associative and idempotent; after `Joiner::derive` has
// closed elements, only partials without common members may be merged.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "literals.hpp"
#include "text_items.hpp"

namespace twigcast {

// The literals of one segment that hold for an element; `first` are those of its first text node, which is at
// a place.
struct PieceLiterals {
    static constexpr u64 NOWHERE = ~0ull;

    std::vector<u32> atoms;
    LiteralSet predicates, first;
    u64 first_place = NOWHERE;

    bool empty() const { return atoms.empty() && predicates.empty() && first_place == NOWHERE; }
    void merge(const PieceLiterals& other);
};

struct Entry {
    u64 parent = 0;
    u32 depth = 0;
    std::string name;  // as the parser spells it
    bool started = false, ended = false;
    std::vector<u64> opened, filled;      // holes, sorted
    std::vector<PieceLiterals> literals;  // by segment
    std::vector<TextItem> text;           // for the string-value, sorted by place

    bool is_complete() const { return started && ended && opened == filled; }
    bool merge(const Entry& other);
};

// Distinct numbers as ranges [from, to).
class NumberRanges {
  public:
    struct Range {
        u64 from, to;
    };

    bool has(u64 number) const;
    bool intersects(const NumberRanges& other) const;
    void add(u64 from, u64 to);
    void merge(const NumberRanges& other) {
        for (const Range& range : other.ranges) add(range.from, range.to);
    }

    std::vector<Range> ranges;  // sorted, not adjacent
};

class Partial {
  public:
    static constexpr u64 DOCUMENT = 0;

    std::string version;  // of the index, whose numbers the literals are
    NumberRanges members;
    std::vector<u64> accepted;     // bits by position
    std::vector<u32> left;         // positions of schemas that do not describe the document, sorted
    std::map<u64, Entry> entries;  // by node id; each has its parent here, but for the document
    u64 bytes = 0, elements = 0;
    u32 depth = 0, attributes = 0;
    bool decided = false;  // the document is complete, and `accepted` is its answer

    std::size_t unfinished() const { return entries.size(); }
    // Adds an entry, or what is new in it; false if it contradicts the one that is there.
    bool add(u64 id, Entry&& entry);
    // False if the partials contradict each other; this one is then of no use any more.
    bool merge(const Partial& other);

    // Appends the ids and names of the elements from the root to one that has an entry; false if it has none.
    bool path(u64 id, std::vector<std::pair<u64, std::string>>& out) const {
        for (; id != DOCUMENT; id = entries.at(id).parent) {
            auto found = entries.find(id);
            if (found == entries.end()) return false;
            out.emplace_back(id, found->second.name);
        }
        std::reverse(out.begin(), out.end());
        return true;
    }

    void encode(std::string& out) const;
    // Throws std::invalid_argument if the bytes are no partial for segments with this many literals and
    // positions.
    static Partial decode(const char* bytes, std::size_t length, const std::vector<u32>& literals,
                          u32 positions);
};

template <class T>
inline void unite_sorted(std::vector<T>& items, const std::vector<T>& more) {
    if (more.empty()) return;
    std::size_t middle = items.size();
    items.insert(items.end(), more.begin(), more.end());
    if (middle == 0) return;
    std::inplace_merge(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(middle), items.end());
    items.erase(std::unique(items.begin(), items.end()), items.end());
}

inline void PieceLiterals::merge(const PieceLiterals& other) {
    unite_sorted(atoms, other.atoms);
    if (!other.predicates.empty()) {
        predicates.append(other.predicates);
        predicates.normalise();
    }
    if (other.first_place < first_place) {
        first_place = other.first_place;
        first = other.first;
    }
}

inline bool Entry::merge(const Entry& other) {
    if (parent != other.parent || depth != other.depth || name != other.name) return false;
    started = started || other.started;
    ended = ended || other.ended;
    unite_sorted(opened, other.opened);
    unite_sorted(filled, other.filled);
    if (literals.size() < other.literals.size()) literals.resize(other.literals.size());
    for (std::size_t i = 0; i < other.literals.size(); ++i) literals[i].merge(other.literals[i]);
    for (const TextItem& item : other.text) {
        auto at = std::lower_bound(text.begin(), text.end(), item.place,
                                   [](const TextItem& each, u64 place) { return each.place < place; });
        if (at == text.end() || at->place != item.place) text.insert(at, item);
    }
    return true;
}

inline bool NumberRanges::has(u64 number) const {
    auto after = std::upper_bound(ranges.begin(), ranges.end(), number,
                                  [](u64 value, const Range& range) { return value < range.from; });
    return after != ranges.begin() && number < (after - 1)->to;
}

inline bool NumberRanges::intersects(const NumberRanges& other) const {
    for (std::size_t i = 0, j = 0; i < ranges.size() && j < other.ranges.size();) {
        const Range &a = ranges[i], &b = other.ranges[j];
        if (a.from < b.to && b.from < a.to) return true;
        a.to <= b.to ? ++i : ++j;
    }
    return false;
}

inline void NumberRanges::add(u64 from, u64 to) {
    auto first = std::lower_bound(ranges.begin(), ranges.end(), from,
                                  [](const Range& range, u64 value) { return range.to < value; });
    auto last = first;
    for (; last != ranges.end() && last->from <= to; ++last) {
        from = std::min(from, last->from);
        to = std::max(to, last->to);
    }
    first = ranges.erase(first, last);
    ranges.insert(first, Range{from, to});
}

inline bool Partial::add(u64 id, Entry&& entry) {
    auto found = entries.find(id);
    if (found != entries.end()) return found->second.merge(entry);
    entries.emplace(id, std::move(entry));
    return true;
}

inline bool Partial::merge(const Partial& other) {
    members.merge(other.members);
    if (accepted.size() < other.accepted.size()) accepted.resize(other.accepted.size(), 0);
    for (std::size_t w = 0; w < other.accepted.size(); ++w) accepted[w] |= other.accepted[w];
    unite_sorted(left, other.left);
    bytes += other.bytes;
    elements += other.elements;
    depth = std::max(depth, other.depth);
    attributes = std::max(attributes, other.attributes);
    for (const auto& [id, entry] : other.entries) {
        auto found = entries.find(id);
        if (found == entries.end()) entries.emplace(id, entry);
        else if (!found->second.merge(entry)) return false;
    }
    return true;
}

}  // namespace twigcast

#include "partial_format.hpp"
