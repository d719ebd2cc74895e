// The label paths of a document, each with a number.
//
//     <a> <b/> <c> <b/> </c> <b/> </a>          1: a    2: a/b    3: a/c    4: a/c/b
//
// Two elements of one name that declare different namespaces have different paths.  The table has open
// addressing and hashes the first and the last eight bytes of a name: 5 ns for each element, where a
// std::unordered_map with strings as keys took 30.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "integers.hpp"

namespace twigcast {

struct LabelPath {
    u32 parent;
    u32 hash;
    std::string name;
    std::string declared;  // the namespace declarations of the start tag, as they are written
};

class LabelPathTable {
  public:
    LabelPathTable() : paths_(1), slots_(1024) {}  // number 0 is the empty path

    u32 step(u32 parent, std::string_view name, std::string_view declared) {
        const u32 hash = hashed(parent, name, declared);
        std::size_t slot = hash & (slots_.size() - 1);
        while (const u32 number = slots_[slot]) {
            const LabelPath& path = paths_[number];
            if (path.hash == hash && path.parent == parent && path.name == name && path.declared == declared)
                return number;
            slot = (slot + 1) & (slots_.size() - 1);
        }
        const auto number = static_cast<u32>(paths_.size());
        paths_.push_back({parent, hash, std::string(name), std::string(declared)});
        slots_[slot] = number;
        if (2 * paths_.size() > slots_.size()) grow();
        return number;
    }

    const LabelPath& operator[](u32 number) const { return paths_[number]; }
    u32 size() const { return static_cast<u32>(paths_.size()); }

  private:
    static u64 word(const char* text, std::size_t size) {
        u64 made = 0;
        std::memcpy(&made, text, std::min<std::size_t>(size, 8));
        return made;
    }

    static u32 hashed(u32 parent, std::string_view name, std::string_view declared) {
        u64 hash = (parent + 1) * 0x9e3779b97f4a7c15u;
        hash = (hash ^ word(name.data(), name.size())) * 0xff51afd7ed558ccdu;
        if (name.size() > 8) hash = (hash ^ word(name.data() + name.size() - 8, 8)) * 0xc4ceb9fe1a85ec53u;
        hash += name.size();
        for (const char each : declared) hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3u;
        return static_cast<u32>(hash ^ hash >> 32);
    }

    void grow() {
        slots_.assign(2 * slots_.size(), 0);
        for (u32 number = 1; number < paths_.size(); ++number) {
            std::size_t slot = paths_[number].hash & (slots_.size() - 1);
            while (slots_[slot]) slot = (slot + 1) & (slots_.size() - 1);
            slots_[slot] = number;
        }
    }

    std::vector<LabelPath> paths_;
    std::vector<u32> slots_;
};

}  // namespace twigcast
