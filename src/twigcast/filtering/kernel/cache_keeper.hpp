// When the caches of a matcher are renewed.
//
// A cache that is full is renewed: everything goes but for the label paths that two of the last documents
// had.  A cache that one document has made large is renewed a generation later, unless the documents since
// then needed what is in it.
#pragma once

#include <algorithm>

#include "automaton.hpp"
#include "flat.hpp"

namespace twigcast {

class CacheKeeper {
  public:
    explicit CacheKeeper(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    // To be called between two documents: whether to renew caches of so many bytes.
    bool is_renewal_due(std::size_t bytes, u32 document, const Automaton& automaton) {
        grown_ = std::max(grown_, bytes - std::min(bytes, bytes_before_));
        bytes_before_ = bytes;
        bool is_due = bytes > most_bytes_;
        const u32 generation = document - swept_;
        if (generation % GENERATION == 0 && generation && bytes > std::min(SMALL_CACHE, most_bytes_ / 2)) {
            is_due = is_due || grown_ > bytes / 2;
            if (generation >= LONG_AGO) {
                is_due = is_due || automaton.visited_since(document - LONG_AGO) < automaton.path_nodes() / 8;
                swept_ = document;
            }
            grown_ = 0;
        }
        return is_due;
    }

    // Whether names and symbols must go, too: they are too many, or documents can be numbered no more.
    bool are_names_due(std::size_t symbol_bytes, u32 document) const {
        return document == NONE || symbol_bytes > most_bytes_ / 8;
    }

    // Within a document, after so many elements and path nodes: whether it is time to look at the memory.
    bool is_look_due(u64 steps) const { return steps > next_look_; }
    void looked(u64 steps) { next_look_ = steps + CHECK_EVERY; }
    bool is_full(std::size_t bytes) const { return bytes > most_bytes_; }

    // Path nodes that were not visited since then are not kept; those that are kept take at most so many
    // bytes.
    u32 kept_since(u32 document) const { return document > LONG_AGO ? document - LONG_AGO : 0; }
    std::size_t kept_bytes() const { return most_bytes_ / 4; }

    void renewed(std::size_t bytes) { bytes_before_ = bytes; }
    void forget_documents() { swept_ = 0; }

  private:
    static constexpr u64 CHECK_EVERY = 1024;  // elements and path nodes between looks at the memory
    static constexpr std::size_t SMALL_CACHE = 32u << 20;   // of which nothing is evicted unless it must be
    static constexpr u32 GENERATION = 64, LONG_AGO = 1024;  // documents

    std::size_t most_bytes_, bytes_before_ = 0, grown_ = 0;
    u64 next_look_ = CHECK_EVERY;
    u32 swept_ = 0;
};

}  // namespace twigcast
