// The structure of a document, computed while it is parsed: its element tree with equal siblings merged.
//
//   <r><a><b/></a><a><b/></a><a/></r>    ─►    0 b    1 a {0}    2 a    3 r {1, 2}
//
// A shape is a name and the set of child shapes; it gets its number when the first element that has it ends.
// The value, its definition over a tree and the encoding are those of twigcast/document/structure.py.
//
// Cost: an element without children is an array look-up, any other a hash of its distinct child shapes.
#pragma once

#include <array>

#include "document_tree.hpp"

namespace twigcast {

constexpr u8 STRUCTURE_VERSION = 1;
enum StructureFlags : u8 { WITH_ATTRIBUTES = 1, WITH_TABLE = 2 };
constexpr std::size_t TABLE_ID_BYTES = 8, CHECKSUM_BYTES = 4;
constexpr std::size_t MOST_STRUCTURE_BYTES = 4
                                             << 20;  // of an encoding; a document with a larger one has none

inline u32 crc32(const char* bytes, std::size_t length) {
    static const std::array<u32, 256> table = [] {
        std::array<u32, 256> made{};
        for (u32 i = 0; i < 256; ++i) {
            u32 c = i;
            for (int bit = 0; bit < 8; ++bit) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
            made[i] = c;
        }
        return made;
    }();
    u32 c = ~0u;
    for (std::size_t i = 0; i < length; ++i) c = table[(c ^ static_cast<u8>(bytes[i])) & 0xFF] ^ (c >> 8);
    return ~c;
}

// Names that sender and receiver of structures both know; a name is spelled as expat gives it: `local` or
// `uri \f local`.
class KnownNames {
  public:
    struct Known {
        std::string name;
        u64 hash;
    };
    std::string id;
    std::vector<Known> names;

    void add(const std::string& name) {
        numbers_.insert(name, static_cast<u32>(names.size()));
        names.push_back(Known{name, hash_bytes(name.data(), name.size())});
    }
    u32 number(const char* name, std::size_t length, u64 hash) const {
        return numbers_.find(name, length, hash);
    }

  private:
    NameTable numbers_;
};

class StructureBuilder {
  public:
    bool with_attributes = false;
    u64 elements = 0;
    u32 depth = 0, attributes = 0;  // of the document that was read

    // Writes these names as their numbers from now on; null if there are none that the receiver knows.
    void use(const KnownNames* known) {
        known_ = known;
        forget();
    }

    void begin() {
        if (names_.size() > MOST_NAMES) forget();
        if (bytes() > KEPT_BYTES || ++document_ == 0) {
            release(shapes_), release(children_), release(open_), release(seen_), release(slots_);
            forget();
            document_ = 1;
        }
        shapes_.clear(), children_.clear(), open_.clear(), seen_.clear(), frames_.clear();
        elements = 0;
        depth = attributes = instance_ = roots_ = 0;
        given_up_ = false;
    }

    void start(const char* name, std::size_t length, u64 hash, const char** given) {
        ++elements;
        u32 count = 0;
        for (const char** at = given; *at; at += 2) ++count;
        attributes = std::max(attributes, count);
        if (given_up_) return;
        const u32 list = with_attributes && count ? attribute_list(given) : 0;
        frames_.push_back(
            Frame{name_number(name, length, hash), list, ++instance_, static_cast<u32>(open_.size())});
        depth = std::max(depth, static_cast<u32>(frames_.size()));
    }

    void end() {
        if (given_up_) return;
        const Frame frame = frames_.back();
        frames_.pop_back();
        const u32 shape = frame.first == open_.size() && !frame.attributes ? leaf(frame.name) : intern(frame);
        open_.resize(frame.first);
        if (frames_.empty()) return void(++roots_);
        // A shape that this parent was the last to get need not be given to it again; other repetitions go
        // with `unique`.
        if (seen_[shape] == frames_.back().instance) return;
        seen_[shape] = frames_.back().instance;
        open_.push_back(shape);
    }

    // Returns whether the document has a structure within the limits; an image with several roots has none.
    bool encode(u64 most_elements, u32 most_depth, u32 most_attributes, std::string& out) {
        out.clear();
        if (given_up_ || roots_ != 1 || elements > most_elements || depth > most_depth ||
            attributes > most_attributes)
            return false;
        std::string shapes, names;
        u32 next = known_ ? static_cast<u32>(known_->names.size()) : 0, extra = 0;
        auto put_name = [&](u32 number) {
            Name& name = name_of_[number];
            if (name.known == NONE && name.written != document_) {
                name.written = document_;
                name.number = next + extra++;
                put_spelling(names, name.spelling);
            }
            put(shapes, name.known == NONE ? name.number : name.known);
        };
        for (u32 i = 0; i < shapes_.size(); ++i) {
            const Shape& shape = shapes_[i];
            put_name(shape.name);
            if (with_attributes) {
                put(shapes, lists_[shape.attributes].size);
                for (u32 name : lists_[shape.attributes]) put_name(name);
            }
            put(shapes, shape.count);
            u32 after = i;
            for (u32 c = shape.count; c-- > 0; after = children_[shape.first + c])
                put(shapes, after - children_[shape.first + c] - 1);
        }
        out.push_back(static_cast<char>(STRUCTURE_VERSION));
        out.push_back(static_cast<char>((with_attributes ? WITH_ATTRIBUTES : 0) | (known_ ? WITH_TABLE : 0)));
        if (known_) out += known_->id;
        put(out, elements);
        put(out, attributes);
        put(out, extra);
        out += names;
        put(out, shapes_.size());
        out += shapes;
        const u32 checksum = crc32(out.data(), out.size());
        for (u32 byte = 0; byte < CHECKSUM_BYTES; ++byte)
            out.push_back(static_cast<char>(checksum >> (8 * byte)));
        return out.size() <= MOST_STRUCTURE_BYTES;
    }

  private:
    static constexpr std::size_t MOST_NAMES = 1 << 14, KEPT_BYTES = 1 << 22;

    struct Name {
        std::string spelling;
        u32 known;                    // number in the table of known names, or NONE
        u32 leaf = 0, leaf_in = 0;    // shape of an element without children, in the document `leaf_in`
        u32 number = 0, written = 0;  // number in the encoding of the document `written`
    };
    struct Shape {
        u32 name, attributes, first, count;
    };
    struct Frame {
        u32 name, attributes, instance, first;  // first: of its child shapes, in `open_`
    };
    struct Slot {
        u64 hash = 0;
        u32 shape = 0, document = 0;
    };

    std::size_t bytes() const {
        return bytes_of(shapes_) + bytes_of(children_) + bytes_of(open_) + bytes_of(seen_) + bytes_of(slots_);
    }

    void forget() {
        names_.clear();
        release(name_of_);
        lists_.clear(), written_lists_.clear();
        sorted_.assign(1, 0);
    }

    u32 name_number(const char* name, std::size_t length, u64 hash) {
        u32 number = names_.find(name, length, hash);
        if (number == NONE) {
            number = static_cast<u32>(name_of_.size());
            names_.insert(name, length, hash, number);
            name_of_.push_back(
                Name{std::string(name, length), known_ ? known_->number(name, length, hash) : NONE});
        }
        return number;
    }

    // The list of the names of attributes in ascending order of namespace and local name.
    u32 attribute_list(const char** given) {
        scratch_.clear();
        for (; *given; given += 2) {
            const std::size_t length = std::strlen(*given);
            scratch_.push_back(name_number(*given, length, hash_bytes(*given, length)));
        }
        const u32 written = written_lists_.intern(scratch_);
        if (written < sorted_.size()) return sorted_[written];
        std::sort(scratch_.begin(), scratch_.end(),
                  [this](u32 a, u32 b) { return in_parts(a) < in_parts(b); });
        sorted_.push_back(lists_.intern(scratch_));
        return sorted_.back();
    }

    std::pair<std::string_view, std::string_view> in_parts(u32 number) const {
        const twigcast::Name name = split_name(name_of_[number].spelling);
        return {name.space, name.local};
    }

    u32 leaf(u32 number) {
        Name& name = name_of_[number];
        if (name.leaf_in != document_) {
            name.leaf_in = document_;
            name.leaf = add(number, 0, nullptr, 0);
        }
        return name.leaf;
    }

    u32 intern(const Frame& frame) {
        u32 *from = open_.data() + frame.first, *to = open_.data() + open_.size();
        if (!std::is_sorted(from, to)) std::sort(from, to);
        const u32 count = static_cast<u32>(std::unique(from, to) - from);
        const u64 hash = fold(hash_list(from, count) ^ (u64(frame.name) << 32 | frame.attributes), secret[1]);
        if ((shapes_.size() + 1) * 2 > slots_.size()) grow();
        std::size_t i = hash & (slots_.size() - 1);
        for (; slots_[i].document == document_; i = (i + 1) & (slots_.size() - 1)) {
            const Shape& shape = shapes_[slots_[i].shape];
            if (slots_[i].hash == hash && shape.name == frame.name && shape.attributes == frame.attributes &&
                shape.count == count && std::equal(from, from + count, children_.begin() + shape.first))
                return slots_[i].shape;
        }
        slots_[i] = Slot{hash, static_cast<u32>(shapes_.size()), document_};
        return add(frame.name, frame.attributes, from, count);
    }

    u32 add(u32 name, u32 attribute_names, const u32* from, u32 count) {
        shapes_.push_back(Shape{name, attribute_names, static_cast<u32>(children_.size()), count});
        if (count) children_.insert(children_.end(), from, from + count);
        seen_.push_back(0);
        if (2 * shapes_.size() + children_.size() > MOST_STRUCTURE_BYTES) given_up_ = true;
        return static_cast<u32>(shapes_.size() - 1);
    }

    void grow() {
        std::vector<Slot> old;
        old.swap(slots_);
        slots_.resize(old.empty() ? 256 : old.size() * 2);
        for (const Slot& slot : old) {
            if (slot.document != document_) continue;
            std::size_t i = slot.hash & (slots_.size() - 1);
            while (slots_[i].document == document_) i = (i + 1) & (slots_.size() - 1);
            slots_[i] = slot;
        }
    }

    static void put(std::string& out, u64 number) {
        for (; number >= 0x80; number >>= 7) out.push_back(static_cast<char>((number & 0x7F) | 0x80));
        out.push_back(static_cast<char>(number));
    }

    static void put_spelling(std::string& out, const std::string& spelling) {
        const twigcast::Name name = split_name(spelling);
        put(out, name.local.size() + (name.space.empty() ? 0 : name.space.size() + 3));
        if (!name.space.empty()) out.append("Q{").append(name.space).append("}");
        out.append(name.local);
    }

    const KnownNames* known_ = nullptr;
    NameTable names_;
    std::vector<Name> name_of_;
    ListPool lists_, written_lists_;  // names of attributes, in order and as they are written
    std::vector<u32> sorted_ = {0};   // by list as it is written: the list in order
    std::vector<Shape> shapes_;
    std::vector<u32> children_, open_, seen_, scratch_;  // open_: child shapes of the open elements
    std::vector<Frame> frames_;
    std::vector<Slot> slots_;
    u32 document_ = 0, instance_ = 0, roots_ = 0;
    bool given_up_ = false;
};

}  // namespace twigcast
