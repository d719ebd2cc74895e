// Builds a segment from programs.
//
// A program is a pattern as numbers, in prefix order (compiling.py writes it):
//
//   pattern     :=  n, chain * n                        the alternatives of a union, from the document
//   chain       :=  n, key * n, m, conjunction * m      m = 0: complete at the last step
//   conjunction :=  n, literal * n                      n >= 1
//   literal     :=  sign (0 or 1 = negative), 0, chain  |  sign, 1, predicate
//
// A chain without steps is a condition on the document itself.  Equal chains below equal name tests become
// one atom, and equal chains of the document become one slot, shared by all patterns; a union has a slot for
// each alternative.
//
// A schema is a program of another kind: the states of a deterministic automaton, of which the first is the
// document.
//
//   schema      :=  NONE, n, state * n                  n >= 1
//   state       :=  test, m, follower * m               the test of the document is NONE
#pragma once

#include <algorithm>
#include <string>

#include "segment.hpp"

namespace twigcast {

// The names and predicates that programs refer to by number.
class Vocabulary {
  public:
    u32 add_test(const char* space, u32 space_length, const char* local, u32 local_length) {
        NameTest test{NONE, 0, NONE, 0};
        if (space) test.space = put(space, space_length), test.space_length = space_length;
        if (local) test.local = put(local, local_length), test.local_length = local_length;
        tests.push_back(test);
        return static_cast<u32>(tests.size() - 1);
    }

    u32 add_predicate(u32 kind, u32 op, u32 test, const char* text, u32 text_length, double number) {
        predicates.push_back(Predicate{kind, op, test, put(text, text_length), text_length, 0, number});
        return static_cast<u32>(predicates.size() - 1);
    }

    std::string strings;
    std::vector<NameTest> tests;
    std::vector<Predicate> predicates;

  private:
    u32 put(const char* bytes, u32 length) {
        u32 at = static_cast<u32>(strings.size());
        strings.append(bytes, length);
        return at;
    }
};

class Builder {
  public:
    explicit Builder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
        new_node(NONE, 0);  // the document
    }

    // Returns false if the words are not a valid program.
    bool add(u32 position, const u32* program, std::size_t length) {
        cursor_ = program;
        limit_ = program + length;
        sound_ = true;
        u32 n = next();
        if (n == NONE) return schema(position) && cursor_ == limit_;
        for (u32 i = 0; sound_ && i < n; ++i) {
            Target target = chain(DOCUMENT, 0);
            if (!sound_) break;
            u64 key = u64(target.node) << 32 | target.branch;
            u32 slot = slot_of_.find(key);
            if (slot == NONE) {
                slot = static_cast<u32>(slots_.size());
                slots_.emplace_back();
                slot_of_.insert(key, slot);
                complete(target, slot);
            }
            if (slots_[slot].empty() || slots_[slot].back() != position) slots_[slot].push_back(position);
        }
        return sound_ && cursor_ == limit_;
    }

    std::string finish();

  private:
    static constexpr u32 DOCUMENT = NONE - 1;  // as a context: the document's own atoms

    struct Target {
        u32 node, branch;  // branch 0: complete at the node; else a list of conjunctions that must hold there
    };
    struct Node {
        u32 parent, key, end;
    };
    struct Row {
        u32 node, payload, literals;  // literals: id in conjunctions_
    };

    u32 next() {
        if (cursor_ >= limit_) {
            sound_ = false;
            return 0;
        }
        return *cursor_++;
    }

    u32 new_node(u32 parent, u32 key) {
        nodes_.push_back(Node{parent, key, NONE});
        return static_cast<u32>(nodes_.size() - 1);
    }

    u32 root(u32 context) {
        u32 at = context == DOCUMENT ? 0 : context + 1;
        if (at >= roots_.size()) roots_.resize(at + 1, NONE);
        if (roots_[at] == NONE) {
            roots_[at] = new_node(NONE, 0);
            root_order_.push_back(at);
        }
        return roots_[at];
    }

    // Reads a chain that starts at `start` and interns it.
    Target chain(u32 context, u32 start) {
        u32 node = start, n = next(), last = context;
        for (u32 i = 0; sound_ && i < n; ++i) {
            u32 key = next();
            last = key & TEST;
            if (last >= vocabulary_.tests.size()) {
                sound_ = false;
                break;
            }
            u64 edge = u64(node) << 32 | key;
            u32 child = edges_.find(edge);
            if (child == NONE) {
                child = new_node(node, key);
                edges_.insert(edge, child);
            }
            node = child;
        }
        u32 m = next();
        if (!sound_ || m == 0) return Target{node, 0};
        std::vector<u32> branch;
        for (u32 i = 0; sound_ && i < m; ++i) branch.push_back(conjunction(last));
        std::sort(branch.begin(), branch.end());
        branch.erase(std::unique(branch.begin(), branch.end()), branch.end());
        return Target{node, branches_.intern(branch)};
    }

    bool schema(u32 position) {
        u32 first = static_cast<u32>(states_.size()), n = next();
        if (n == 0) return false;
        schemas_.push_back(Schema{position, first});
        for (u32 i = 0; sound_ && i < n; ++i) {
            u32 test = next(), m = next();
            if (i ? test >= vocabulary_.tests.size() : test != NONE) return false;
            states_.push_back(SchemaState{test, static_cast<u32>(followers_.size())});
            for (u32 j = 0; sound_ && j < m; ++j) {
                u32 follower = next();
                if (follower == 0 || follower >= n) return false;
                followers_.push_back(first + follower);
            }
        }
        return sound_;
    }

    u32 conjunction(u32 context) {
        std::vector<u32> literals;
        u32 n = next();
        if (n == 0) sound_ = false;
        for (u32 i = 0; sound_ && i < n; ++i) {
            u32 sign = next() ? NEGATIVE : 0;
            if (next() == 0) {
                Target target = chain(context, root(context));
                if (sound_) literals.push_back(sign | atom(target));
            } else {
                u32 predicate = next();
                if (predicate >= vocabulary_.predicates.size()) sound_ = false;
                literals.push_back(sign | LAST |
                                   predicate);  // LAST here marks predicates until they are numbered
            }
        }
        std::sort(literals.begin(), literals.end());
        literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
        return conjunctions_.intern(literals);
    }

    u32 atom(Target target) {
        u64 key = u64(target.node) << 32 | target.branch;
        u32 id = atom_of_.find(key);
        if (id == NONE) {
            id = static_cast<u32>(atom_node_.size());
            atom_node_.push_back(target.node);
            atom_of_.insert(key, id);
            complete(target, id);
        }
        return id;
    }

    void complete(Target target, u32 payload) {
        if (target.branch == 0) {
            nodes_[target.node].end = payload;
        } else {
            for (u32 conjunction : branches_[target.branch])
                rows_.push_back(Row{target.node, payload, conjunction});
        }
    }

    const Vocabulary& vocabulary_;
    const u32 *cursor_ = nullptr, *limit_ = nullptr;
    bool sound_ = true;
    std::vector<Node> nodes_;
    FlatMap edges_, atom_of_, slot_of_;
    ListPool branches_, conjunctions_;
    std::vector<u32> roots_, root_order_, atom_node_;
    std::vector<Row> rows_;
    std::vector<std::vector<u32>> slots_;
    std::vector<Schema> schemas_;
    std::vector<SchemaState> states_;
    std::vector<u32> followers_;
};

namespace detail {

inline void append(std::string& out, Header& header, Section section, const void* data, std::size_t count,
                   std::size_t width) {
    out.resize((out.size() + 7) / 8 * 8, '\0');
    header.offset[section] = out.size();
    header.count[section] = count;
    out.append(static_cast<const char*>(data), count * width);
}

template <class T>
void append(std::string& out, Header& header, Section section, const std::vector<T>& data) {
    append(out, header, section, data.data(), data.size(), sizeof(T));
}

}  // namespace detail

inline std::string Builder::finish() {
    u32 n = static_cast<u32>(nodes_.size());

    // Breadth-first numbers, the roots first, so that the children of a node are consecutive.
    std::vector<u32> child_start(n + 1, 0), children(n), order, number(n);
    for (const Node& node : nodes_)
        if (node.parent != NONE) ++child_start[node.parent + 1];
    for (u32 i = 0; i < n; ++i) child_start[i + 1] += child_start[i];
    {
        std::vector<u32> at(child_start.begin(), child_start.end() - 1);
        for (u32 i = 0; i < n; ++i)
            if (nodes_[i].parent != NONE) children[at[nodes_[i].parent]++] = i;
    }

    // Only the names and predicates in use go into the segment, in their order; test 0 stays "*" for every
    // reader.
    std::vector<u32> test_number(vocabulary_.tests.size(), NONE),
        predicate_number(vocabulary_.predicates.size(), NONE);
    auto use_test = [&](u32 t) { test_number[t] = 0; };
    for (const Node& node : nodes_)
        if (node.parent != NONE) use_test(node.key & TEST);
    for (u32 r = 1; r < roots_.size(); ++r)
        if (roots_[r] != NONE) use_test(r - 1);
    for (u32 c = 1; c < conjunctions_.count(); ++c)
        for (u32 literal : conjunctions_[c])
            if (literal & LAST) {
                const Predicate& predicate = vocabulary_.predicates[literal & LITERAL];
                predicate_number[literal & LITERAL] = 0;
                if (predicate.kind == ON_ATTRIBUTE) use_test(predicate.test);
            }
    for (const SchemaState& state : states_)
        if (state.test != NONE) use_test(state.test);
    std::string strings;
    auto put = [&](u32 at, u32 length) {
        if (at == NONE) return NONE;
        u32 to = static_cast<u32>(strings.size());
        strings.append(vocabulary_.strings, at, length);
        return to;
    };
    std::vector<NameTest> tests;
    for (u32 t = 0; t < test_number.size(); ++t) {
        if (test_number[t] == NONE) continue;
        const NameTest& test = vocabulary_.tests[t];
        test_number[t] = static_cast<u32>(tests.size());
        u32 space = put(test.space, test.space_length), local = put(test.local, test.local_length);
        tests.push_back(NameTest{space, test.space_length, local, test.local_length});
    }
    // Predicates that differ only in what they compare with are numbered in its order (predicates.hpp makes
    // use of it).
    std::vector<Predicate> predicates;
    std::vector<u32> in_order;
    for (u32 p = 0; p < predicate_number.size(); ++p)
        if (predicate_number[p] != NONE) in_order.push_back(p);
    std::stable_sort(in_order.begin(), in_order.end(), [&](u32 a, u32 b) {
        const Predicate &left = vocabulary_.predicates[a], &right = vocabulary_.predicates[b];
        if (left.kind != right.kind) return left.kind < right.kind;
        if (left.test != right.test) return left.test < right.test;
        if (left.op != right.op) return left.op < right.op;
        bool number = left.number == left.number, other = right.number == right.number;
        if (number != other) return number;
        if (number && left.number != right.number) return left.number < right.number;
        return vocabulary_.strings.compare(left.text, left.text_length, vocabulary_.strings, right.text,
                                           right.text_length) < 0;
    });
    for (u32 p : in_order) {
        Predicate predicate = vocabulary_.predicates[p];
        predicate_number[p] = static_cast<u32>(predicates.size());
        predicate.text = put(predicate.text, predicate.text_length);
        predicate.test = predicate.kind == ON_ATTRIBUTE ? test_number[predicate.test] : 0;
        predicates.push_back(predicate);
    }

    auto renamed = [&](u32 key) { return (key & DESCENDANT) | test_number[key & TEST]; };
    order.reserve(n);
    order.push_back(0);
    for (u32 at : root_order_) order.push_back(roots_[at]);
    std::vector<u32> keys, first_child;
    keys.reserve(n);
    first_child.reserve(n + 1);
    for (u32 i = 0; i < order.size(); ++i) {
        u32 node = order[i];
        number[node] = i;
        keys.push_back(nodes_[node].parent == NONE ? 0 : renamed(nodes_[node].key));
        first_child.push_back(static_cast<u32>(order.size()));
        auto from = children.begin() + child_start[node], to = children.begin() + child_start[node + 1];
        std::sort(from, to, [&](u32 a, u32 b) { return renamed(nodes_[a].key) < renamed(nodes_[b].key); });
        order.insert(order.end(), from, to);
    }
    first_child.push_back(n);

    // Atoms are numbered trie by trie and by the last name of their chain, so that atoms which are satisfied
    // together, at an element of that name, share words of a bit set.
    u32 atoms = static_cast<u32>(atom_node_.size());
    std::vector<u32> atom_order(atoms), atom_number(atoms), root_of(n);
    for (u32 i = 0; i < n; ++i) root_of[i] = nodes_[i].parent == NONE ? i : root_of[nodes_[i].parent];
    for (u32 a = 0; a < atoms; ++a) atom_order[a] = a;
    std::stable_sort(atom_order.begin(), atom_order.end(), [&](u32 a, u32 b) {
        u32 m = atom_node_[a], n = atom_node_[b];
        if (root_of[m] != root_of[n]) return root_of[m] < root_of[n];
        u32 last_m = nodes_[m].key & TEST, last_n = nodes_[n].key & TEST;
        return last_m != last_n ? last_m < last_n : number[m] < number[n];
    });
    for (u32 i = 0; i < atoms; ++i) atom_number[atom_order[i]] = i;

    // A slot of one subscription has its position, less the base, as number; the others follow, with lists of
    // positions.
    u32 base = NONE, last = 0;
    for (const std::vector<u32>& positions : slots_)
        for (u32 position : positions) base = std::min(base, position), last = std::max(last, position);
    for (const Schema& schema : schemas_)
        base = std::min(base, schema.position), last = std::max(last, schema.position);
    u32 span = base == NONE ? 0 : last - base + 1, slot_count = span;
    if (base == NONE) base = 0;
    std::vector<u32> slot_number, slot_start{0}, positions;
    for (const std::vector<u32>& asking : slots_) {
        if (asking.size() == 1) {
            slot_number.push_back(asking[0] - base);
            continue;
        }
        slot_number.push_back(slot_count++);
        positions.insert(positions.end(), asking.begin(), asking.end());
        slot_start.push_back(static_cast<u32>(positions.size()));
    }

    auto payload = [&](u32 node, u32 value) {
        return root_of[node] == 0 ? slot_number[value] : atom_number[value];
    };
    std::vector<u32> end(n);
    std::vector<u8> flags(n, 0);
    for (u32 i = 0; i < n; ++i) {
        const Node& node = nodes_[order[i]];
        end[i] = node.end == NONE ? NONE : payload(order[i], node.end);
    }

    // Rows, by node.
    std::vector<Row> rows(rows_);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Row& a, const Row& b) { return number[a.node] < number[b.node]; });
    std::vector<u32> row_start(n + 1, 0), out, literals;
    std::size_t at = 0;
    for (u32 i = 0; i < n; ++i) {
        row_start[i] = static_cast<u32>(out.size());
        for (; at < rows.size() && number[rows[at].node] == i; ++at) {
            literals.clear();
            bool pure = true, positive = false, positive_predicate = false;
            for (u32 literal : conjunctions_[rows[at].literals]) {
                u32 sign = literal & NEGATIVE, id;
                positive = positive || !sign;
                if (literal & LAST) {
                    const Predicate& predicate = vocabulary_.predicates[literal & LITERAL];
                    id = atoms + predicate_number[literal & LITERAL];
                    pure = false;
                    positive_predicate = positive_predicate || !sign;
                    flags[i] |= predicate.kind == ON_ATTRIBUTE ? NEEDS_ATTRIBUTES
                                : predicate.kind == ON_STRING  ? NEEDS_STRING
                                                               : NEEDS_TEXT;
                } else {
                    id = atom_number[literal & LITERAL];
                }
                literals.push_back(sign | id);
            }
            flags[i] |= pure ? HAS_PURE : HAS_PREDICATE;
            if (pure && !positive) flags[i] |= ALWAYS_PURE;
            if (!pure && !positive_predicate) flags[i] |= ALWAYS_PREDICATE;
            out.push_back(payload(rows[at].node, rows[at].payload));
            literals.back() |= LAST;
            out.insert(out.end(), literals.begin(), literals.end());
        }
    }
    row_start[n] = static_cast<u32>(out.size());

    std::vector<u32> roots(1 + tests.size(), NONE);
    for (u32 r = 0; r < roots_.size(); ++r)
        if (roots_[r] != NONE) roots[r == 0 ? 0 : 1 + test_number[r - 1]] = number[roots_[r]];

    std::vector<Schema> schemas(schemas_);
    schemas.push_back(Schema{0, static_cast<u32>(states_.size())});
    std::vector<SchemaState> states(states_);
    for (SchemaState& state : states)
        if (state.test != NONE) state.test = test_number[state.test];
    states.push_back(SchemaState{NONE, static_cast<u32>(followers_.size())});

    Header header{};
    std::memcpy(header.magic, SEGMENT_MAGIC, 8);
    header.version = SEGMENT_VERSION;
    header.sections = SECTIONS;
    header.nodes = n, header.atoms = atoms, header.slots = slot_count;
    header.positions = span, header.base = base;
    std::string bytes(sizeof(Header), '\0');
    detail::append(bytes, header, STRINGS, strings.data(), strings.size(), 1);
    detail::append(bytes, header, TESTS, tests);
    detail::append(bytes, header, PREDICATES, predicates);
    detail::append(bytes, header, KEYS, keys);
    detail::append(bytes, header, FIRST_CHILD, first_child);
    detail::append(bytes, header, END, end);
    detail::append(bytes, header, FLAGS, flags);
    detail::append(bytes, header, ROW_START, row_start);
    detail::append(bytes, header, ROWS, out);
    detail::append(bytes, header, ROOTS, roots);
    detail::append(bytes, header, SLOT_START, slot_start);
    detail::append(bytes, header, POSITIONS, positions);
    detail::append(bytes, header, SCHEMAS, schemas);
    detail::append(bytes, header, SCHEMA_STATES, states);
    detail::append(bytes, header, FOLLOWERS, followers_);
    std::memcpy(&bytes[0], &header, sizeof(Header));
    return bytes;
}

}  // namespace twigcast
