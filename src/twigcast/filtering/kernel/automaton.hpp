// The lazy path automaton: finds for a label path which chains of all patterns it completes or continues.
//
//   component   a hash-consed set of trie nodes; its child and descendant steps are remembered
//   state       the components reached at an element from one origin, and those with a pending `//`
//   path node   a label path: its states, each with the origins in it, computed once, then looked up
//
// An origin is the node at which a trie was entered: the document, or an open element at which some branching
// pattern is alive.  Components make a new label path cheap: nearly always its states consist of components
// whose steps were computed for earlier paths.  Everything here is a cache of one matcher and can be emptied
// at any time; `renew` empties it but for the label paths that come again.
#pragma once

#include "origins.hpp"
#include "predicates.hpp"
#include "segment.hpp"

namespace twigcast {

class Automaton {
  public:
    struct Context {
        u32 origins, state;
    };
    struct Node {
        u32 parent, symbol, depth, flags;
        u32 contexts, context_count;
        u32 pushes, push_count;  // grants of the atoms that this path completes
        u32 deepest,
            given;  // the deepest origin of the pushes, and the last instance of it that got them all
        u32 accepts, accept_count;
        u32 joins, join_count;  // contexts with rows
        u32 visited;            // the last document that has this path
        u32 tries, hits;        // of the memo
        bool again;             // whether two documents have this path
    };
    struct State {
        u32 blocks = 0, joins = 0;  // lists: blocks of ends; components with rows
        u32 flags = 0, uses = 0;
        u32 programs[2] = {NONE, NONE};  // for the rows without and with value predicates
        u32 step = 0, context = 0;  // while a path node is made: its number, and its context with this state
    };
    struct Component {
        u32 block, flags;
        bool children, descendants;
    };

    explicit Automaton(const Segment& segment) : segment_(segment), names(segment) { clear(); }

    u32 symbol(const char* name, std::size_t length, u64 hash) {
        u32 known = symbol_of_.find(name, length, hash);
        if (known != NONE) return known;
        names.admitting(name, length, scratch_);
        u32 symbol = symbols_.intern(scratch_);
        symbol_of_.remember(name, length, hash, symbol);
        return symbol;
    }

    // The symbol of a local name in an unknown namespace: it has the tests that some name like this passes.
    u32 local_symbol(const char* name, std::size_t length) {
        scratch_.clear();
        for (u32 test = 0; test < segment_.test_count(); ++test) {
            const NameTest& each = segment_.tests[test];
            if (each.local == NONE || (each.local_length == length &&
                                       std::memcmp(segment_.strings + each.local, name, length) == 0))
                scratch_.push_back(test);
        }
        return symbols_.intern(scratch_);
    }

    static constexpr u32 DOCUMENT = 1;  // the path node of the document itself; 0 is the dead one

    u32 child(u32 parent, u32 symbol) {
        u64 key = u64(parent) << 32 | symbol;
        u32 known = child_of_.find(key);
        if (known != NONE) return known;
        u32 node = make_child(parent, symbol);
        child_of_.insert(key, node);
        return node;
    }

    Span tests_of(u32 symbol) const { return symbols_[symbol]; }

    Node& operator[](u32 node) { return nodes_[node]; }
    const Context* contexts(const Node& node) const { return contexts_.data() + node.contexts; }
    const Context* joins(const Node& node) const { return joins_.data() + node.joins; }
    const u32* pushes(const Node& node) const { return pushes_.data() + node.pushes; }
    const u32* accepts(const Node& node) const { return accepts_.data() + node.accepts; }
    State& state(u32 id) { return states_[id]; }
    Span trie_nodes(u32 component) const { return component_sets_[component]; }
    Span components_with_rows(u32 state) const { return lists_[states_[state].joins]; }

    std::size_t path_nodes() const { return nodes_.size(); }
    std::size_t component_count() const { return components_.size(); }
    std::size_t state_count() const { return states_.size(); }
    u64 work() const { return work_ + origins.work; }
    std::size_t symbol_bytes() const { return symbols_.bytes() + bytes_of(root_state_); }
    std::size_t bytes() const {
        return symbol_of_.bytes() + symbol_bytes() + component_sets_.bytes() + state_sets_.bytes() +
               lists_.bytes() + blocks.bytes() + origins.bytes() + step_.bytes() + next_.bytes() +
               child_of_.bytes() + bytes_of(nodes_) + bytes_of(contexts_) + bytes_of(joins_) +
               bytes_of(pushes_) + bytes_of(accepts_) + bytes_of(components_) + bytes_of(states_);
    }

    void clear() {
        component_sets_.clear(), state_sets_.clear(), lists_.clear(), blocks.clear(), origins.clear();
        step_.clear(), next_.clear(), child_of_.clear();
        release(nodes_), release(contexts_), release(joins_), release(pushes_), release(accepts_);
        release(components_), release(states_), release(root_state_);
        components_.push_back(Component{});
        states_.push_back(State{});
        nodes_.push_back(Node{});
        make_document();
    }

    // Forgets names and their symbols too; no symbol from before may be used again.
    void clear_names() {
        symbol_of_.clear();
        symbols_.clear();
        clear();
    }

    std::size_t visited_since(u32 document) const {
        std::size_t count = 0;
        for (const Node& node : nodes_) count += node.visited >= document;
        return count;
    }

    // Empties everything, then makes those path nodes again that two documents had, the last of them
    // `document` or a later one; not more of them than fit into `most_bytes`.
    void renew(u32 document, std::size_t most_bytes) {
        struct Kept {
            u32 node, parent, symbol, visited;
        };
        std::vector<bool> wanted(nodes_.size(), false);
        for (u32 id = static_cast<u32>(nodes_.size()) - 1; id > DOCUMENT;
             --id) {  // parents come before children
            const Node& node = nodes_[id];
            if (node.again && node.visited >= document) wanted[id] = true;
            if (wanted[id]) wanted[node.parent] = true;
        }
        std::vector<Kept> kept;
        for (u32 id = DOCUMENT + 1; id < nodes_.size(); ++id)
            if (wanted[id])
                kept.push_back(Kept{id, nodes_[id].parent, nodes_[id].symbol, nodes_[id].visited});
        clear();
        FlatMap made;
        made.insert(DOCUMENT, DOCUMENT);
        for (const Kept& each : kept) {
            if (bytes() > most_bytes) break;
            u32 id = child(made.find(each.parent), each.symbol);
            nodes_[id].visited = each.visited;
            nodes_[id].again = true;
            made.insert(each.node, id);
        }
    }

    const Segment& segment_;
    NameTests names;
    ListPool blocks;  // sets of atoms or of slots
    OriginSets origins;

    // A block that many origins are given is split into its atoms: the same atoms come again in other blocks.
    static constexpr u32 MANY_ORIGINS = 8, SPLIT_ATOMS = 64;
    bool to_split(u32 set, u32 block) const {
        return origins[set].size > MANY_ORIGINS && blocks[block].size > 1 &&
               blocks[block].size <= SPLIT_ATOMS;
    }

  private:
    static constexpr std::size_t MOST_COMPONENTS = 24;  // of a state; more are united into one
    static constexpr std::size_t MANY_STATES = 32;      // of a path node; more are split

    // `nodes` must be sorted and distinct.
    u32 make_component(const std::vector<u32>& nodes) {
        u32 id = component_sets_.intern(nodes);
        if (id < components_.size()) return id;
        Component component{};
        std::vector<u32>& ends = scratch_;
        ends.clear();
        for (u32 node : nodes) {
            u32 from = segment_.first_child[node], to = segment_.first_child[node + 1];
            if (from < to) {
                component.children = component.children || !(segment_.keys[from] & DESCENDANT);
                component.descendants = component.descendants || (segment_.keys[to - 1] & DESCENDANT);
            }
            component.flags |= segment_.flags[node];
            segment_.for_ends(node, [&ends](u32 end) { ends.push_back(end); });
        }
        component.block = blocks.intern(ends);
        components_.push_back(component);
        return id;
    }

    u32 step(u32 component, u32 axis, u32 symbol) {
        const Component& from = components_[component];
        if (!(axis ? from.descendants : from.children)) return 0;
        u64 key = u64(component) << 32 | axis | symbol;
        u32 known = step_.find(key);
        if (known != NONE) return known;
        // Trie nodes are numbered by parent, and below one parent by key; so `reached` is sorted.
        std::vector<u32>& reached = reached_;
        reached.clear();
        Span tests = symbols_[symbol];
        work_ += component_sets_[component].size;
        for (u32 node : component_sets_[component]) {
            const u32* at = segment_.keys + segment_.first_child[node];
            const u32* last = segment_.keys + segment_.first_child[node + 1];
            for (u32 test : tests) {
                u32 key = axis | test;
                if (last - at > 8) at = std::lower_bound(at, last, key);
                while (at < last && *at < key) ++at;
                if (at == last) break;
                if (*at == key) reached.push_back(static_cast<u32>(at - segment_.keys));
            }
        }
        u32 target = make_component(reached);
        step_.insert(key, target);
        return target;
    }

    u32 unite(const std::vector<u32>& components) {
        std::vector<u32> nodes;
        for (u32 component : components)
            for (u32 node : component_sets_[component]) nodes.push_back(node);
        std::sort(nodes.begin(), nodes.end());
        nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
        return make_component(nodes);
    }

    u32 make_state(std::vector<u32>& exact, std::vector<u32>& pending) {
        for (std::vector<u32>* set : {&exact, &pending}) {
            std::sort(set->begin(), set->end());
            set->erase(std::unique(set->begin(), set->end()), set->end());
            if (set->size() > MOST_COMPONENTS) *set = {unite(*set)};
        }
        if (exact.empty() && pending.empty()) return 0;
        std::vector<u32> key{static_cast<u32>(exact.size())};
        key.insert(key.end(), exact.begin(), exact.end());
        key.insert(key.end(), pending.begin(), pending.end());
        u32 id = state_sets_.intern(key);
        if (id < states_.size()) return id;
        State state{};
        std::vector<u32> with_ends, with_rows;
        for (u32 component : exact) {
            if (components_[component].block) with_ends.push_back(components_[component].block);
            if (components_[component].flags & HAS_ROWS) with_rows.push_back(component);
            state.flags |= components_[component].flags;
        }
        std::sort(with_ends.begin(), with_ends.end());
        with_ends.erase(std::unique(with_ends.begin(), with_ends.end()), with_ends.end());
        state.blocks = lists_.intern(with_ends);
        state.joins = lists_.intern(with_rows);
        states_.push_back(state);
        return id;
    }

    u32 start_state(std::vector<u32> roots) {
        if (roots.empty()) return 0;
        std::sort(roots.begin(), roots.end());
        u32 component = make_component(roots);
        std::vector<u32> exact, pending;
        if (components_[component].children) exact.push_back(component);
        if (components_[component].descendants) pending.push_back(component);
        // The ends and rows of a root do not belong to an element, so a start state has only steps.
        std::vector<u32> key{static_cast<u32>(exact.size())};
        key.insert(key.end(), exact.begin(), exact.end());
        key.insert(key.end(), pending.begin(), pending.end());
        if (key.size() == 1) return 0;
        u32 id = state_sets_.intern(key);
        if (id >= states_.size()) states_.push_back(State{});
        return id;
    }

    u32 next(u32 state, u32 symbol) {
        u64 key = u64(state) << 32 | symbol;
        u32 known = next_.find(key);
        if (known != NONE) return known;
        Span parts = state_sets_[state];
        work_ += 16 + parts.size;
        std::vector<u32> all(parts.begin(), parts.end()), exact;
        u32 exact_count = all[0];
        std::vector<u32> pending(all.begin() + 1 + exact_count, all.end());
        for (u32 i = 1; i <= exact_count; ++i)
            if (u32 component = step(all[i], 0, symbol)) exact.push_back(component);
        for (u32 from : std::vector<u32>(pending))
            if (u32 component = step(from, DESCENDANT, symbol)) exact.push_back(component);
        for (u32 component : exact)
            if (components_[component].descendants) pending.push_back(component);
        u32 target = make_state(exact, pending);
        next_.insert(key, target);
        return target;
    }

    u32 root_state(u32 symbol) {
        if (symbol >= root_state_.size()) root_state_.resize(symbol + 1, NONE);
        if (root_state_[symbol] == NONE) {
            std::vector<u32> roots;
            for (u32 test : symbols_[symbol])
                if (segment_.root(test) != NONE) roots.push_back(segment_.root(test));
            root_state_[symbol] = start_state(roots);
        }
        return root_state_[symbol];
    }

    void make_document() {
        Node node{};
        node.contexts = 0;
        if (segment_.roots[0] != NONE) {
            u32 own = start_state({segment_.roots[0]});
            if (own) contexts_.push_back(Context{origins.with(0, 0), own});
        }
        if (u32 state = start_state({0})) contexts_.push_back(Context{OriginSets::OF_RESULT, state});
        node.context_count = static_cast<u32>(contexts_.size());
        node.flags = segment_.flags[0];
        nodes_.push_back(node);
    }

    u32 make_child(u32 parent, u32 symbol) {
        Node node{};
        node.parent = parent;
        node.symbol = symbol;
        node.depth = nodes_[parent].depth + 1;
        made_.clear();
        ++steps_;
        work_ += 16 + 8 * nodes_[parent].context_count;
        for (u32 i = 0; i < nodes_[parent].context_count; ++i) {
            Context context = contexts_[nodes_[parent].contexts + i];
            if (u32 state = next(context.state, symbol)) add_context(context.origins, state);
        }
        if (made_.size() > MANY_STATES) split_states(false);
        if (made_.size() > MANY_STATES) split_states(true);
        node.pushes = static_cast<u32>(pushes_.size());
        node.accepts = static_cast<u32>(accepts_.size());
        node.joins = static_cast<u32>(joins_.size());
        for (const Context& context : made_) {
            const State& state = states_[context.state];
            for (u32 block : lists_[state.blocks]) {
                if (context.origins == OriginSets::OF_RESULT) accepts_.push_back(block);
                else add_push(node, context.origins, block);
            }
            if (state.joins) joins_.push_back(context);
            node.flags |= state.flags;
        }
        node.push_count = static_cast<u32>(pushes_.size()) - node.pushes;
        node.accept_count = static_cast<u32>(accepts_.size()) - node.accepts;
        node.join_count = static_cast<u32>(joins_.size()) - node.joins;
        // The element itself is an origin only if some row is alive to use its atoms.
        if (node.join_count)
            if (u32 own = root_state(symbol)) add_context(origins.with(node.depth, 0), own);
        if (made_.empty()) return 0;
        node.contexts = static_cast<u32>(contexts_.size());
        contexts_.insert(contexts_.end(), made_.begin(), made_.end());
        node.context_count = static_cast<u32>(made_.size());
        nodes_.push_back(node);
        return static_cast<u32>(nodes_.size() - 1);
    }

    void add_context(u32 set, u32 id) {
        State& state = states_[id];
        if (state.step == steps_) {
            u32& with = made_[state.context].origins;
            with = origins.unite(with, set);
            return;
        }
        state.step = steps_;
        state.context = static_cast<u32>(made_.size());
        made_.push_back(Context{set, id});
    }

    // If the origins of a path are in many states, splits these into states of one component each, or of one
    // trie node each, with all origins that are in it: there are as many of these as the patterns have,
    // however deep the path is.
    void split_states(bool by_nodes) {
        std::vector<Context> contexts = made_;
        std::vector<u32> parts, one(1);
        if (by_nodes) {  // unless there are more trie nodes than states
            for (const Context& context : contexts)
                for (u32 component : components_of(context.state))
                    parts.insert(parts.end(), component_sets_[component].begin(),
                                 component_sets_[component].end());
            work_ += parts.size();
            std::sort(parts.begin(), parts.end());
            if (static_cast<std::size_t>(std::unique(parts.begin(), parts.end()) - parts.begin()) * 2 >
                contexts.size())
                return;
        }
        made_.clear();
        ++steps_;
        for (const Context& context : contexts) {
            if (context.origins == OriginSets::OF_RESULT) {
                add_context(context.origins, context.state);
                continue;
            }
            u32 exact_count = state_sets_[context.state].data[0], number = 0;
            for (u32 component : components_of(context.state)) {
                bool exact = number++ < exact_count;
                parts.assign(1, component);
                if (by_nodes) {
                    Span nodes = component_sets_[component];
                    parts.assign(nodes.begin(), nodes.end());
                    for (u32& part : parts) one[0] = part, part = make_component(one);
                }
                work_ += parts.size();
                for (u32 part : parts) {
                    if (!exact && !components_[part].descendants) continue;
                    std::vector<u32> in{part}, none;
                    add_context(context.origins, exact ? make_state(in, none) : make_state(none, in));
                }
            }
        }
    }

    std::vector<u32> components_of(u32 state) const {
        Span parts = state_sets_[state];
        return std::vector<u32>(parts.begin() + 1, parts.end());
    }

    void add_push(Node& node, u32 set, u32 block) {
        node.deepest = std::max(node.deepest, origins[set].depth);
        if (!to_split(set, block)) {
            pushes_.push_back(origins.grant(set, block));
            return;
        }
        std::vector<u32> atoms(blocks[block].begin(), blocks[block].end());
        for (u32 atom : atoms) pushes_.push_back(origins.grant(set, blocks.intern(&atom, 1)));
    }

    NameTable symbol_of_;
    ListPool symbols_;  // a symbol is the set of name tests that admit a name; names with equal sets share a
                        // symbol
    ListPool component_sets_, state_sets_, lists_;
    std::vector<Component> components_;
    std::vector<State> states_;
    FlatMap step_, next_, child_of_;
    std::vector<Node> nodes_;
    std::vector<Context> contexts_, joins_, made_;
    std::vector<u32> pushes_, accepts_, root_state_, scratch_, reached_;
    u32 steps_ = 0;  // path nodes made
    u64 work_ = 0;
};

}  // namespace twigcast
