// The byte ranges of all elements of a document, in document order: where a parser that has no offsets is
// used.
#pragma once

#include <vector>

#include "encoding_map.hpp"
#include "integers.hpp"

namespace twigcast {

class ElementRanges {
  public:
    std::vector<u64> ranges;  // start and end of each element; of one from an entity, the reference

    // False if the document is not well-formed.
    bool read(const char* data, std::size_t size, EncodingMap encoding) {
        encoding_ = encoding;
        parser_.begin(nullptr, false);
        XML_SetUserData(parser_, this);
        XML_SetElementHandler(parser_, on_start, on_end);
        XML_SetUnknownEncodingHandler(parser_, on_encoding, this);
        return parser_.parse(data, size, true) == XML_STATUS_OK;
    }

  private:
    static void on_start(void* self, const char*, const char**) {
        ElementRanges& own = *static_cast<ElementRanges*>(self);
        own.parser_.guard([&own] {
            const u64 at = own.parser_.offset();
            own.open_.push_back(own.ranges.size());
            own.ranges.push_back(at);
            own.ranges.push_back(at);
        });
    }

    static void on_end(void* self, const char*) {
        ElementRanges& own = *static_cast<ElementRanges*>(self);
        own.parser_.guard([&own] {
            const auto count = static_cast<u64>(XML_GetCurrentByteCount(own.parser_));
            own.ranges[own.open_.back() + 1] = own.parser_.offset() + count;
            own.open_.pop_back();
        });
    }

    static int on_encoding(void* self, const char* name, XML_Encoding* info) {
        return map_encoding(static_cast<ElementRanges*>(self)->encoding_, name, info);
    }

    ExpatParser parser_;
    EncodingMap encoding_ = nullptr;
    std::vector<std::size_t> open_;
};

}  // namespace twigcast
