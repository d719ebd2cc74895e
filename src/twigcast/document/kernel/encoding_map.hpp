// Encodings that expat does not know, as it asks for them: a table of bytes, and one of pairs of bytes if
// need be.
#pragma once

#include "expat_parser.hpp"
#include "integers.hpp"

namespace twigcast {

// Fills the table of 256 bytes, and gives the table of pairs if some characters have several bytes; 0 if the
// encoding is unknown.  The tables are those of pair_table in twigcast/document/encodings.py.
using EncodingMap = int (*)(const char* name, int* map, const u16** pairs);

inline int multibyte_point(void* pairs, const char* bytes) {
    const auto* points = static_cast<const u16*>(pairs);
    auto byte = [&](int i) { return static_cast<unsigned char>(bytes[i]); };
    const bool is_triple = byte(0) == points[0];
    const u16 point = points[is_triple ? 0x10000 | byte(1) << 8 | byte(2) : byte(0) << 8 | byte(1)];
    return point ? point : -1;
}

inline int map_encoding(EncodingMap encoding, const char* name, XML_Encoding* info) {
    const u16* pairs = nullptr;
    if (!encoding(name, info->map, &pairs)) return XML_STATUS_ERROR;
    info->data = const_cast<u16*>(pairs);
    info->convert = pairs ? multibyte_point : nullptr;
    info->release = nullptr;
    return XML_STATUS_OK;
}

}  // namespace twigcast
