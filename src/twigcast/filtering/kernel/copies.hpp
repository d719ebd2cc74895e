// What a matcher need not do again or at all for the image of a document; methods of the class Matcher.
//
// Copies.  A mapping can put copies of some elements into each of several parents of one place.  Their label paths are
// the same, so are the rows that they complete: ancestors of the parents have what the first copy gave them, and further
// parents are given the same blocks.  Only string-values that contain a copy need its text again.
//
// Places.  Nothing is done below a label path without patterns, unless the string-value of an ancestor needs its text.
#pragma once

#include "matcher.hpp"

namespace twigcast {

// Whether elements with this label path, or anything in them, can make a difference.
inline bool Matcher::sees(const std::vector<Label>& path) {
    if (segment_.schema_count()) return true;
    u32 node = Automaton::DOCUMENT;
    for (std::size_t i = 0; i < path.size(); ++i) {
        node = automaton_.child(node, automaton_.symbol(path[i].name, path[i].length, path[i].hash));
        if (node == 0) return false;
        if (i + 1 < path.size() && (automaton_[node].flags & (NEEDS_TEXT | NEEDS_STRING))) return true;
    }
    return true;
}

// Whether the text of elements with this label path, or of those above them, can make a difference.
inline bool Matcher::reads_text(const std::vector<Label>& path) {
    u32 node = Automaton::DOCUMENT;
    for (const Label& label : path) {
        node = automaton_.child(node, automaton_.symbol(label.name, label.length, label.hash));
        if (node == 0) return false;
        if (automaton_[node].flags & (NEEDS_TEXT | NEEDS_STRING)) return true;
    }
    return false;
}

// From now on, note what is given to the open element of this depth.
inline void Matcher::begin_copy(u32 depth) {
    copy_.complete = false;
    copy_.flushes = stats.flushes;
    if (skipped_) return;
    Frame& frame = frames_[depth];
    frame.instance = ++instance_;  // so that nothing is left out because the frame has it
    copy_.node = frame.node;
    copy_.blocks_before.clear(), copy_.blocks_before.swap(frame.blocks);
    copy_.atoms_before.clear(), copy_.atoms_before.swap(frame.atoms);
}

inline void Matcher::end_copy(u32 depth) {
    if (skipped_) {
        copy_.complete = copy_.flushes == stats.flushes;
        copy_.node = NONE;
        return;
    }
    Frame& frame = frames_[depth];
    copy_.complete = copy_.flushes == stats.flushes;
    copy_.blocks = frame.blocks;
    copy_.atoms = frame.atoms;
    frame.blocks.insert(frame.blocks.end(), copy_.blocks_before.begin(), copy_.blocks_before.end());
    frame.atoms.insert(frame.atoms.end(), copy_.atoms_before.begin(), copy_.atoms_before.end());
    copy_.blocks_before.clear();
    copy_.atoms_before.clear();
}

// Whether `repeat_copy` can do what the elements between `begin_copy` and `end_copy` did.
inline bool Matcher::has_copy(u32 depth) const {
    return copy_.complete && copy_.flushes == stats.flushes && (skipped_ ? NONE : frames_[depth].node) == copy_.node;
}

// Gives the open element of this depth what was noted; `text` is the string-value of the copied elements.
inline void Matcher::repeat_copy(u32 depth, const std::string& text) {
    if (skipped_) {
        if (collecting_) text_.append(text.data(), text.size());
        return;
    }
    Frame& frame = frames_[depth];
    if (frame.needs & NEEDS_TEXT) end_text_node(frame);
    if (collecting_) text_.append(text.data(), text.size());
    if (frame.needs & NEEDS_TEXT) frame.text_start = text_.size();
    for (u32 block : copy_.blocks) add_block(frame, block);
    frame.atoms.insert(frame.atoms.end(), copy_.atoms.begin(), copy_.atoms.end());
    limit_atoms(frame);
    work_ += copy_.blocks.size() + copy_.atoms.size();
}

}  // namespace twigcast
