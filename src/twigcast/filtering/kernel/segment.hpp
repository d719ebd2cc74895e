// A segment: many compiled patterns as one pointer-free, little-endian block of bytes, made once, mapped
// anywhere.
//
//   Header | sections, each aligned to 8 bytes
//
// Patterns are cut at branching nodes into chains, and the chains kept in tries:
//
//   /a/b[c/d][.//e]/f   =  the document's chain  a/b  ending in a row  {c/d, .//e, f} -> slot
//                          three atoms in the trie of "b":  c/d,  .//e,  f
//
// Node i of the tries has the children first_child[i] .. first_child[i+1], sorted by key (axis and name
// test). `end` of a node is complete as soon as the node is reached: it is a slot in the document's trie, an
// atom in the others.  The payload of a row is such a slot or atom, which is complete when the node of the
// row is reached *and* the element satisfies all literals of the row.  A literal is an atom or a value
// predicate, positive or negative.
//
//   row:  payload, literal, ..., literal | LAST        literal:  [NEGATIVE] id      id >= atoms: predicate
//
// A slot is a chain of the document, with the positions of the subscriptions that have it (a union has
// several slots).  A slot with a number below header.positions has one subscription, whose position is that
// number plus the base; the positions of every other slot are listed in slot_start and positions.
//
// A schema is an automaton over name tests; its states are numbered from its `first` up to the `first` of the
// next schema, and the first of them is the document and has no test.  The followers of a state are those
// from its `followers` up to the `followers` of the next state.  A document that stays in the automaton up to
// its end matches the position of the schema (conformance.hpp).
#pragma once

#include <algorithm>
#include <cmath>

#include "flat.hpp"

namespace twigcast {

constexpr u32 NEGATIVE = 0x80000000u;
constexpr u32 LAST = 0x40000000u;
constexpr u32 LITERAL = 0x3FFFFFFFu;
constexpr u32 DESCENDANT = 0x80000000u;  // in a node's key: the axis; the rest is the name test
constexpr u32 TEST = 0x7FFFFFFFu;

// What is needed to decide the rows of a node.
enum NodeFlags : u32 {
    HAS_PURE = 1,       // rows of atoms only: their result depends on the atoms alone, and can be cached
    HAS_PREDICATE = 2,  // rows with value predicates
    ALWAYS_PURE = 4,    // a row of negative atoms only: it holds even if no atom is satisfied
    ALWAYS_PREDICATE = 8,
    NEEDS_ATTRIBUTES = 16,
    NEEDS_TEXT = 32,
    NEEDS_STRING = 64,
    HAS_ROWS = HAS_PURE | HAS_PREDICATE,
};

enum PredicateKind : u32 { ON_ATTRIBUTE, ON_TEXT, ON_FIRST_TEXT, ON_STRING };

// Operators: existence; comparison of strings; comparison of numbers; functions of the string; of its length.
enum Operator : u32 {
    EXISTS,
    STRING_EQ,
    STRING_NE,
    NUMBER_EQ,
    NUMBER_NE,
    NUMBER_LT,
    NUMBER_LE,
    NUMBER_GT,
    NUMBER_GE,
    CONTAINS,
    STARTS_WITH,
    LENGTH_EQ,
    LENGTH_NE,
    LENGTH_LT,
    LENGTH_LE,
    LENGTH_GT,
    LENGTH_GE,
    OPERATORS
};

struct NameTest {  // offsets into strings; NONE = any
    u32 space, space_length, local, local_length;
};

struct Predicate {
    u32 kind, op, test, text, text_length, unused;
    double number;
};

struct Schema {  // the section has one more entry, for the end of the last schema
    u32 position, first;
};

struct SchemaState {  // the section has one more entry, for the end of the last state
    u32 test, followers;
};

enum Section : u32 {
    STRINGS,
    TESTS,
    PREDICATES,
    KEYS,
    FIRST_CHILD,
    END,
    FLAGS,
    ROW_START,
    ROWS,
    ROOTS,
    SLOT_START,
    POSITIONS,
    SCHEMAS,
    SCHEMA_STATES,
    FOLLOWERS,
    SECTIONS
};

struct Header {
    char magic[8];
    u32 version, sections;
    u32 nodes, atoms, slots, positions, base, unused;
    u64 offset[SECTIONS];
    u64 count[SECTIONS];  // of elements, not bytes
};

constexpr char SEGMENT_MAGIC[8] = {'t', 'w', 'i', 'g', 's', 'e', 'g', '\n'};
constexpr u32 SEGMENT_VERSION = 2;

// A view of the bytes of a segment; `open` refuses bytes that would not be safe to use.
struct Segment {
    const Header* header = nullptr;
    const char* strings = nullptr;
    const NameTest* tests = nullptr;
    const Predicate* predicates = nullptr;
    const u32 *keys = nullptr, *first_child = nullptr, *end = nullptr, *row_start = nullptr, *rows = nullptr;
    const u32 *roots = nullptr, *slot_start = nullptr, *positions = nullptr, *followers = nullptr;
    const Schema* schemas = nullptr;
    const SchemaState* states = nullptr;
    const u8* flags = nullptr;
    const u32 *more_start = nullptr,
              *more_ends = nullptr;  // further ends of a node; a segment in a file has none

    u32 nodes() const { return header->nodes; }
    u32 atoms() const { return header->atoms; }
    u32 predicate_count() const { return static_cast<u32>(header->count[PREDICATES]); }
    u32 literals() const { return atoms() + predicate_count(); }
    u32 test_count() const { return static_cast<u32>(header->count[TESTS]); }
    u32 schema_count() const { return static_cast<u32>(header->count[SCHEMAS] - 1); }
    // roots[0]: the trie of the document's own atoms; roots[1 + t]: the trie of test t; NONE where there is
    // none.
    u32 root(u32 test) const { return roots[1 + test]; }

    // Calls `take` for everything that is complete as soon as the node is reached.
    template <class Take>
    void for_ends(u32 node, const Take& take) const {
        if (end[node] != NONE) take(end[node]);
        if (more_start)
            for (u32 i = more_start[node]; i < more_start[node + 1]; ++i) take(more_ends[i]);
    }

    // Returns nullptr if the bytes are a valid segment, otherwise a description of the error.
    const char* open(const char* bytes, std::size_t length);

  private:
    const char* check_schemas() const;
};

inline const char* Segment::open(const char* bytes, std::size_t length) {
    static const u32 width[SECTIONS] = {1, sizeof(NameTest), sizeof(Predicate),   4, 4, 4, 1, 4, 4, 4, 4,
                                        4, sizeof(Schema),   sizeof(SchemaState), 4};
    if (length < sizeof(Header)) return "shorter than its header";
    header = reinterpret_cast<const Header*>(bytes);
    if (std::memcmp(header->magic, SEGMENT_MAGIC, 8) != 0) return "not a segment";
    if (header->version != SEGMENT_VERSION || header->sections != SECTIONS) return "of another version";
    for (u32 s = 0; s < SECTIONS; ++s) {
        u64 offset = header->offset[s], count = header->count[s];
        if (offset % 8 != 0 || offset > length || count > (length - offset) / width[s]) return "cut short";
    }
    auto words = [&](Section s) { return reinterpret_cast<const u32*>(bytes + header->offset[s]); };
    strings = bytes + header->offset[STRINGS];
    tests = reinterpret_cast<const NameTest*>(bytes + header->offset[TESTS]);
    predicates = reinterpret_cast<const Predicate*>(bytes + header->offset[PREDICATES]);
    keys = words(KEYS), first_child = words(FIRST_CHILD), end = words(END), row_start = words(ROW_START);
    rows = words(ROWS), roots = words(ROOTS), slot_start = words(SLOT_START), positions = words(POSITIONS);
    flags = reinterpret_cast<const u8*>(bytes + header->offset[FLAGS]);
    schemas = reinterpret_cast<const Schema*>(bytes + header->offset[SCHEMAS]);
    states = reinterpret_cast<const SchemaState*>(bytes + header->offset[SCHEMA_STATES]);
    followers = words(FOLLOWERS);

    const u64* count = header->count;
    u32 n = header->nodes, slots = header->slots;
    // Numbers of the file are u32, so no section may have more elements than these can count.
    for (u32 s = 0; s < SECTIONS; ++s)
        if (count[s] >= LITERAL && s != STRINGS) return "a section is too large";
    if (n == 0 || count[KEYS] != n || count[FIRST_CHILD] != u64(n) + 1 || count[END] != n ||
        count[FLAGS] != n)
        return "inconsistent tries";
    if (count[ROW_START] != u64(n) + 1 || count[ROOTS] != u64(1) + count[TESTS]) return "inconsistent tries";
    // Each atom is the end of a node or the payload of a row: a matcher allocates memory for as many as there
    // are.
    if (header->atoms > u64(n) + count[ROWS] / 2) return "more atoms than nodes and rows";
    if (u64(header->atoms) + count[PREDICATES] >= LITERAL) return "too many literals";
    if (u64(header->base) + header->positions >= NONE) return "positions out of range";
    if (slots < header->positions || count[SLOT_START] != u64(slots) - header->positions + 1)
        return "inconsistent slots";
    for (u64 i = 0; i < count[POSITIONS]; ++i)
        if (positions[i] < header->base || positions[i] - header->base >= header->positions)
            return "a position out of range";
    if (slot_start[0] != 0 || slot_start[count[SLOT_START] - 1] != count[POSITIONS])
        return "inconsistent slots";
    for (u64 i = 1; i < count[SLOT_START]; ++i)
        if (slot_start[i] <= slot_start[i - 1]) return "inconsistent slots";
    // Names and texts are copied by each matcher; since none share bytes, all copies are not larger than the
    // section.
    u64 text = count[STRINGS], copied = 0;
    for (u64 t = 0; t < count[TESTS]; ++t) {
        const NameTest& test = tests[t];
        if (test.space != NONE && u64(test.space) + test.space_length > text) return "a name out of range";
        if (test.local != NONE && u64(test.local) + test.local_length > text) return "a name out of range";
        copied +=
            u64(test.space == NONE ? 0 : test.space_length) + (test.local == NONE ? 0 : test.local_length);
    }
    for (u64 p = 0; p < count[PREDICATES]; ++p) {
        const Predicate& predicate = predicates[p];
        if (predicate.kind > ON_STRING || predicate.op >= OPERATORS) return "an unknown predicate";
        if (predicate.kind == ON_ATTRIBUTE && predicate.test >= count[TESTS])
            return "a predicate out of range";
        if (u64(predicate.text) + predicate.text_length > text) return "a predicate out of range";
        if (!std::isfinite(predicate.number)) return "a predicate with a number that is not finite";
        copied += predicate.text_length;
    }
    if (copied > text) return "names that overlap";
    // Nodes are numbered by tries and parents: the document, the roots of the other tries, then the children
    // of each node in turn.  So every other node has exactly one parent, which has a smaller number.
    u64 trees = 1;
    std::vector<u8> document(n, 0);
    for (u64 r = 0; r < count[ROOTS]; ++r) {
        if (roots[r] == NONE) continue;
        if (roots[r] == 0 || roots[r] >= n || document[roots[r]]) return "a root out of range";
        document[roots[r]] = 1;
        ++trees;
    }
    if (first_child[0] != trees || first_child[n] != n) return "inconsistent tries";
    for (u64 i = 1; i < trees; ++i)
        if (!document[i]) return "a root out of range";
    // Only the document's trie, whose root is node 0, may have slots.
    std::fill(document.begin(), document.end(), 0);
    document[0] = 1;
    for (u32 i = 0; i < n; ++i) {
        if (first_child[i + 1] > n || first_child[i] > first_child[i + 1] || first_child[i] <= i)
            return "inconsistent tries";
        u32 previous = 0;
        for (u32 c = first_child[i]; c < first_child[i + 1]; ++c) {
            if ((keys[c] & TEST) >= count[TESTS]) return "a name test out of range";
            if (c > first_child[i] && keys[c] <= previous) return "unsorted children";
            previous = keys[c];
            document[c] = document[i];
        }
        u32 payloads = document[i] ? slots : header->atoms;
        if (end[i] != NONE && end[i] >= payloads) return "an end out of range";
        u32 from = row_start[i], to = row_start[i + 1];
        if (from > to || to > count[ROWS]) return "inconsistent rows";
        u32 expected = 0;
        while (from < to) {
            if (rows[from++] >= payloads) return "a payload out of range";
            bool pure = true, positive = false, positive_predicate = false;
            for (;;) {
                if (from >= to) return "a row without an end";
                u32 literal = rows[from++], number = literal & LITERAL;
                if (number >= literals()) return "a literal out of range";
                positive = positive || !(literal & NEGATIVE);
                if (number >= header->atoms) {
                    u32 kind = predicates[number - header->atoms].kind;
                    pure = false;
                    positive_predicate = positive_predicate || !(literal & NEGATIVE);
                    expected |= kind == ON_ATTRIBUTE ? NEEDS_ATTRIBUTES
                                : kind == ON_STRING  ? NEEDS_STRING
                                                     : NEEDS_TEXT;
                }
                if (literal & LAST) break;
            }
            expected |= pure ? HAS_PURE : HAS_PREDICATE;
            if (pure && !positive) expected |= ALWAYS_PURE;
            if (!pure && !positive_predicate) expected |= ALWAYS_PREDICATE;
        }
        if (flags[i] != expected) return "flags that do not fit the rows";
    }
    return check_schemas();
}

inline const char* Segment::check_schemas() const {
    const u64* count = header->count;
    if (count[SCHEMAS] == 0 || count[SCHEMA_STATES] == 0 || count[SCHEMA_STATES] >= NONE ||
        count[FOLLOWERS] >= NONE)
        return "inconsistent schemas";
    u64 schema_count = count[SCHEMAS] - 1, state_count = count[SCHEMA_STATES] - 1;
    if (schemas[0].first != 0 || schemas[schema_count].first != state_count) return "inconsistent schemas";
    if (states[0].followers != 0 || states[state_count].followers != count[FOLLOWERS])
        return "inconsistent schemas";
    for (u64 s = 0; s < schema_count; ++s) {
        u32 from = schemas[s].first, to = schemas[s + 1].first;
        if (from >= to || to > state_count) return "inconsistent schemas";
        if (schemas[s].position < header->base || schemas[s].position - header->base >= header->positions)
            return "a position out of range";
        for (u32 state = from; state < to; ++state) {
            if (state != from && states[state].test >= count[TESTS]) return "a name test out of range";
            if (states[state].followers > states[state + 1].followers ||
                states[state + 1].followers > count[FOLLOWERS])
                return "inconsistent schemas";
            for (u32 f = states[state].followers; f < states[state + 1].followers; ++f)
                if (followers[f] <= from || followers[f] >= to) return "a follower out of range";
        }
    }
    return nullptr;
}

}  // namespace twigcast
