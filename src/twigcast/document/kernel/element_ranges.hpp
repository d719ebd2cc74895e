// The byte ranges of all elements of a document, in document order: where a parser that has no offsets is used.
#pragma once

#include "encoding_map.hpp"

#include <vector>

namespace twigcast {

class ElementRanges {
public:
    std::vector<std::uint64_t> ranges;  // start and end of each element; of one from an entity, the reference

    // False if the document is not well-formed.
    bool read(const char* data, std::size_t size, EncodingMap encoding) {
        XML_Parser parser = XML_ParserCreate(nullptr);
        parser_ = parser;
        encoding_ = encoding;
        XML_SetUserData(parser, this);
        XML_SetElementHandler(parser, on_start, on_end);
        XML_SetUnknownEncodingHandler(parser, on_encoding, this);
        const bool good = XML_Parse(parser, data, static_cast<int>(size), 1) == XML_STATUS_OK;
        XML_ParserFree(parser);
        return good;
    }

private:
    static void on_start(void* self, const char*, const char**) {
        ElementRanges& own = *static_cast<ElementRanges*>(self);
        const auto at = static_cast<std::uint64_t>(XML_GetCurrentByteIndex(own.parser_));
        own.open_.push_back(own.ranges.size());
        own.ranges.push_back(at);
        own.ranges.push_back(at);
    }

    static void on_end(void* self, const char*) {
        ElementRanges& own = *static_cast<ElementRanges*>(self);
        const auto at = static_cast<std::uint64_t>(XML_GetCurrentByteIndex(own.parser_));
        const auto count = static_cast<std::uint64_t>(XML_GetCurrentByteCount(own.parser_));
        own.ranges[own.open_.back() + 1] = at + count;
        own.open_.pop_back();
    }

    static int on_encoding(void* self, const char* name, XML_Encoding* info) {
        return map_encoding(static_cast<ElementRanges*>(self)->encoding_, name, info);
    }

    XML_Parser parser_ = nullptr;
    EncodingMap encoding_ = nullptr;
    std::vector<std::size_t> open_;
};

}  // namespace twigcast
