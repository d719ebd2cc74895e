// One segment against one document: frames, joins, results.
//
// A frame is an open element's set of satisfied atoms, kept as references to shared blocks.  When the element
// ends, the rows alive on its path are joined with that set; what they complete goes to the frames of ancestors,
// or to the result.  Three ways to join, each faster than the one before where it applies:
//
//   rows       test every row of the state's components as it stands in the file
//   program    rows indexed by their rarest literal, made for states that are used again
//   memo       (state, set of blocks) -> what it completes; only rows without value predicates, only small sets
#pragma once

#include "conformance.hpp"

namespace twigcast {

struct MatcherStats {
    u64 documents = 0, elements = 0, closes = 0, memo_tries = 0, memo_hits = 0, flushes = 0, rekeys = 0;
    u64 path_nodes = 0, states = 0, components = 0, bytes = 0;
};

struct Tuning {
    std::size_t cache_bytes = 512u << 20;
    bool programs = true, memo = true;
};

struct Candidate {
    u32 position;
    u64 count;
};

// What rows complete, as it is found; grows without clearing.
class Output {
  public:
    // Room for `more` items behind the last; what is used of it is said with `take`.
    u32* room(std::size_t more) {
        if (size_ + more > items_.size()) items_.resize((size_ + more) * 2);
        return items_.data() + size_;
    }
    void take(const u32* end) { size_ = static_cast<std::size_t>(end - items_.data()); }
    void push(u32 item) { *room(1) = item, ++size_; }
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const u32* begin() const { return items_.data(); }
    const u32* end() const { return items_.data() + size_; }

  private:
    std::vector<u32> items_;
    std::size_t size_ = 0;
};

class Matcher {
  public:
    Matcher(const Segment& segment, const Tuning& tuning)
        : segment_(segment), automaton_(segment), conformance_(segment, tuning.cache_bytes / 8),
          predicates_(segment, automaton_.names), tuning_(tuning) {
        marks_.resize(segment.literals());
        seen_.assign(segment.literals(), 0);
        frames_.resize(64);
        single_ = segment.header->positions;
        base_ = segment.header->base;
        needs_text_ = false;
        for (u32 p = 0; p < segment.predicate_count(); ++p)
            needs_text_ = needs_text_ || segment.predicates[p].kind != ON_ATTRIBUTE;
    }
    Matcher(const Matcher&) = delete;

    bool needs_text() const { return needs_text_; }

    // `result` has a bit for every position up to the end of this segment's.
    void begin(u64* result) {
        result_ = result;
        if (automaton_.bytes() + cache_bytes() > tuning_.cache_bytes || instance_ > MOST_INSTANCES ||
            document_ == NONE)
            flush(), document_ = 0;
        if (values_.full()) values_.clear();
        ++document_;
        ++stats.documents;
        sampling_ = stats.documents <= 64 || (stats.documents & 15) == 0;
        sampled_ += sampling_;
        if (stats.documents == next_rekey_) rekey();
        skipped_ = collecting_ = 0;
        text_.clear();
        accepted_.clear();
        open(frames_[0], Automaton::DOCUMENT, 0);
        conformance_.begin();
        if (segment_.end[0] != NONE) complete_slot(segment_.end[0]);
    }

    void start(const char* name, std::size_t length, u64 hash, const char** attributes, u32 depth) {
        u32 symbol = NONE;
        if (conformance_.following()) {  // below elements, too, that no pattern looks into
            symbol = automaton_.symbol(name, length, hash);
            conformance_.start(symbol, depth, automaton_);
        }
        if (skipped_) {
            ++skipped_;
            return;
        }
        Frame& above = frames_[depth - 1];
        if (above.needs & NEEDS_TEXT) end_text_node(above);
        if (symbol == NONE) symbol = automaton_.symbol(name, length, hash);
        u32 id = automaton_.child(above.node, symbol);
        if (id == 0) {
            skipped_ = 1;
            return;
        }
        if (depth >= frames_.size()) frames_.resize(frames_.size() * 2);
        if (automaton_.path_nodes() > flush_check_) id = check_memory(depth, symbol);
        Frame& frame = frames_[depth];
        open(frame, id, symbol);
        Automaton::Node& node = automaton_[id];
        if (node.visited != document_) {
            node.visited = document_;
            const u32* accepts = automaton_.accepts(node);
            for (u32 i = 0; i < node.accept_count; ++i) accept(accepts[i]);
        }
        Automaton::Push* push = automaton_.pushes(node);
        for (Automaton::Push* end = push + node.push_count; push < end; ++push) {
            Frame& origin = frames_[push->depth];
            if (push->given == origin.instance) break;  // then every shallower origin has them too
            push->given = origin.instance;
            origin.blocks.push_back(push->block);
        }
        frame.needs = node.flags;
        if (node.flags & NEEDS_ATTRIBUTES)
            for (; *attributes; attributes += 2)
                if (u32 groups = predicates_.groups_of(attributes[0])) on_attribute(frame, groups, attributes[1]);
        if (node.flags & (NEEDS_TEXT | NEEDS_STRING)) {
            if (collecting_++ == 0) {
                text_.clear();
                occurrences_.clear();
                scan_ = 0;
            }
            frame.string_start = frame.text_start = text_.size();
            frame.occurrence_start = occurrences_.size();
            frame.text_nodes = 0;
        }
    }

    void end(u32 depth) {
        if (skipped_) {
            --skipped_;
            if (!skipped_ && (frames_[depth - 1].needs & NEEDS_TEXT)) frames_[depth - 1].text_start = text_.size();
            return;
        }
        Frame& frame = frames_[depth];
        if (frame.needs & HAS_ROWS) close(frame);
        Frame& above = frames_[depth - 1];
        if (above.needs & NEEDS_TEXT) above.text_start = text_.size();
    }

    void text(const char* bytes, std::size_t length) {
        if (!collecting_) return;
        if (!predicates_.substrings().empty())
            scan_ = predicates_.substrings().scan(scan_, bytes, length, text_.size(), occurrences_);
        text_.append(bytes, length);
    }

    // A comment or processing instruction: text before and after it are two nodes.
    void interrupt(u32 depth) {
        if (skipped_ || !(frames_[depth].needs & NEEDS_TEXT)) return;
        end_text_node(frames_[depth]);
        frames_[depth].text_start = text_.size();
    }

    void finish() {
        Frame& document = frames_[0];
        if (segment_.flags[0] & HAS_ROWS) {
            mark(document, true);
            test_rows<true>(0, true), test_rows<true>(0, false);
            unmark();
        }
        for (u32 block : accepted_) complete(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
        conformance_.finish([this](u32 position) { set(position); });
    }

    MatcherStats statistics() const {
        MatcherStats all = stats;
        all.path_nodes = automaton_.path_nodes();
        all.states = automaton_.state_count();
        all.components = automaton_.component_count();
        all.bytes = automaton_.bytes() + cache_bytes() + conformance_.bytes();
        return all;
    }

    // The positions whose rows had their rarest literal satisfied most often, in the documents sampled.
    u64 candidates(std::size_t most, std::vector<Candidate>& out) const {
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

  private:
    struct Frame {
        u32 node = 0, symbol = 0, instance = 0, needs = 0, text_nodes = 0;
        std::size_t string_start = 0, text_start = 0, occurrence_start = 0;
        std::vector<u32> blocks, atoms;       // satisfied atoms: shared blocks of them, and single ones
        std::vector<u32> values, predicates;  // satisfied predicates, likewise
    };
    struct MarkWord {
        u32 word;
        u64 mask;
    };
    struct WordSpan {
        u32 from, to;
    };
    // A program is rows by key, the keys as a sparse bit set over the literals:  marks & mask  finds those that
    // matter, 64 at a time.  A row with one literal beside its key is a pair; any other is  count, payload, literals.
    // All programs lie in `code_`, each in one piece, what nearly every run ends with first: the words.
    //
    //   Head | word * words | (mask low, high, number of its first key) * words | Key * keys + 1 | pairs | rows | always
    struct Head {
        u32 words, pairs, rows, always, end;  // offsets from the head, but for `words`, a count
    };
    struct Key {
        u32 pair, row;  // offsets from the head; those of the next key are the ends
    };
    static constexpr u32 HEAD = sizeof(Head) / sizeof(u32), MASK = 3, KEY = 2;

    static constexpr u32 MOST_INSTANCES = 0xF0000000u;
    static constexpr u32 MEMO_BLOCKS = 32;  // in a set that is remembered; with 8 MEDLINE took 6 % longer, NITF 2 % less
    static constexpr u32 ONE_BLOCK = 0x80000000u;
    static constexpr u32 PROGRAM_AFTER = 3;     // uses of a state before its rows are indexed
    static constexpr u32 INTERNED_ATOMS = 64;   // larger results of a join are not worth remembering as a block
    static constexpr std::size_t COMPACTION = 512;

    void open(Frame& frame, u32 node, u32 symbol) {
        frame.node = node;
        frame.symbol = symbol;
        frame.instance = ++instance_;
        frame.needs = 0;
        frame.blocks.clear();
        frame.atoms.clear();
        frame.values.clear();
        frame.predicates.clear();
        ++stats.elements;
    }

    void on_attribute(Frame& frame, u32 groups, const char* value) {
        std::size_t length = std::strlen(value);
        if (length > ValueMemo::LONGEST || !tuning_.memo) {
            predicates_.on_attribute(groups, value, length, frame.predicates);
            return;
        }
        u32 block = values_.find(groups, value, length);
        if (block == NONE) {
            std::vector<u32>& found = found_;
            found.clear();
            predicates_.on_attribute(groups, value, length, found);
            unique(found);
            block = automaton_.blocks.intern(found);
            if (!values_.full()) values_.insert(block);
        }
        if (block) frame.values.push_back(block);
    }

    void end_text_node(Frame& frame) {
        if (text_.size() == frame.text_start) return;
        const char* from = text_.data() + frame.text_start;
        std::size_t length = text_.size() - frame.text_start;
        predicates_.on_text(ON_TEXT, from, length, frame.predicates);
        if (frame.text_nodes++ == 0) predicates_.on_text(ON_FIRST_TEXT, from, length, frame.predicates);
        frame.text_start = text_.size();
        if (frame.predicates.size() > COMPACTION) unique(frame.predicates);
    }

    void close(Frame& frame) {
        u32 needs = frame.needs;
        if (needs & (NEEDS_TEXT | NEEDS_STRING)) {
            if (needs & NEEDS_TEXT) end_text_node(frame);
            if (needs & NEEDS_STRING) {
                predicates_.on_string(text_.data() + frame.string_start, text_.size() - frame.string_start, frame.predicates);
                for (std::size_t i = frame.occurrence_start; i < occurrences_.size(); ++i)
                    if (occurrences_[i].start >= frame.string_start) frame.predicates.push_back(occurrences_[i].literal);
            }
            --collecting_;
        }
        bool any = !frame.blocks.empty() || !frame.atoms.empty();
        bool pure = (needs & HAS_PURE) && (any || (needs & ALWAYS_PURE));
        bool predicates = !frame.values.empty() || !frame.predicates.empty();
        bool valued = (needs & HAS_PREDICATE) && (predicates || (needs & ALWAYS_PREDICATE));
        if (!pure && !valued) return;
        ++stats.closes;
        // Sorted for the memo only; twice the same block is marked twice, which is cheaper than looking for it.
        if (frame.blocks.size() > 1 && frame.blocks.size() <= 2 * MEMO_BLOCKS) unique(frame.blocks);
        Automaton::Node& node = automaton_[frame.node];
        if (pure) {
            bool remembered = tuning_.memo && frame.atoms.empty() && frame.blocks.size() <= MEMO_BLOCKS &&
                              (node.tries < 64 || node.hits * 2 >= node.tries);
            if (remembered) join_remembered(frame, node);
            else join(frame, node, true);
        }
        if (valued) join(frame, node, false);
        if (marked_) unmark();
    }

    void join_remembered(Frame& frame, Automaton::Node& node) {
        // One block, the commonest set, stands for itself.
        u32 set = frame.blocks.size() == 1 ? ONE_BLOCK | frame.blocks[0] : sets_.intern(frame.blocks);
        const Automaton::Context* context = automaton_.joins(node);
        for (u32 i = 0; i < node.join_count; ++i, ++context) {
            if (!(automaton_.state(context->state).flags & HAS_PURE)) continue;
            u64 key = u64(context->state) << 32 | set;
            u32 block = memo_.find(key);
            ++node.tries, ++stats.memo_tries;
            if (block == NONE) {
                if (!marked_) mark(frame, false);
                emitted_.clear();
                run<false>(context->state, true);
                block = automaton_.blocks.intern(emitted_.begin(), static_cast<u32>(emitted_.size()));
                memo_.insert(key, block);
            } else {
                ++node.hits, ++stats.memo_hits;
            }
            if (block) deliver(context->depth, block);
        }
    }

    void join(Frame& frame, Automaton::Node& node, bool pure) {
        if (!marked_) mark(frame, !pure);
        else if (!pure) mark_predicates(frame);
        const Automaton::Context* context = automaton_.joins(node);
        for (u32 i = 0; i < node.join_count; ++i, ++context) {
            if (!(automaton_.state(context->state).flags & (pure ? HAS_PURE : HAS_PREDICATE))) continue;
            if (context->depth == RESULT) {
                run<true>(context->state, pure);
                continue;
            }
            emitted_.clear();
            run<false>(context->state, pure);
            if (emitted_.empty()) continue;
            if (emitted_.size() <= INTERNED_ATOMS) {
                // Not sorted: programs find the same atoms in the same order nearly always.
                deliver(context->depth, automaton_.blocks.intern(emitted_.begin(), static_cast<u32>(emitted_.size())));
            } else {
                std::vector<u32>& atoms = frames_[context->depth].atoms;
                atoms.insert(atoms.end(), emitted_.begin(), emitted_.end());
                if (atoms.size() > COMPACTION * 16) unique(atoms);
            }
        }
    }

    void deliver(u32 depth, u32 block) {
        if (depth == RESULT) {
            accept(block);
            return;
        }
        std::vector<u32>& blocks = frames_[depth].blocks;
        if (!blocks.empty() && blocks.back() == block) return;
        blocks.push_back(block);
        if (blocks.size() > COMPACTION) {
            unique(blocks);
            if (blocks.size() > COMPACTION / 2) {  // truly many: keep them as atoms
                for (u32 each : blocks)
                    for (u32 atom : automaton_.blocks[each]) frames_[depth].atoms.push_back(atom);
                blocks.clear();
                unique(frames_[depth].atoms);
            }
        }
    }

    void accept(u32 block) {
        if (block >= accepted_in_.size()) accepted_in_.resize(automaton_.blocks.count() + 64, 0);
        if (accepted_in_[block] == document_) return;
        accepted_in_[block] = document_;
        accepted_.push_back(block);
    }

    void complete(const u32* slot, const u32* end) {
        for (; slot < end; ++slot) complete_slot(*slot);
    }

    void complete_slot(u32 slot) {
        if (slot < single_) return set(base_ + slot);
        const u32* start = segment_.slot_start + (slot - single_);
        for (u32 i = start[0]; i < start[1]; ++i) set(segment_.positions[i]);
    }

    void set(u32 position) { result_[position >> 6] |= 1ull << (position & 63); }

    // The frame's literals as bits, for the duration of one close; `touched_` are the words that are not zero.
    void mark(Frame& frame, bool with_predicates) {
        marked_ = true;
        touched_.clear();
        mark_blocks(frame.blocks);
        for (u32 atom : frame.atoms) mark_word(atom >> 6, 1ull << (atom & 63));
        if (sampling_) sample(0);
        if (with_predicates) mark_predicates(frame);
    }

    void mark_predicates(Frame& frame) {
        std::size_t before = touched_.size();
        mark_blocks(frame.values);
        for (u32 literal : frame.predicates) mark_word(literal >> 6, 1ull << (literal & 63));
        if (sampling_) sample(before);
    }

    void mark_blocks(const std::vector<u32>& blocks) {
        for (u32 block : blocks) {
            WordSpan span = words_of(block);
            for (u32 i = span.from; i < span.to; ++i) mark_word(block_words_[i].word, block_words_[i].mask);
        }
    }

    void mark_word(u32 word, u64 mask) {
        u64& marks = marks_.words()[word];
        if (!marks) touched_.push_back(word);
        marks |= mask;
    }

    void unmark() {
        for (u32 word : touched_) marks_.words()[word] = 0;
        marked_ = false;
    }

    void sample(std::size_t from) {
        for (; from < touched_.size(); ++from)
            for (u64 word = marks_.words()[touched_[from]]; word; word &= word - 1)
                ++seen_[touched_[from] * 64 + static_cast<u32>(__builtin_ctzll(word))];
    }

    // A block of literals as words of a bit set, made when it is first marked.
    WordSpan words_of(u32 block) {
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

    bool holds(u32 literal) const { return marks_.test(literal & LITERAL) == !(literal & NEGATIVE); }

    // Appends to `emitted_` what the state's rows complete, or puts it into the result at once.
    template <bool TO_RESULT>
    void run(u32 id, bool pure) {
        Automaton::State& state = automaton_.state(id);
        if (state.programs[0] == NONE) {
            if (!tuning_.programs || state.uses++ < PROGRAM_AFTER) {
                for (u32 component : automaton_.components_with_rows(id))
                    for (u32 node : automaton_.trie_nodes(component)) test_rows<TO_RESULT>(node, pure);
                return;
            }
            make_programs(id);
        }
        const u32* program = code_.data() + automaton_.state(id).programs[pure ? 0 : 1];
        const Head& head = *reinterpret_cast<const Head*>(program);
        const u32 *words = program + HEAD, *last = words + head.words;
        const u64* marks = marks_.words().data();
        if (touched_.size() * 8 < head.words) {
            for (u32 touched : touched_) {
                const u32* word = std::lower_bound(words, last, touched);
                if (word != last && *word == touched)
                    test_word<TO_RESULT>(program, static_cast<u32>(word - words), marks[touched]);
            }
        } else {
            for (const u32* word = words; word < last; ++word)
                if (u64 marked = marks[*word]) test_word<TO_RESULT>(program, static_cast<u32>(word - words), marked);
        }
        for (u32 at = head.always; at < head.end;) at = test_row<TO_RESULT>(program, at);
    }

    template <bool TO_RESULT>
    void test_word(const u32* program, u32 number, u64 marked) {
        const Head& head = *reinterpret_cast<const Head*>(program);
        const u32* entry = program + HEAD + head.words + number * MASK;
        u64 mask = u64(entry[1]) << 32 | entry[0];
        const u32* keys = program + HEAD + head.words * (1 + MASK) + entry[2] * KEY;
        for (u64 hit = marked & mask; hit; hit &= hit - 1)
            test_key<TO_RESULT>(program, keys + __builtin_popcountll(mask & ((hit & -hit) - 1)) * KEY);
    }

    template <bool TO_RESULT>
    void test_key(const u32* program, const u32* keys) {
        const Key &from = reinterpret_cast<const Key*>(keys)[0], &to = reinterpret_cast<const Key*>(keys)[1];
        const u64* marks = marks_.words().data();
        const u32 *pair = program + from.pair, *end = program + to.pair;
        // Whether the literal of a pair holds is a coin toss, so there is no branch on it.
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
    u32 test_row(const u32* rows, u32 at) {
        u32 count = rows[at], payload = rows[at + 1];
        const u32* literal = rows + at + 2;
        bool all = true;
        for (u32 i = 0; i < count && all; ++i) all = holds(literal[i]);
        if (all) complete_row<TO_RESULT>(payload);
        return at + 2 + count;
    }

    template <bool TO_RESULT>
    void complete_row(u32 payload) {
        if (TO_RESULT) complete_slot(payload);
        else emitted_.push(payload);
    }

    template <bool TO_RESULT>
    void test_rows(u32 node, bool pure) {
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

    // Two programs, for the rows without and with value predicates.  A row stands under its rarest positive literal.
    void make_programs(u32 id) {
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

    struct Keyed {
        u32 key, at;  // a row's rarest positive literal, NONE if it has none; where it stands in the file
    };

    // The rows are sorted by key, so those without one come last.
    void append_program(const std::vector<Keyed>& sorted) {
        auto& [words, masks, keys, pairs, rows, always, others] = parts_;
        for (std::vector<u32>& part : parts_) part.clear();
        u32 last = NONE;
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
        for (std::size_t k = 0; k < keys.size(); k += KEY) keys[k] += head.pairs, keys[k + 1] += head.rows;
        program_at_ = static_cast<u32>(code_.size());
        const u32* first = reinterpret_cast<const u32*>(&head);
        code_.insert(code_.end(), first, first + HEAD);
        for (const std::vector<u32>* part : {&words, &masks, &keys, &pairs, &rows, &always})
            code_.insert(code_.end(), part->begin(), part->end());
    }

    static void append_row(std::vector<u32>& rows, u32 payload, const std::vector<u32>& literals) {
        rows.push_back(static_cast<u32>(literals.size()));
        rows.push_back(payload);
        rows.insert(rows.end(), literals.begin(), literals.end());
    }

    // As observed; before anything was observed, equality is taken to be rarer than structure, structure than the rest.
    bool rarer(u32 a, u32 b) const {
        if (seen_[a] != seen_[b]) return seen_[a] < seen_[b];
        return expected_rarity(a) < expected_rarity(b);
    }

    int expected_rarity(u32 literal) const {
        if (literal < segment_.atoms()) return 1;
        u32 op = segment_.predicates[literal - segment_.atoms()].op;
        return op == STRING_EQ || op == NUMBER_EQ ? 0 : 2;
    }

    void rekey() {
        next_rekey_ *= 8;
        for (u32 s = 0; s < automaton_.state_count(); ++s) automaton_.state(s).programs[0] = NONE;
        code_.clear();
        ++stats.rekeys;
    }

    std::size_t cache_bytes() const {
        return sets_.bytes() + memo_.bytes() + values_.bytes() + code_.capacity() * sizeof(u32) + block_words_.capacity() * sizeof(MarkWord) +
               words_of_.capacity() * sizeof(WordSpan);
    }

    void flush() {
        automaton_.clear();
        sets_.clear();
        memo_.clear();
        values_.clear();
        code_ = {};
        accepted_in_.clear();
        block_words_ = {}, words_of_ = {};
        instance_ = 0;
        flush_check_ = CHECK_EVERY;
        ++stats.flushes;
    }

    // In the middle of a document: what the caches hold of it becomes plain atoms, and the open path is made anew.
    u32 check_memory(u32 depth, u32 symbol) {
        flush_check_ = automaton_.path_nodes() + CHECK_EVERY;
        u32 id = automaton_.child(frames_[depth - 1].node, symbol);
        if (automaton_.bytes() + cache_bytes() <= tuning_.cache_bytes) return id;
        for (u32 block : accepted_) complete(automaton_.blocks[block].begin(), automaton_.blocks[block].end());
        accepted_.clear();
        for (u32 d = 0; d < depth; ++d) {
            Frame& frame = frames_[d];
            for (u32 block : frame.blocks)
                for (u32 atom : automaton_.blocks[block]) frame.atoms.push_back(atom);
            frame.blocks.clear();
            unique(frame.atoms);
            for (u32 block : frame.values)
                for (u32 predicate : automaton_.blocks[block]) frame.predicates.push_back(predicate);
            frame.values.clear();
        }
        flush();
        u32 node = Automaton::DOCUMENT;
        for (u32 d = 0; d < depth; ++d) {
            if (d) node = automaton_.child(node, frames_[d].symbol);
            frames_[d].node = node;
            frames_[d].instance = ++instance_;
        }
        return automaton_.child(node, symbol);
    }

    static void unique(std::vector<u32>& items) {
        std::sort(items.begin(), items.end());
        items.erase(std::unique(items.begin(), items.end()), items.end());
    }

    static constexpr std::size_t CHECK_EVERY = 1024;

    const Segment& segment_;
    Automaton automaton_;
    Conformance conformance_;
    PredicateIndex predicates_;
    Tuning tuning_;
    std::size_t flush_check_ = CHECK_EVERY;
    std::vector<Frame> frames_;
    ListPool sets_;
    FlatMap memo_;
    ValueMemo values_;
    std::vector<u32> code_;  // the programs
    u32 program_at_ = 0;     // where the last one begins
    std::vector<Keyed> keyed_[2];   // while programs are made
    std::vector<u32> parts_[7];
    Bits marks_;
    std::vector<u32> touched_, accepted_, accepted_in_, seen_, found_;
    Output emitted_;
    std::vector<MarkWord> block_words_;  // of blocks that were marked, as words
    std::vector<WordSpan> words_of_;     // by block
    std::string text_;
    std::vector<Occurrence> occurrences_;  // in text_, of what string-values are asked to contain
    u32 scan_ = 0;
    u64* result_ = nullptr;
    u64 next_rekey_ = 16, sampled_ = 0;
    u32 document_ = 0, instance_ = 0, skipped_ = 0, collecting_ = 0, base_ = 0, single_ = 0;
    bool marked_ = false, needs_text_ = false, sampling_ = true;

  public:
    MatcherStats stats;
};

}  // namespace twigcast
