// Joins: find the rows of a state that are complete, given the literals that hold at an element.
//
// The literals are marked as bits; the programs of a state find the rows whose key is marked.  This file has methods
// of the class Matcher and is included by matcher.hpp.
#pragma once

#include "matcher.hpp"

namespace twigcast {

inline void Matcher::join_remembered(Frame& frame, Automaton::Node& node) {
    // A set of one block, the most frequent kind, needs no interning: the number of the block identifies it.
    u32 set = frame.blocks.size() == 1 ? ONE_BLOCK | frame.blocks[0] : sets_.intern(frame.blocks);
    for (u32 i = 0; i < node.join_count; ++i) {
        Automaton::Context context = automaton_.joins(node)[i];
        if (!(automaton_.state(context.state).flags & HAS_PURE)) continue;
        u64 key = u64(context.state) << 32 | set;
        u32 block = memo_.find(key);
        ++node.tries, ++stats.memo_tries, ++work_;
        if (block == NONE) {
            if (!marked_) mark(frame, false);
            emitted_.clear();
            run<false>(context.state, true, Receiver{});
            block = automaton_.blocks.intern(emitted_.begin(), static_cast<u32>(emitted_.size()));
            memo_.insert(key, block);
        } else {
            ++node.hits, ++stats.memo_hits;
        }
        if (block) deliver(context.origins, block);
    }
}

inline void Matcher::join(Frame& frame, Automaton::Node& node, bool pure) {
    if (!marked_) mark(frame, !pure);
    else if (!pure) mark_predicates(frame);
    for (u32 i = 0; i < node.join_count; ++i) {
        Automaton::Context context = automaton_.joins(node)[i];
        if (!(automaton_.state(context.state).flags & (pure ? HAS_PURE : HAS_PREDICATE))) continue;
        OriginSets::Set origins = automaton_.origins[context.origins];
        if (origins.depth == RESULT) {
            run<true>(context.state, pure, Receiver{context.origins, document_});
            continue;
        }
        emitted_.clear();
        run<false>(context.state, pure, Receiver{context.origins, frames_[origins.depth].instance});
        if (emitted_.empty()) continue;
        work_ += emitted_.size();
        if (emitted_.size() <= INTERNED_ATOMS || origins.rest) {
            // The atoms are not sorted, because a program nearly always finds the same atoms in the same order.
            deliver(context.origins, automaton_.blocks.intern(emitted_.begin(), static_cast<u32>(emitted_.size())));
        } else {
            Frame& origin = frames_[origins.depth];
            origin.atoms.insert(origin.atoms.end(), emitted_.begin(), emitted_.end());
            limit_atoms(origin);
        }
    }
}

// Marks the literals of the frame as bits, until the end of this close; `touched_` lists the words that are not zero.
inline void Matcher::mark(Frame& frame, bool with_predicates) {
    marked_ = true;
    touched_.clear();
    mark_blocks(frame.blocks);
    for (u32 atom : frame.atoms) mark_word(atom >> 6, 1ull << (atom & 63));
    if (sampling_) sample(0);
    if (with_predicates) mark_predicates(frame);
}

inline void Matcher::mark_predicates(Frame& frame) {
    std::size_t before = touched_.size();
    mark_blocks(frame.values);
    mark_literals(frame.predicates);
    mark_literals(frame.first);
    mark_literals(closing_);
    if (sampling_) sample(before);
}

inline void Matcher::mark_literals(const LiteralSet& set) {
    for (u32 literal : set.literals) mark_word(literal >> 6, 1ull << (literal & 63));
    for (LiteralRange range : set.ranges)
        for (u32 from = range.from; from < range.to;) {
            u32 to = std::min(range.to, (from | 63) + 1);
            mark_word(from >> 6, ~0ull >> (64 - (to - from)) << (from & 63));
            from = to;
        }
}

inline void Matcher::mark_blocks(const std::vector<u32>& blocks) {
    for (u32 block : blocks) {
        WordSpan span = words_of(block);
        for (u32 i = span.from; i < span.to; ++i) mark_word(block_words_[i].word, block_words_[i].mask);
    }
}

inline void Matcher::mark_word(u32 word, u64 mask) {
    u64& marks = marks_.words()[word];
    if (!marks) touched_.push_back(word);
    marks |= mask;
}

inline void Matcher::unmark() {
    work_ += touched_.size();
    for (u32 word : touched_) marks_.words()[word] = 0;
    marked_ = false;
}

inline void Matcher::sample(std::size_t from) {
    for (; from < touched_.size() && samples_left_; ++from, --samples_left_)
        for (u64 word = marks_.words()[touched_[from]]; word; word &= word - 1)
            ++seen_[touched_[from] * 64 + static_cast<u32>(__builtin_ctzll(word))];
}

// Returns a block of literals as words of a bit set, which are computed when the block is first marked.
inline WordSpan Matcher::words_of(u32 block) {
    if (block >= words_of_.size()) words_of_.resize(automaton_.blocks.count() + 64, WordSpan{0, 0});
    WordSpan& span = words_of_[block];
    if (span.to == 0 && block) {
        Span literals = automaton_.blocks[block];
        std::vector<u32> sorted(literals.begin(), literals.end());
        std::sort(sorted.begin(), sorted.end());
        span.from = static_cast<u32>(block_words_.size());
        for (u32 literal : sorted) {
            if (block_words_.size() == span.from || block_words_.back().word != literal >> 6)
                block_words_.push_back(MarkWord{literal >> 6, 0});
            block_words_.back().mask |= 1ull << (literal & 63);
        }
        span.to = static_cast<u32>(block_words_.size());
    }
    return span;
}

inline bool Matcher::holds(u32 literal) const {
    if (literal & NEGATIVE) return !waiting_ && !marks_.test(literal & LITERAL);
    return marks_.test(literal & LITERAL);
}

// Appends the payloads of the complete rows of the state to `emitted_`, or puts them into the result at once.
template <bool TO_RESULT>
inline void Matcher::run(u32 id, bool pure, Receiver receiver) {
    Automaton::State& state = automaton_.state(id);
    if (state.programs[0] == NONE) {
        if (!tuning_.programs || state.uses++ < PROGRAM_AFTER) {
            for (u32 component : automaton_.components_with_rows(id))
                for (u32 node : automaton_.trie_nodes(component)) test_rows<TO_RESULT>(node, pure);
            return;
        }
        make_programs(id);
    }
    u32* program = code_.data() + automaton_.state(id).programs[pure ? 0 : 1];
    const Head& head = *reinterpret_cast<const Head*>(program);
    const u32 *words = program + HEAD, *last = words + head.words;
    const u64* marks = marks_.words().data();
    if (touched_.size() * 8 < head.words) {
        work_ += touched_.size();
        for (u32 touched : touched_) {
            const u32* word = std::lower_bound(words, last, touched);
            if (word != last && *word == touched)
                test_word<TO_RESULT>(program, static_cast<u32>(word - words), marks[touched]);
        }
    } else {
        work_ += head.words;
        for (const u32* word = words; word < last; ++word)
            if (u64 marked = marks[*word]) test_word<TO_RESULT>(program, static_cast<u32>(word - words), marked);
    }
    work_ += (head.end - head.always) / 3;
    for (u32 at = head.always; at < head.end;) at = test_row<TO_RESULT>(program, at);
    if (head.alone_words) run_alone<TO_RESULT>(program, receiver);
}

template <bool TO_RESULT>
inline void Matcher::run_alone(u32* program, Receiver receiver) {
    Head& head = *reinterpret_cast<Head*>(program);
    bool partly = receiver.origins != 0;
    if (partly && (head.origins != receiver.origins || head.instance != receiver.instance)) {
        head.origins = receiver.origins;
        head.instance = receiver.instance;
        ++head.epoch;
    }
    Alone* alone = reinterpret_cast<Alone*>(program + head.end);
    const u64* marks = marks_.words().data();
    work_ += head.alone_words;
    for (Alone* last = alone + head.alone_words; alone < last; ++alone) {
        u64 marked = marks[alone->word];
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
            complete_row<TO_RESULT>(payloads[__builtin_popcountll(mask & ((hit & -hit) - 1))]);
            ++work_;
        }
    }
}

template <bool TO_RESULT>
inline void Matcher::test_word(const u32* program, u32 number, u64 marked) {
    const Head& head = *reinterpret_cast<const Head*>(program);
    const u32* entry = program + HEAD + head.words + number * MASK;
    u64 mask = u64(entry[1]) << 32 | entry[0];
    const u32* keys = program + HEAD + head.words * (1 + MASK) + entry[2] * KEY;
    for (u64 hit = marked & mask; hit; hit &= hit - 1)
        test_key<TO_RESULT>(program, keys + __builtin_popcountll(mask & ((hit & -hit) - 1)) * KEY);
}

template <bool TO_RESULT>
inline void Matcher::test_key(const u32* program, const u32* keys) {
    const Key &from = reinterpret_cast<const Key*>(keys)[0], &to = reinterpret_cast<const Key*>(keys)[1];
    const u64* marks = marks_.words().data();
    const u32 *pair = program + from.pair, *end = program + to.pair;
    work_ += (to.pair - from.pair) / 2 + (to.row - from.row) / 3;
    // Whether the literal of a pair holds is unpredictable, so the code does not branch on it.
    if (TO_RESULT) {
        for (; pair < end; pair += 2) {
            u64 holds = marks[pair[0] >> 6] >> (pair[0] & 63) & 1;
            u32 slot = pair[1], position = base_ + slot;
            if (slot < single_) result_[position >> 6] |= holds << (position & 63);
            else if (holds) complete_slot(slot);
        }
    } else {
        u32* out = emitted_.room(static_cast<std::size_t>(end - pair) / 2 + 1);
        for (; pair < end; pair += 2) {
            *out = pair[1];
            out += marks[pair[0] >> 6] >> (pair[0] & 63) & 1;
        }
        emitted_.take(out);
    }
    for (u32 at = from.row; at < to.row;) at = test_row<TO_RESULT>(program, at);
}

template <bool TO_RESULT>
inline u32 Matcher::test_row(const u32* rows, u32 at) {
    u32 count = rows[at], payload = rows[at + 1];
    const u32* literal = rows + at + 2;
    bool all = true;
    for (u32 i = 0; i < count && all; ++i) all = holds(literal[i]);
    if (all) complete_row<TO_RESULT>(payload);
    return at + 2 + count;
}

template <bool TO_RESULT>
inline void Matcher::complete_row(u32 payload) {
    if (TO_RESULT) complete_slot(payload);
    else emitted_.push(payload);
}

template <bool TO_RESULT>
inline void Matcher::test_rows(u32 node, bool pure) {
    work_ += segment_.row_start[node + 1] - segment_.row_start[node];
    for (u32 at = segment_.row_start[node], to = segment_.row_start[node + 1]; at < to;) {
        u32 payload = segment_.rows[at++];
        bool all = true, valued = false;
        for (;;) {
            u32 literal = segment_.rows[at++];
            valued = valued || (literal & LITERAL) >= segment_.atoms();
            all = all && holds(literal);
            if (literal & LAST) break;
        }
        if (all && valued == !pure) complete_row<TO_RESULT>(payload);
    }
}

// Makes two programs, for the rows without and with value predicates.  The key of a row is its rarest positive literal.
inline void Matcher::make_programs(u32 id) {
    for (std::vector<Keyed>& rows : keyed_) rows.clear();
    for (u32 component : automaton_.components_with_rows(id))
        for (u32 node : automaton_.trie_nodes(component))
            for (u32 at = segment_.row_start[node], to = segment_.row_start[node + 1]; at < to;) {
                u32 from = at++, key = NONE;
                bool valued = false;
                for (;;) {
                    u32 literal = segment_.rows[at++], number = literal & LITERAL;
                    valued = valued || number >= segment_.atoms();
                    if (!(literal & NEGATIVE) && (key == NONE || rarer(number, key))) key = number;
                    if (literal & LAST) break;
                }
                keyed_[valued].push_back(Keyed{key, from});
            }
    for (u32 valued = 0; valued < 2; ++valued) {
        std::vector<Keyed>& rows = keyed_[valued];
        std::sort(rows.begin(), rows.end(),
                  [](const Keyed& a, const Keyed& b) { return a.key != b.key ? a.key < b.key : a.at < b.at; });
        append_program(rows);
        automaton_.state(id).programs[valued] = program_at_;
    }
}

// The rows must be sorted by key, so that those without a key (NONE) come last.
inline void Matcher::append_program(const std::vector<Keyed>& sorted) {
    auto& [words, masks, keys, pairs, rows, always, others, alone, payloads] = parts_;
    for (std::vector<u32>& part : parts_) part.clear();
    work_ += sorted.size();
    u32 last = NONE, last_alone = NONE;
    bool by_themselves = static_cast<u32>(std::count_if(sorted.begin(), sorted.end(), [this](const Keyed& row) {
                             return row.key != NONE && (segment_.rows[row.at + 1] & LAST);
                         })) >= MANY_ALONE;
    for (const Keyed& row : sorted) {
        u32 at = row.at, payload = segment_.rows[at++];
        others.clear();
        for (;;) {
            u32 literal = segment_.rows[at++];
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
    for (std::size_t a = 0; a < alone.size(); a += ALONE) alone[a + ALONE - 1] += head.end + static_cast<u32>(alone.size());
    program_at_ = static_cast<u32>(code_.size());
    const u32* first = reinterpret_cast<const u32*>(&head);
    code_.insert(code_.end(), first, first + HEAD);
    for (const std::vector<u32>* part : {&words, &masks, &keys, &pairs, &rows, &always, &alone, &payloads})
        code_.insert(code_.end(), part->begin(), part->end());
}

inline void Matcher::append_row(std::vector<u32>& rows, u32 payload, const std::vector<u32>& literals) {
    rows.push_back(static_cast<u32>(literals.size()));
    rows.push_back(payload);
    rows.insert(rows.end(), literals.begin(), literals.end());
}

// Compares how often the literals held in sampled documents; for equal counts, an equality is assumed to be rarer than
// structure, and structure rarer than any other predicate.
inline bool Matcher::rarer(u32 a, u32 b) const {
    if (seen_[a] != seen_[b]) return seen_[a] < seen_[b];
    return expected_rarity(a) < expected_rarity(b);
}

inline int Matcher::expected_rarity(u32 literal) const {
    if (literal < segment_.atoms()) return 1;
    u32 op = segment_.predicates[literal - segment_.atoms()].op;
    return op == STRING_EQ || op == NUMBER_EQ ? 0 : 2;
}

inline void Matcher::rekey() {
    next_rekey_ *= 8;
    for (u32 s = 0; s < automaton_.state_count(); ++s) automaton_.state(s).programs[0] = NONE;
    code_.clear();
    ++stats.rekeys;
}

inline u64 Matcher::candidates(std::size_t most, std::vector<Candidate>& out) const {
    std::vector<u64> counts(segment_.header->slots, 0);
    std::vector<u32> open{0};  // the nodes of the document's trie
    while (!open.empty()) {
        u32 node = open.back();
        open.pop_back();
        for (u32 child = segment_.first_child[node]; child < segment_.first_child[node + 1]; ++child) open.push_back(child);
        for (u32 at = segment_.row_start[node], to = segment_.row_start[node + 1]; at < to;) {
            u32 slot = segment_.rows[at++];
            u64 least = sampled_;
            for (;;) {
                u32 literal = segment_.rows[at++];
                if (!(literal & NEGATIVE)) least = std::min<u64>(least, seen_[literal & LITERAL]);
                if (literal & LAST) break;
            }
            counts[slot] += least;
        }
    }
    std::vector<u32> order;
    for (u32 slot = 0; slot < counts.size(); ++slot)
        if (counts[slot]) order.push_back(slot);
    most = std::min(most, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      [&](u32 a, u32 b) { return counts[a] != counts[b] ? counts[a] > counts[b] : a < b; });
    for (std::size_t i = 0; i < most; ++i) {
        u32 slot = order[i];
        u32 position = slot < single_ ? base_ + slot : segment_.positions[segment_.slot_start[slot - single_]];
        out.push_back(Candidate{position, counts[slot]});
    }
    return sampled_;
}

}  // namespace twigcast
