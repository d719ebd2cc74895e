// Finds the rows of a state that are complete, given the literals that are marked.
//
//   rows       test every row of the state's components, straight from the file
//   program    rows indexed by their rarest literal; made for states that are used more than a few times
//
// A program has rows by key; the keys are a sparse bit set over the literals, so that  marks & mask  finds
// the marked keys, 64 at a time.  A row with one literal beside its key is a pair; any other is  count,
// payload, literals.  Each program is contiguous, and its words come first, because most runs read only
// these.
//
//   Head | word * words | (mask low, high, number of its first key) * words | Key * keys + 1 | pairs | rows |
//   always
//        | (word, mask low, high, given low, high, epoch, offset of its first payload) * alone words |
//        payload * alone
//
// A program of many rows with one literal only (`@x > 1`, `@x > 2`, …) has these at its end, by themselves:
// they do not depend on other literals, so a row that was complete for these origins before is left out the
// next time.
//
// Invariant: a state has two programs or none; without programs it has them made again when it is next run.
#pragma once

#include <algorithm>
#include <vector>

#include "automaton.hpp"
#include "flat.hpp"
#include "marks.hpp"
#include "rarity.hpp"
#include "segment.hpp"

namespace twigcast {

// For whom a program is run: rows that these origins were given before are left out; without origins none
// are.
struct Receiver {
    u32 origins = 0, instance = 0;
};

class RowPrograms {
  public:
    // With `wanted` false, rows are always tested straight from the file.
    RowPrograms(const Segment& segment, Automaton& automaton, Marks& marks, const Rarity& rarity, bool wanted)
        : segment_(segment), automaton_(automaton), marks_(marks), rarity_(rarity), wanted_(wanted) {}

    // Gives the payloads of the complete rows of a state to `sink`, those without value predicates if `pure`,
    // or the others.
    template <class Sink>
    void run(u32 state, bool pure, Receiver receiver, Sink& sink);

    // The same for the rows of one trie node.
    template <class Sink>
    void test_rows(u32 node, bool pure, Sink& sink);

    // Forgets the programs, because literals are now known to be rarer or more frequent than was thought.
    void forget() {
        for (u32 s = 0; s < automaton_.state_count(); ++s) automaton_.state(s).programs[0] = NONE;
        code_.clear();
    }

    // Releases their memory; the states must be forgotten, too.
    void clear() { release(code_); }

    std::size_t bytes() const { return bytes_of(code_); }

    u64 work = 0;

  private:
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
    struct Keyed {
        u32 key, at;  // the rarest positive literal of a row, or NONE if it has none; its offset in the file
    };
    static constexpr u32 HEAD = sizeof(Head) / sizeof(u32), MASK = 3, KEY = 2,
                         ALONE = sizeof(Alone) / sizeof(u32);
    static constexpr u32 PROGRAM_AFTER = 3;  // uses of a state before its rows are indexed
    static constexpr u32 MANY_ALONE = 128;   // rows with one literal, from which on they stand by themselves

    template <class Sink>
    void run_alone(u32* program, Receiver receiver, Sink& sink);
    template <class Sink>
    void test_word(const u32* program, u32 number, u64 marked, Sink& sink);
    template <class Sink>
    void test_key(const u32* program, const u32* keys, Sink& sink);
    template <class Sink>
    u32 test_row(const u32* rows, u32 at, Sink& sink);
    void make(u32 state);
    u32 append(const std::vector<Keyed>& sorted);
    static void append_row(std::vector<u32>& rows, u32 payload, const std::vector<u32>& literals);

    const Segment& segment_;
    Automaton& automaton_;
    Marks& marks_;
    const Rarity& rarity_;
    const bool wanted_;
    std::vector<u32> code_;        // the programs
    std::vector<Keyed> keyed_[2];  // while programs are made
    std::vector<u32> parts_[9];
};

template <class Sink>
inline void RowPrograms::run(u32 id, bool pure, Receiver receiver, Sink& sink) {
    Automaton::State& state = automaton_.state(id);
    if (state.programs[0] == NONE) {
        if (!wanted_ || state.uses++ < PROGRAM_AFTER) {
            for (u32 component : automaton_.components_with_rows(id))
                for (u32 node : automaton_.trie_nodes(component)) test_rows(node, pure, sink);
            return;
        }
        make(id);
    }
    u32* program = code_.data() + automaton_.state(id).programs[pure ? 0 : 1];
    const Head& head = *reinterpret_cast<const Head*>(program);
    const u32 *words = program + HEAD, *last = words + head.words;
    const u64* marks = marks_.words();
    const std::vector<u32>& touched = marks_.touched();
    if (touched.size() * 8 < head.words) {
        work += touched.size();
        for (u32 each : touched) {
            const u32* word = std::lower_bound(words, last, each);
            if (word != last && *word == each)
                test_word(program, static_cast<u32>(word - words), marks[each], sink);
        }
    } else {
        work += head.words;
        for (const u32* word = words; word < last; ++word)
            if (u64 marked = marks[*word]) test_word(program, static_cast<u32>(word - words), marked, sink);
    }
    work += (head.end - head.always) / 3;
    for (u32 at = head.always; at < head.end;) at = test_row(program, at, sink);
    if (head.alone_words) run_alone(program, receiver, sink);
}

template <class Sink>
inline void RowPrograms::run_alone(u32* program, Receiver receiver, Sink& sink) {
    Head& head = *reinterpret_cast<Head*>(program);
    const bool partly = receiver.origins != 0;
    if (partly && (head.origins != receiver.origins || head.instance != receiver.instance)) {
        head.origins = receiver.origins;
        head.instance = receiver.instance;
        ++head.epoch;
    }
    Alone* alone = reinterpret_cast<Alone*>(program + head.end);
    const u64* marks = marks_.words();
    work += head.alone_words;
    for (Alone* last = alone + head.alone_words; alone < last; ++alone) {
        const u64 marked = marks[alone->word];
        if (!marked) continue;
        u64 mask = u64(alone->mask[1]) << 32 | alone->mask[0], hit = marked & mask;
        if (partly) {
            u64 given = alone->epoch == head.epoch ? u64(alone->given[1]) << 32 | alone->given[0] : 0;
            hit &= ~given;
            if (!hit) continue;
            given |= hit;
            alone->epoch = head.epoch;
            alone->given[0] = static_cast<u32>(given), alone->given[1] = static_cast<u32>(given >> 32);
        }
        const u32* payloads = program + alone->payloads;
        for (; hit; hit &= hit - 1) {
            sink.complete(payloads[__builtin_popcountll(mask & ((hit & -hit) - 1))]);
            ++work;
        }
    }
}

template <class Sink>
inline void RowPrograms::test_word(const u32* program, u32 number, u64 marked, Sink& sink) {
    const Head& head = *reinterpret_cast<const Head*>(program);
    const u32* entry = program + HEAD + head.words + number * MASK;
    const u64 mask = u64(entry[1]) << 32 | entry[0];
    const u32* keys = program + HEAD + head.words * (1 + MASK) + entry[2] * KEY;
    for (u64 hit = marked & mask; hit; hit &= hit - 1)
        test_key(program, keys + __builtin_popcountll(mask & ((hit & -hit) - 1)) * KEY, sink);
}

template <class Sink>
inline void RowPrograms::test_key(const u32* program, const u32* keys, Sink& sink) {
    const Key &from = reinterpret_cast<const Key*>(keys)[0], &to = reinterpret_cast<const Key*>(keys)[1];
    work += (to.pair - from.pair) / 2 + (to.row - from.row) / 3;
    sink.complete_pairs(program + from.pair, program + to.pair, marks_.words());
    for (u32 at = from.row; at < to.row;) at = test_row(program, at, sink);
}

template <class Sink>
inline u32 RowPrograms::test_row(const u32* rows, u32 at, Sink& sink) {
    const u32 count = rows[at], payload = rows[at + 1];
    const u32* literal = rows + at + 2;
    bool all = true;
    for (u32 i = 0; i < count && all; ++i) all = marks_.holds(literal[i]);
    if (all) sink.complete(payload);
    return at + 2 + count;
}

template <class Sink>
inline void RowPrograms::test_rows(u32 node, bool pure, Sink& sink) {
    work += segment_.row_start[node + 1] - segment_.row_start[node];
    for (u32 at = segment_.row_start[node], to = segment_.row_start[node + 1]; at < to;) {
        const u32 payload = segment_.rows[at++];
        bool all = true, valued = false;
        for (;;) {
            const u32 literal = segment_.rows[at++];
            valued = valued || (literal & LITERAL) >= segment_.atoms();
            all = all && marks_.holds(literal);
            if (literal & LAST) break;
        }
        if (all && valued == !pure) sink.complete(payload);
    }
}

// Makes two programs, for the rows without and with value predicates.  The key of a row is its rarest
// positive literal.
inline void RowPrograms::make(u32 id) {
    for (std::vector<Keyed>& rows : keyed_) rows.clear();
    for (u32 component : automaton_.components_with_rows(id))
        for (u32 node : automaton_.trie_nodes(component))
            for (u32 at = segment_.row_start[node], to = segment_.row_start[node + 1]; at < to;) {
                u32 from = at++, key = NONE;
                bool valued = false;
                for (;;) {
                    const u32 literal = segment_.rows[at++], number = literal & LITERAL;
                    valued = valued || number >= segment_.atoms();
                    if (!(literal & NEGATIVE) && (key == NONE || rarity_.is_rarer(number, key))) key = number;
                    if (literal & LAST) break;
                }
                keyed_[valued].push_back(Keyed{key, from});
            }
    for (std::vector<Keyed>& rows : keyed_)
        std::sort(rows.begin(), rows.end(), [](const Keyed& a, const Keyed& b) {
            return a.key != b.key ? a.key < b.key : a.at < b.at;
        });
    const u32 pure = append(keyed_[0]), valued = append(keyed_[1]);
    automaton_.state(id).programs[0] = pure;
    automaton_.state(id).programs[1] = valued;
}

// Returns the offset of the program.  The rows must be sorted by key, so that those without a key (NONE) come
// last.
inline u32 RowPrograms::append(const std::vector<Keyed>& sorted) {
    auto& [words, masks, keys, pairs, rows, always, others, alone, payloads] = parts_;
    for (std::vector<u32>& part : parts_) part.clear();
    work += sorted.size();
    u32 last = NONE, last_alone = NONE;
    const auto with_one_literal = std::count_if(sorted.begin(), sorted.end(), [this](const Keyed& row) {
        return row.key != NONE && (segment_.rows[row.at + 1] & LAST);
    });
    const bool by_themselves = with_one_literal >= MANY_ALONE;
    for (const Keyed& row : sorted) {
        u32 at = row.at, payload = segment_.rows[at++];
        others.clear();
        for (;;) {
            const u32 literal = segment_.rows[at++];
            if ((literal & ~LAST) != row.key) others.push_back(literal & ~LAST);
            if (literal & LAST) break;
        }
        if (row.key == NONE) {
            append_row(always, payload, others);
            continue;
        }
        if (by_themselves && others.empty() && row.key != last_alone) {
            last_alone = row.key;
            if (alone.empty() || alone[alone.size() - ALONE] != row.key >> 6)
                alone.insert(alone.end(), {row.key >> 6, 0, 0, 0, 0, 0, static_cast<u32>(payloads.size())});
            alone[alone.size() - ALONE + 1 + (row.key >> 5 & 1)] |= 1u << (row.key & 31);
            payloads.push_back(payload);
            continue;
        }
        if (row.key != last) {
            last = row.key;
            if (words.empty() || words.back() != last >> 6) {
                words.push_back(last >> 6);
                masks.insert(masks.end(), {0, 0, static_cast<u32>(keys.size()) / KEY});
            }
            masks[masks.size() - MASK + (last >> 5 & 1)] |= 1u << (last & 31);
            keys.insert(keys.end(), {static_cast<u32>(pairs.size()), static_cast<u32>(rows.size())});
        }
        if (others.empty()) others.push_back(row.key);
        if (others.size() == 1 && !(others[0] & NEGATIVE)) pairs.insert(pairs.end(), {others[0], payload});
        else append_row(rows, payload, others);
    }
    keys.insert(keys.end(), {static_cast<u32>(pairs.size()), static_cast<u32>(rows.size())});
    Head head{};
    head.words = static_cast<u32>(words.size());
    head.pairs = static_cast<u32>(HEAD + words.size() + masks.size() + keys.size());
    head.rows = head.pairs + static_cast<u32>(pairs.size());
    head.always = head.rows + static_cast<u32>(rows.size());
    head.end = head.always + static_cast<u32>(always.size());
    head.alone_words = static_cast<u32>(alone.size()) / ALONE;
    for (std::size_t k = 0; k < keys.size(); k += KEY) keys[k] += head.pairs, keys[k + 1] += head.rows;
    for (std::size_t a = 0; a < alone.size(); a += ALONE)
        alone[a + ALONE - 1] += head.end + static_cast<u32>(alone.size());
    const u32 program = static_cast<u32>(code_.size());
    const u32* first = reinterpret_cast<const u32*>(&head);
    code_.insert(code_.end(), first, first + HEAD);
    for (const std::vector<u32>* part : {&words, &masks, &keys, &pairs, &rows, &always, &alone, &payloads})
        code_.insert(code_.end(), part->begin(), part->end());
    return program;
}

inline void RowPrograms::append_row(std::vector<u32>& rows, u32 payload, const std::vector<u32>& literals) {
    rows.push_back(static_cast<u32>(literals.size()));
    rows.push_back(payload);
    rows.insert(rows.end(), literals.begin(), literals.end());
}

}  // namespace twigcast
