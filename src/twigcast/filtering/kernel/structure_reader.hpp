// Matches the encoded structure of a document: decodes it, and sends the elements of the merged tree to
// matchers.
//
//   bytes ─► shapes (a DAG) ─► start and end events of the tree that it stands for ─► the same matchers as
//   for documents
//
// The content of an encoding is not trusted.  It is checked as a whole before anything is sent: numbers are
// in range, the tree has no more elements than the encoding states, and that number is limited.  What no
// matcher looks into is not expanded.  The checks are those of twigcast/document/structure.py.
#pragma once

#include "sinks.hpp"

namespace twigcast {

struct StructureLimits {
    u64 elements = 0;
    u32 depth = 0, attributes = 0;
    double work = 0;  // steps per byte of the encoding, for all matchers together
    u64 work_threshold = 0;
};

enum StructureCode : int {
    STRUCTURE_READ,
    NOT_A_STRUCTURE,
    UNKNOWN_NAMES,
    STRUCTURE_LIMIT,
    STRUCTURE_TOO_COSTLY
};

struct StructureFault {
    int code = STRUCTURE_READ;
    const char* message = nullptr;
};

// What structures of one kind, with or without the names of attributes, are matched with.
struct StructureMatching {
    Sinks sinks;
    std::vector<u64> not_certain,
        not_open;  // positions that are left out of the matches; of those that are only possible
    bool is_ready = false, leaves_open = false;

    // `open` has the positions that a structure cannot decide.
    void separate(const std::vector<u64>& gone, const std::vector<u64>& open) {
        not_certain = not_open = gone;
        leaves_open = false;
        for (std::size_t w = 0; w < gone.size(); ++w) {
            leaves_open = leaves_open || open[w];
            not_certain[w] |= open[w], not_open[w] |= ~open[w];
        }
    }
};

class StructureReader {
  public:
    StructureLimits limits;
    StructureMatching matching[2];  // of structures without the names of attributes, and with them

    // Decodes a structure; afterwards `match` can be called, as long as the known names exist.
    StructureFault open(const char* bytes, std::size_t length, const KnownNames* known) {
        if (length < 2 + CHECKSUM_BYTES) return fault("the structure is truncated");
        if (static_cast<u8>(bytes[0]) != STRUCTURE_VERSION) return fault("the structure has another format");
        if (length > MOST_STRUCTURE_BYTES) return limit("the structure is too large");
        at_ = bytes + 2;
        end_ = bytes + length - CHECKSUM_BYTES;
        length_ = length;
        problem_ = nullptr;
        u32 checksum = 0;
        for (u32 byte = 0; byte < CHECKSUM_BYTES; ++byte)
            checksum |= u32(static_cast<u8>(end_[byte])) << (8 * byte);
        if (checksum != crc32(bytes, length - CHECKSUM_BYTES))
            return fault("the structure was altered: its checksum is wrong");
        const u8 flags = static_cast<u8>(bytes[1]);
        if (flags & ~(WITH_ATTRIBUTES | WITH_TABLE)) return fault("the structure has unknown flags");
        if (flags & WITH_TABLE) {
            if (static_cast<std::size_t>(end_ - at_) < TABLE_ID_BYTES)
                return fault("the structure is truncated");
            if (!known || std::memcmp(at_, known->id.data(), TABLE_ID_BYTES) != 0)
                return StructureFault{UNKNOWN_NAMES,
                                      "the structure has the names of a table that is not given"};
            at_ += TABLE_ID_BYTES;
        }
        known_ = flags & WITH_TABLE ? known : nullptr;
        const u64 elements = number(), attributes = number();
        if (problem_) return fault(problem_);
        if (elements > limits.elements) return limit("the structure is of a document with too many elements");
        if (attributes > limits.attributes)
            return limit("the structure is of a document with too many attributes");
        read_names();
        if (!problem_) read_shapes(flags & WITH_ATTRIBUTES, attributes, elements);
        if (!problem_ && at_ != end_) problem_ = "the structure has bytes after its end";
        if (problem_) return fault(problem_);
        if (depth_ > limits.depth) return limit("the structure is of a document with too many levels");
        if (tree_size_ > elements)
            return fault("the structure has a larger tree than the document it describes");
        return StructureFault{};
    }

    // Sends the events of the merged tree; `result` must have room for all positions, and is cleared.
    StructureFault match(Sinks& sinks, u64* result, std::size_t words) {
        std::fill_n(result, words, 0);
        const double work = std::min(limits.work * static_cast<double>(length_), 9e18);
        const u64 most = std::max(limits.work_threshold, static_cast<u64>(work));
        sinks.begin(result, length_, false, most);
        u64 left = most / EVENT_WORK;
        open_.clear();
        start(static_cast<u32>(shapes_.size() - 1), sinks);
        while (!open_.empty()) {
            Open& last = open_.back();
            if (last.next < last.end) {
                start(children_[last.next++], sinks);
                if (left-- == 0 || sinks.too_costly)
                    return StructureFault{STRUCTURE_TOO_COSTLY,
                                          "matching the structure takes too many steps"};
            } else {
                sinks.end();
                open_.pop_back();
            }
        }
        sinks.finish();
        return StructureFault{};
    }

  private:
    static constexpr u64 EVENT_WORK = 16;  // steps for an element, beside those that matchers count

    struct Shape {
        u32 name, first, end;                    // of its children
        std::size_t attributes = NO_ATTRIBUTES;  // where they begin in `attributes_`
    };
    struct Open {
        u32 next, end;
    };
    static constexpr std::size_t NO_ATTRIBUTES = 0;

    static StructureFault fault(const char* message) { return StructureFault{NOT_A_STRUCTURE, message}; }
    static StructureFault limit(const char* message) { return StructureFault{STRUCTURE_LIMIT, message}; }

    void start(u32 number, Sinks& sinks) {
        const Shape& shape = shapes_[number];
        const Label name = label(shape.name);
        sinks.start(name.name, name.length, name.hash, attributes_.data() + shape.attributes);
        if (shape.first == shape.end || sinks.is_skipping()) sinks.end();
        else open_.push_back(Open{shape.first, shape.end});
    }

    // The next number; 0 after a problem.
    u64 number() {
        u64 value = 0;
        for (u32 shift = 0;; shift += 7) {
            if (at_ == end_) return problem_ = "the structure is truncated", 0;
            const u8 byte = static_cast<u8>(*at_++);
            value |= u64(byte & 0x7F) << shift;
            if (byte < 0x80) {
                if (!byte && shift) problem_ = "the structure has a number with a leading zero";
                return problem_ ? 0 : value;
            }
            if (shift == 56) return problem_ = "the structure has too large a number", 0;
        }
    }

    // A number of things that take a byte or more each.
    u64 count() {
        const u64 value = number();
        if (value > static_cast<u64>(end_ - at_)) return problem_ = "the structure is truncated", 0;
        return value;
    }

    Label label(u32 number) const {
        if (number >= known_count_) return names_[number - known_count_];
        const KnownNames::Known& known = known_->names[number];
        return Label{known.name.c_str(), known.name.size(), known.hash};
    }

    void read_names() {
        known_count_ = known_ ? static_cast<u32>(known_->names.size()) : 0;
        names_.clear(), spellings_.clear(), hashes_.clear();
        for (u64 i = count(); i > 0 && !problem_; --i) {
            const u64 length = count();
            if (problem_) return;
            names_.push_back(Label{nullptr, spelling(at_, length), 0});
            at_ += length;
        }
        if (problem_) return;
        const char* text = spellings_.data();
        for (Label& name : names_) {
            name.name = text;
            name.hash = hash_bytes(text, name.length);
            if (known_ && known_->number(text, name.length, name.hash) != NONE)
                problem_ = "the structure has a name twice";
            hashes_.push_back(name.hash);
            text += name.length + 1;
        }
        if (has_twice(hashes_)) problem_ = "the structure has a name twice";
    }

    // Appends a name as expat gives it, with a zero behind it; returns its length.
    std::size_t spelling(const char* bytes, std::size_t length) {
        std::string_view text(bytes, length), space, local = text;
        if (text.substr(0, 2) == "Q{") {
            const std::size_t end = text.rfind('}');
            if (end == std::string_view::npos || end == 2)
                return problem_ = "the structure has a name that is none", 0;
            space = text.substr(2, end - 2), local = text.substr(end + 1);
        }
        if (local.empty() || local.find_first_of("{}") != std::string_view::npos || !is_xml(text))
            return problem_ = "the structure has a name that is none", 0;
        const std::size_t before = spellings_.size();
        if (!space.empty()) spellings_.append(space).push_back('\f');
        spellings_.append(local).push_back('\0');
        return spellings_.size() - before - 1;
    }

    // Whether the text is UTF-8, with characters of XML only.
    static bool is_xml(std::string_view text) {
        for (std::size_t i = 0; i < text.size();) {
            const u8 first = static_cast<u8>(text[i++]);
            if (first < 0x80) {
                if (first < 0x20 && first != '\t' && first != '\n' && first != '\r') return false;
                continue;
            }
            const u32 more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
            if (first < 0xC2 || first > 0xF4 || text.size() - i < more) return false;
            u32 point = first & (0x3F >> more);
            for (u32 k = 0; k < more; ++k, ++i) {
                if ((static_cast<u8>(text[i]) & 0xC0) != 0x80) return false;
                point = point << 6 | (static_cast<u8>(text[i]) & 0x3F);
            }
            const bool too_short = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
            const bool surrogate = point >= 0xD800 && point < 0xE000;
            if (too_short || surrogate || point > 0x10FFFF || point == 0xFFFE || point == 0xFFFF)
                return false;
        }
        return true;
    }

    u32 name(u32& unused) {
        const u64 value = number();
        if (value > unused || value >= known_count_ + names_.size())
            return problem_ = "the structure has an unknown name number", 0;
        unused = std::max(unused, static_cast<u32>(value) + 1);
        return static_cast<u32>(value);
    }

    void read_shapes(bool with_attributes, u64 attributes, u64 elements) {
        const u64 shapes = count();
        u32 unused = known_count_;  // names that the table lacks stand in the order of their first use
        u64 used = 0, most_attributes = 0;
        shapes_.clear(), children_.clear(), hashes_.clear(), sizes_.clear(), heights_.clear();
        attributes_.assign(1, nullptr);
        used_.assign(shapes, 0);
        for (u32 i = 0; i < shapes && !problem_; ++i) {
            Shape shape{name(unused), static_cast<u32>(children_.size()), 0};
            u64 hash = mix(shape.name);
            if (with_attributes) {
                const u64 given = count();
                if (given) shape.attributes = attributes_.size();
                most_attributes = std::max(most_attributes, given);
                u32 before = NONE;
                for (u64 a = 0; a < given && !problem_; ++a) {
                    const u32 own = name(unused);
                    if (problem_) return;
                    if (before != NONE && !is_less(label(before), label(own)))
                        problem_ = "the attributes of a shape are not in order";
                    before = own;
                    attributes_.push_back(label(own).name);
                    attributes_.push_back("");
                    hash = fold(hash ^ (u64(own) << 32), secret[1]);
                }
                if (given) attributes_.push_back(nullptr);
            }
            const u64 below = count();
            u64 after = i, size = 1;
            u32 height = 0;
            for (u64 c = 0; c < below && !problem_; ++c) {
                const u64 back = number() + 1;
                if (back > after) problem_ = "a child does not stand before its parent";
                if (problem_) return;
                after -= back;
                const u32 child = static_cast<u32>(after);
                used += !used_[child];
                used_[child] = 1;
                size = std::min(size + sizes_[child], elements + 1);
                height = std::max(height, heights_[child]);
                children_.push_back(child);
                hash = fold(hash ^ child, secret[1]);
            }
            shape.end = static_cast<u32>(children_.size());
            std::reverse(children_.begin() + shape.first, children_.end());
            shapes_.push_back(shape);
            sizes_.push_back(size);
            heights_.push_back(height + 1);
            hashes_.push_back(fold(hash, secret[1] ^ below));
        }
        if (problem_) return;
        if (!shapes || used != shapes - 1) problem_ = "the structure has no root element, or several";
        else if (unused != known_count_ + names_.size())
            problem_ = "the structure has a name that no shape uses";
        else if (has_twice(hashes_)) problem_ = "the structure has a shape twice";
        else if (with_attributes && most_attributes != attributes)
            problem_ = "the structure states another number of attributes than its shapes have";
        if (problem_) return;
        tree_size_ = sizes_.back();
        depth_ = heights_.back();
    }

    static bool is_less(Label a, Label b) {
        const Name left = split_name({a.name, a.length}), right = split_name({b.name, b.length});
        return std::pair(left.space, left.local) < std::pair(right.space, right.local);
    }

    // Whether two of the hashes, which nobody can choose, are equal.
    bool has_twice(const std::vector<u64>& hashes) {
        std::size_t size = 16;
        while (size < 2 * hashes.size()) size *= 2;
        slots_.assign(size, 0);
        for (u64 hash : hashes) {
            std::size_t i = hash & (size - 1);
            for (; slots_[i]; i = (i + 1) & (size - 1))
                if (slots_[i] == (hash | 1)) return true;
            slots_[i] = hash | 1;
        }
        return false;
    }

    const char *at_ = nullptr, *end_ = nullptr, *problem_ = nullptr;
    std::size_t length_ = 0;
    u32 known_count_ = 0, depth_ = 0;
    u64 tree_size_ = 0;
    const KnownNames* known_ = nullptr;
    std::vector<Label> names_;  // those that are not known
    std::string spellings_;
    std::vector<Shape> shapes_;
    std::vector<u32> children_, heights_;
    std::vector<u64> sizes_, hashes_, slots_;
    std::vector<u8> used_;
    std::vector<const char*> attributes_ = {
        nullptr};  // names and empty values, as expat gives them; a null ends each list
    std::vector<Open> open_;
};

}  // namespace twigcast
