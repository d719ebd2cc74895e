// What a matcher is told about how to work, and what it tells about its work.
#pragma once

#include "flat.hpp"

namespace twigcast {

struct MatcherStats {
    u64 documents = 0, elements = 0, closes = 0, memo_tries = 0, memo_hits = 0, flushes = 0, rekeys = 0;
    u64 path_nodes = 0, states = 0, components = 0, bytes = 0, work = 0;
};

struct Tuning {
    std::size_t cache_bytes = 512u << 20;
    bool programs = true, memo = true;
    bool dead_places = true, shared_copies = true;  // of the rewriter
    std::size_t text_bytes = 1u << 16;              // of an element in parts; a longer text is summarised
};

struct Label {  // the name of an element
    const char* name;
    std::size_t length;
    u64 hash;
};

struct Candidate {
    u32 position;
    u64 count;
};

}  // namespace twigcast
