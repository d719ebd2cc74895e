// The layout of the programs that find complete rows (joins.hpp).
#pragma once

#include "flat.hpp"

namespace twigcast {

struct MarkWord {
    u32 word;
    u64 mask;
};
struct WordSpan {
    u32 from, to;
};
// A program has rows by key; the keys are a sparse bit set over the literals, so that  marks & mask  finds the
// marked keys, 64 at a time.  A row with one literal beside its key is a pair; any other is  count, payload,
// literals.  Each program is contiguous in `code_`, and its words come first, because most runs read only these.
//
//   Head | word * words | (mask low, high, number of its first key) * words | Key * keys + 1 | pairs | rows | always
//        | (word, mask low, high, given low, high, epoch, offset of its first payload) * alone words | payload * alone
//
// A program of many rows with one literal only (`@x > 1`, `@x > 2`, …) has these at its end, by themselves: they do
// not depend on other literals, so a row that was complete for these origins before is left out the next time.
struct Head {
    u32 words, pairs, rows, always, end;  // offsets from the head, but for `words`, a count
    u32 alone_words, epoch, origins, instance;
};
struct Key {
    u32 pair, row;  // offsets from the head; those of the next key are the ends
};
struct Alone {
    u32 word, mask[2], given[2], epoch, payloads;
};
// For whom a program is run: rows that these origins were given before are left out; without origins none are.
struct Receiver {
    u32 origins = 0, instance = 0;
};
constexpr u32 HEAD = sizeof(Head) / sizeof(u32), MASK = 3, KEY = 2, ALONE = sizeof(Alone) / sizeof(u32);

}  // namespace twigcast
