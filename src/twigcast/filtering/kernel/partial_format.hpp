// The bytes of a partial: magic, version of the index, members, positions, schemas, entries.
//
// Numbers are varints; sorted lists are written as differences.  Bytes from elsewhere are checked: a partial
// that was decoded is safe to merge and to derive from, whatever the bytes were.
#pragma once

#include "partial.hpp"

namespace twigcast {

class PartialWriter {
  public:
    explicit PartialWriter(std::string& out) : out_(out) {}

    void number(u64 value) {
        for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
        out_.push_back(static_cast<char>(value));
    }
    void string(const std::string& text) {
        number(text.size());
        out_.append(text);
    }
    template <class T>
    void sorted(const std::vector<T>& items) {
        number(items.size());
        u64 before = 0;
        for (T item : items) number(item - before), before = item;
    }
    void literals(const LiteralSet& set) {
        sorted(set.literals);
        number(set.ranges.size());
        for (const LiteralRange& range : set.ranges) number(range.from), number(range.to - range.from);
    }

    void summary(const TextSummary& summary) {
        number(summary.bytes);
        number(summary.characters);
        for (const std::string* text : {&summary.head, &summary.tail, &summary.number}) string(*text);
        for (const std::vector<u32>& found : summary.found) sorted(found);
    }

  private:
    std::string& out_;
};

class PartialReader {
  public:
    PartialReader(const char* bytes, std::size_t length) : at_(bytes), end_(bytes + length) {}

    bool at_end() const { return at_ == end_; }
    u64 number() {
        u64 value = 0;
        for (u32 shift = 0; shift < 64; shift += 7) {
            if (at_ == end_) fail();
            u8 byte = static_cast<u8>(*at_++);
            value |= u64(byte & 0x7F) << shift;
            if (!(byte & 0x80)) return value;
        }
        fail();
        return 0;
    }
    u32 small() {
        u64 value = number();
        if (value >= NONE) fail();
        return static_cast<u32>(value);
    }
    // A count of things that take at least one byte each.
    std::size_t count() {
        u64 value = number();
        if (value > static_cast<u64>(end_ - at_)) fail();
        return static_cast<std::size_t>(value);
    }
    std::string string() {
        std::size_t length = count();
        at_ += length;
        return std::string(at_ - length, length);
    }
    template <class T>
    void sorted(std::vector<T>& items) {
        std::size_t size = count();
        items.reserve(size);
        u64 value = 0;
        for (std::size_t i = 0; i < size; ++i) {
            u64 step = number();
            if ((i && step == 0) || value + step < value || value + step > static_cast<T>(~T(0))) fail();
            items.push_back(static_cast<T>(value += step));
        }
    }
    void literals(LiteralSet& set, u32 most) {
        sorted(set.literals);
        if (!set.literals.empty() && set.literals.back() >= most) fail();
        std::size_t size = count();
        for (std::size_t i = 0; i < size; ++i) {
            u64 from = number(), length = number();
            if (from > most || length > most - from || length == 0) fail();
            if (i && from <= set.ranges.back().to) fail();
            set.ranges.push_back(LiteralRange{static_cast<u32>(from), static_cast<u32>(from + length)});
        }
    }
    // A summary has a list of literals for each segment.
    void summary(TextSummary& summary, const std::vector<u32>& most) {
        summary.bytes = number();
        summary.characters = number();
        for (std::string* text : {&summary.head, &summary.tail, &summary.number}) *text = string();
        summary.found.resize(most.size());
        for (std::size_t i = 0; i < most.size(); ++i) {
            sorted(summary.found[i]);
            if (!summary.found[i].empty() && summary.found[i].back() >= most[i]) fail();
        }
    }
    [[noreturn]] static void fail() { throw std::invalid_argument("not a partial"); }

  private:
    const char *at_, *end_;
};

constexpr char PARTIAL_MAGIC[] = "twigpart2";

inline void Partial::encode(std::string& out) const {
    PartialWriter writer(out);
    writer.string(PARTIAL_MAGIC);
    writer.string(version);
    writer.number(members.ranges.size());
    for (const NumberRanges::Range& range : members.ranges)
        writer.number(range.from), writer.number(range.to - range.from);
    std::vector<u32> positions;
    for (std::size_t w = 0; w < accepted.size(); ++w)
        for (u64 word = accepted[w]; word; word &= word - 1)
            positions.push_back(static_cast<u32>(w * 64 + static_cast<u32>(__builtin_ctzll(word))));
    writer.sorted(positions);
    writer.sorted(left);
    for (u64 figure : {bytes, elements, u64(depth), u64(attributes), u64(decided)}) writer.number(figure);
    writer.number(entries.size());
    for (const auto& [id, entry] : entries) {
        writer.number(id);
        writer.number(entry.parent);
        writer.number(entry.depth);
        writer.string(entry.name);
        writer.number(u64(entry.started) | u64(entry.ended) << 1);
        writer.sorted(entry.opened);
        writer.sorted(entry.filled);
        writer.number(entry.literals.size());
        for (const PieceLiterals& each : entry.literals) {
            writer.sorted(each.atoms);
            writer.literals(each.predicates);
            writer.number(each.first_place + 1);  // 0: there is none
            writer.literals(each.first);
        }
        writer.number(entry.text.size());
        for (const TextItem& item : entry.text) {
            writer.number(item.place);
            writer.number(item.end - item.place);
            writer.number(item.summarised);
            if (item.summarised) writer.summary(item.summary);
            else writer.string(item.text);
        }
    }
}

inline Partial Partial::decode(const char* data, std::size_t length, const std::vector<u32>& literals,
                               u32 positions) {
    PartialReader reader(data, length);
    Partial partial;
    if (reader.string() != PARTIAL_MAGIC) PartialReader::fail();
    partial.version = reader.string();
    std::size_t size = reader.count();
    for (std::size_t i = 0; i < size; ++i) {
        u64 from = reader.number(), more = reader.number();
        if (from >> 32 || more >> 32 || more == 0) PartialReader::fail();
        partial.members.add(from, from + more);
    }
    std::vector<u32> accepted;
    reader.sorted(accepted);
    reader.sorted(partial.left);
    for (const std::vector<u32>* list : {&accepted, &partial.left})
        if (!list->empty() && list->back() >= positions) PartialReader::fail();
    partial.accepted.assign((u64(positions) + 63) / 64, 0);
    for (u32 position : accepted) partial.accepted[position >> 6] |= 1ull << (position & 63);
    partial.bytes = reader.number(), partial.elements = reader.number();
    partial.depth = reader.small(), partial.attributes = reader.small();
    partial.decided = reader.number() != 0;
    size = reader.count();
    for (std::size_t i = 0; i < size; ++i) {
        u64 id = reader.number();
        Entry entry;
        entry.parent = reader.number();
        entry.depth = reader.small();
        entry.name = reader.string();
        u64 flags = reader.number();
        if (flags > 3) PartialReader::fail();
        entry.started = flags & 1, entry.ended = flags & 2;
        reader.sorted(entry.opened);
        reader.sorted(entry.filled);
        std::size_t segments = reader.count();
        if (segments > literals.size()) PartialReader::fail();
        entry.literals.resize(segments);
        for (std::size_t s = 0; s < segments; ++s) {
            PieceLiterals& each = entry.literals[s];
            reader.sorted(each.atoms);
            if (!each.atoms.empty() && each.atoms.back() >= literals[s]) PartialReader::fail();
            reader.literals(each.predicates, literals[s]);
            each.first_place = reader.number() - 1;
            reader.literals(each.first, literals[s]);
        }
        std::size_t items = reader.count();
        for (std::size_t t = 0; t < items; ++t) {
            u64 place = reader.number();
            if (t && place <= entry.text.back().place) PartialReader::fail();
            TextItem item;
            item.place = place;
            item.end = place + reader.number();
            item.summarised = reader.number() != 0;
            if (item.summarised) reader.summary(item.summary, literals);
            else item.text = reader.string();
            entry.text.push_back(std::move(item));
        }
        if (!partial.entries.emplace(id, std::move(entry)).second) PartialReader::fail();
    }
    if (!reader.at_end()) PartialReader::fail();
    // Every entry leads to the document, one level at a time.
    for (const auto& [id, entry] : partial.entries) {
        if (id == DOCUMENT) {
            if (entry.depth || entry.parent) PartialReader::fail();
            continue;
        }
        auto parent = partial.entries.find(entry.parent);
        if (parent == partial.entries.end() || parent->second.depth + 1 != entry.depth) PartialReader::fail();
    }
    return partial;
}

}  // namespace twigcast
