// The memory of a matcher: what its caches and buffers take, and when they give it back.
//
// A cache that is full is renewed: everything goes but for the label paths that two of the last documents had.  A cache
// that one document has made large is renewed a generation later, unless the documents since then needed what is in it.
// Buffers that one document has made large are released before the next.  This file has methods of the class Matcher
// and is included by matcher.hpp.
#pragma once

#include "matcher.hpp"

namespace twigcast {

inline std::size_t Matcher::cache_bytes() const {
    return automaton_.bytes() + sets_.bytes() + memo_.bytes() + values_.bytes() + predicates_.bytes() + bytes_of(code_) +
           bytes_of(block_words_) + bytes_of(words_of_) + bytes_of(accepted_in_);
}

inline std::size_t Matcher::buffer_bytes() const {
    std::size_t bytes = text_.bytes() + emitted_.bytes() + bytes_of(accepted_) + bytes_of(touched_) + bytes_of(split_) +
                        bytes_of(found_.literals) + bytes_of(closing_.literals) + bytes_of(frames_) + conformance_.bytes();
    for (const Frame& frame : frames_) bytes += frame.bytes();
    return bytes;
}

// To be called between two documents.
inline void Matcher::tidy() {
    shrink_buffers();
    if (values_.full()) values_.clear();
    std::size_t bytes = cache_bytes();
    grown_ = std::max(grown_, bytes - std::min(bytes, bytes_before_));
    bool renew = bytes > tuning_.cache_bytes || instance_ > MOST_INSTANCES;
    u32 generation = document_ - swept_;
    if (generation % GENERATION == 0 && generation && bytes > std::min(SMALL_CACHE, tuning_.cache_bytes / 2)) {
        renew = renew || grown_ > bytes / 2;
        if (generation >= LONG_AGO) {
            renew = renew || automaton_.visited_since(document_ - LONG_AGO) < automaton_.path_nodes() / 8;
            swept_ = document_;
        }
        grown_ = 0;
    }
    if (document_ == NONE || automaton_.symbol_bytes() > tuning_.cache_bytes / 8) {
        automaton_.clear_names();
        conformance_.clear();
        document_ = swept_ = 0;
        completed_in_.assign(completed_in_.size(), 0);
        renew = true;
    }
    if (renew) flush();
    bytes_before_ = renew ? cache_bytes() : bytes;
}

inline void Matcher::shrink_buffers() {
    text_.shrink(KEPT_BUFFERS);
    emitted_.shrink(KEPT_BUFFERS);
    std::size_t bytes = 0;
    for (u32 d = 0; d <= deepest_; ++d) bytes += frames_[d].bytes();
    if (bytes <= KEPT_BUFFERS && deepest_ < 4096) return;
    release(frames_);
    frames_.resize(64);
}

inline void Matcher::flush() {
    automaton_.renew(document_ > LONG_AGO ? document_ - LONG_AGO : 0, tuning_.cache_bytes / 4);
    sets_.clear();
    memo_.clear();
    values_.clear();
    release(code_), release(accepted_in_), release(block_words_), release(words_of_);
    instance_ = 0;
    next_check_ = 0;
    ++stats.flushes;
}

// Renews full caches in the middle of a document: blocks become plain atoms, and the open path is computed again.
inline u32 Matcher::check_memory(u32 depth, u32 symbol) {
    next_check_ = automaton_.path_nodes() + stats.elements + CHECK_EVERY;
    u32 id = automaton_.child(frames_[depth - 1].node, symbol);
    if (cache_bytes() <= tuning_.cache_bytes) return id;
    for (u32 block : accepted_) complete(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
    accepted_.clear();
    for (u32 d = 0; d < depth; ++d) {
        Frame& frame = frames_[d];
        for (u32 block : frame.blocks)
            for (u32 atom : automaton_.blocks[block]) frame.atoms.push_back(atom);
        frame.blocks.clear();
        unique(frame.atoms);
        for (u32 block : frame.values)
            for (u32 predicate : automaton_.blocks[block]) frame.predicates.literals.push_back(predicate);
        frame.values.clear();
    }
    for (u32 block : copy_.blocks_before)  // of a frame in which elements are copied just now
        for (u32 atom : automaton_.blocks[block]) copy_.atoms_before.push_back(atom);
    copy_.blocks_before.clear();
    flush();
    u32 node = Automaton::DOCUMENT;
    for (u32 d = 0; d < depth; ++d) {
        if (d) node = automaton_.child(node, frames_[d].symbol);
        frames_[d].node = node;
        frames_[d].instance = ++instance_;
    }
    id = automaton_.child(node, symbol);
    next_check_ = automaton_.path_nodes() + stats.elements + CHECK_EVERY;
    return id;
}

}  // namespace twigcast
