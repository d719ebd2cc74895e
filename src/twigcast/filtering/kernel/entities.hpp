// The general entities that a DTD declares: how deep they nest, and which references have no target.
//
// The same table as twigcast/document/entities.py, whose page says what it is for; here in UTF-8, as expat
// reports names and values.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flat.hpp"

namespace twigcast {

// Calls `visit(name)` for each entity reference in `text`, until it returns false.
template <class Visit>
void for_references(std::string_view text, Visit visit) {
    std::size_t at = 0;
    while ((at = text.find('&', at)) != std::string_view::npos) {
        std::size_t end = text.find_first_of("&; \t\r\n", ++at);
        if (end == std::string_view::npos) return;
        if (text[end] == ';' && end > at && text[at] != '#' && !visit(text.substr(at, end - at))) return;
        at = end;
    }
}

class EntityTable {
  public:
    void clear() {
        entities_.clear();
        numbers_.clear();
        for (const char* name : {"amp", "lt", "gt", "apos", "quot"}) entities_[number(name)].declared = true;
    }

    // Adds an entity; an external one has no value.  False if an entity is now higher than `limit`.
    bool declare(std::string_view name, std::string_view value, u32 limit) {
        const u32 own = number(name);
        if (entities_[own].declared) return true;
        std::vector<u32> references;
        for_references(value, [&](std::string_view reference) {
            references.push_back(number(reference));
            return true;
        });
        std::sort(references.begin(), references.end());
        references.erase(std::unique(references.begin(), references.end()), references.end());
        u32 height = 0;
        for (u32 reference : references) {
            entities_[reference].users.push_back(own);
            height = std::max(height, entities_[reference].height);
        }
        entities_[own].declared = true;
        entities_[own].height = height + 1;
        entities_[own].references = std::move(references);
        std::vector<u32> grown{own};
        while (!grown.empty()) {
            const Entity& entity = entities_[grown.back()];
            grown.pop_back();
            if (entity.height > limit) return false;
            for (u32 user : entity.users)
                if (entities_[user].height <= entity.height) {
                    entities_[user].height = entity.height + 1;
                    grown.push_back(user);
                }
        }
        return true;
    }

    // Whether a reference in the value of an attribute leads, directly or not, to an entity that is not
    // declared.
    bool refers_to_undeclared(std::string_view value) {
        std::vector<u32> waiting;
        ++visit_;
        auto reach = [&](u32 number) {
            if (entities_[number].visit == visit_) return;
            entities_[number].visit = visit_;
            waiting.push_back(number);
        };
        bool missing = false;
        for_references(value, [&](std::string_view name) {
            auto found = numbers_.find(std::string(name));
            missing = found == numbers_.end();
            if (!missing) reach(found->second);
            return !missing;
        });
        while (!missing && !waiting.empty()) {
            const Entity& entity = entities_[waiting.back()];
            waiting.pop_back();
            missing = !entity.declared;
            for (u32 reference : entity.references) reach(reference);
        }
        return missing;
    }

  private:
    struct Entity {
        bool declared = false;
        u32 height = 0, visit = 0;
        std::vector<u32> references, users;
    };

    u32 number(std::string_view name) {
        auto [at, is_new] = numbers_.try_emplace(std::string(name), static_cast<u32>(entities_.size()));
        if (is_new) entities_.emplace_back();
        return at->second;
    }

    std::unordered_map<std::string, u32> numbers_;
    std::vector<Entity> entities_;
    u32 visit_ = 0;
};

// How the bytes of a document become characters, to read entity names where expat reports only a range of
// bytes.
class Decoder {
  public:
    enum Kind { UTF8, UTF16_LITTLE, UTF16_BIG, TABLE };

    void begin(const char* bytes, u64 length) {
        const unsigned first = length > 0 ? static_cast<unsigned char>(bytes[0]) : 0;
        const unsigned second = length > 1 ? static_cast<unsigned char>(bytes[1]) : 1;
        if ((first == 0xFF && second == 0xFE) || (first == '<' && second == 0)) kind_ = UTF16_LITTLE;
        else if ((first == 0xFE && second == 0xFF) || (first == 0 && second == '<')) kind_ = UTF16_BIG;
        else kind_ = UTF8;
    }

    bool is_wide() const { return kind_ == UTF16_LITTLE || kind_ == UTF16_BIG; }

    // The encoding that the XML declaration names; of those that expat knows, only ISO-8859-1 needs a table.
    void declare(std::string_view encoding) {
        if (kind_ != UTF8 || encoding.size() != 10) return;
        for (std::size_t i = 0; i < 10; ++i)
            if ((encoding[i] & ~0x20) != ("ISO-8859-1"[i] & ~0x20)) return;
        kind_ = TABLE;
        for (int i = 0; i < 256; ++i) points_[i] = i;
    }

    void declare(const int* points) {
        if (kind_ != UTF8) return;
        kind_ = TABLE;
        std::copy_n(points, 256, points_);
    }

    // The length of the tag, quoted value or entity reference at the beginning of `bytes`.  Expat reports it,
    // too, but 0 after some references in values (seen with 2.5.0).
    std::size_t token_length(const char* bytes, std::size_t length) const {
        const bool wide = is_wide();
        const std::size_t width = wide ? 2 : 1, low = kind_ == UTF16_BIG ? 1 : 0;
        auto sign = [&](std::size_t i) { return wide && bytes[i + 1 - low] ? '\x7f' : bytes[i + low]; };
        char end = '\0', quote = '\0';
        for (std::size_t i = 0; i + width <= length; i += width) {
            const char c = sign(i);
            if (i == 0) end = c == '<' ? '>' : c == '&' ? ';' : c;
            else if (quote) quote = c == quote ? '\0' : quote;
            else if (c == end) return i + width;
            else if (end == '>' && (c == '"' || c == '\'')) quote = c;
        }
        return length;
    }

    std::string utf8(const char* bytes, std::size_t length) const {
        if (kind_ == UTF8) return std::string(bytes, length);
        std::string text;
        if (kind_ == TABLE) {
            for (std::size_t i = 0; i < length; ++i)
                append(text, points_[static_cast<unsigned char>(bytes[i])]);
            return text;
        }
        const std::size_t high = kind_ == UTF16_LITTLE ? 1 : 0;
        auto unit = [&](std::size_t i) {
            return static_cast<unsigned char>(bytes[i + high]) << 8 |
                   static_cast<unsigned char>(bytes[i + 1 - high]);
        };
        for (std::size_t i = 0; i + 1 < length; i += 2) {
            int point = unit(i);
            if (point >= 0xD800 && point < 0xDC00 && i + 3 < length) {
                i += 2;
                point = 0x10000 + ((point - 0xD800) << 10) + (unit(i) - 0xDC00);
            }
            append(text, point);
        }
        return text;
    }

  private:
    static void append(std::string& text, int point) {
        auto put = [&](int byte) { text.push_back(static_cast<char>(byte)); };
        if (point < 0) return;
        if (point < 0x80) return put(point);
        if (point < 0x800) put(0xC0 | point >> 6);
        else {
            if (point < 0x10000) put(0xE0 | point >> 12);
            else put(0xF0 | point >> 18), put(0x80 | (point >> 12 & 0x3F));
            put(0x80 | (point >> 6 & 0x3F));
        }
        put(0x80 | (point & 0x3F));
    }

    Kind kind_ = UTF8;
    int points_[256];
};

}  // namespace twigcast
