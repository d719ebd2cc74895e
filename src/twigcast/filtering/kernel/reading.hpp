// What a reader of documents is told, and what it tells: limits, encodings, figures, errors.
#pragma once

#include <string>

#include "flat.hpp"
#include "twigcast/document/kernel/codes.hpp"

namespace twigcast {

struct Limits {
    u64 bytes = 256ull << 20;
    u32 depth = 1000, attributes = 1000;
    float amplification = 100.0f;
    u64 amplification_threshold = 8ull << 20;
    u32 entity_depth = 64;
    double matching_work = 5000.0;  // steps per byte of the document, for all matchers together
    u64 matching_work_threshold = 1ull << 28;
};

struct Figures {
    u64 elements = 0;
    u32 depth = 0, attributes = 0;  // the greatest depth, the most attributes of one element
};

struct ReadError {
    int code = NO_FAULT;
    u64 line = 0, column = 0, offset = 0;  // as expat counts: lines from 1, columns from 0
};

// How documents are read in encodings that expat does not know.
struct Encodings {
    enum Kind { UNKNOWN, TABLE, TRANSCRIBED };
    int (*table)(const char* name,
                 int* map) = nullptr;  // fills 256 code points (-1: no character); returns the kind
    bool (*transcribe)(const char* name, const char* bytes, u64 length, std::string& utf8) = nullptr;
    u64 (*locate)(const char* name, const char* bytes, u64 length, const std::string& utf8,
                  u64 offset) = nullptr;
};

}  // namespace twigcast
