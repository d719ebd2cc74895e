// Decides general expressions on the tree of a document.
//
// Sets of nodes are computed a whole step at a time, and what does not depend on the context node is computed
// once for each document, whatever number of subscriptions share it: `/Invoice/line` in `/Invoice/line[2]`
// and
// `/Invoice/line[price > 5]` is one set.  A condition is decided at most once for each node.  So the cost is
// polynomial in the worst case and linear for most expressions; a budget of work bounds it for each
// subscription.
#pragma once

#include <unordered_map>

#include "axes.hpp"
#include "document_memo.hpp"
#include "strings.hpp"

namespace twigcast {

enum Decision : int { IS_FALSE, IS_TRUE, IS_UNDECIDED };

// The characters that upper-case() and lower-case() change, beyond ASCII.
using CaseMap = std::unordered_map<std::string, std::string>;

class Evaluator {
  public:
    Evaluator() : tests_(expressions, tree), axes_(tree, tests_, work_) {}
    Evaluator(const Evaluator&) = delete;

    DocumentTree tree;
    Expressions expressions;
    const CaseMap *lower = nullptr, *upper = nullptr;

    // Forgets the expressions, and what their numbers stand for.
    void forget() {
        expressions.clear();
        tests_.forget();
    }

    // Forgets what is known of the document before.
    void begin() {
        tests_.begin();
        conditions_.begin(), numbers_.begin(), counted_.begin(), firsts_.begin();
        number_values_.clear(), siblings_.clear();
        ++document_;
        if (axes_.bytes() > KEPT) axes_.release();
        if (set_bytes_ > KEPT) release(sets_), set_bytes_ = 0;
    }

    // Whether an expression is true of the document.
    Decision decide(u32 id, u64 limit) {
        prepare(limit);
        try {
            return boolean(id, Context{0, 1, 1}) ? IS_TRUE : IS_FALSE;
        } catch (const WorkLimitExceeded&) {
            return IS_UNDECIDED;
        }
    }

    // Appends the nodes that an expression selects, in document order; false if this takes too much work.
    bool select(u32 id, u64 limit, std::vector<u32>& out) {
        prepare(limit);
        try {
            std::vector<u32> room;
            const std::vector<u32>& found = set(id, Context{0, 1, 1}, room);
            out.insert(out.end(), found.begin(), found.end());
            return true;
        } catch (const WorkLimitExceeded&) {
            return false;
        }
    }

    std::size_t bytes() const {
        return tree.bytes() + axes_.bytes() + set_bytes_ + conditions_.bytes() + numbers_.bytes() +
               counted_.bytes() + firsts_.bytes();
    }

  private:
    static constexpr std::size_t KEPT = 1 << 22;
    static constexpr u32 NO_NODE = NONE - 1;

    struct Context {
        u32 node, position, size;
    };
    // A string that belongs to the document or the expression, or was made.
    struct Text {
        Text(std::string_view given) : shared(given) {}
        Text(std::string made) : own(std::move(made)), is_own(true) {}
        std::string_view view() const { return is_own ? std::string_view(own) : shared; }
        std::string own;
        std::string_view shared;
        bool is_own = false;
    };
    struct Set {
        u32 document = 0;
        std::vector<u32> nodes;
    };
    struct Siblings {
        std::vector<u32> nodes;
        std::size_t last = 0;  // the one that was asked for last
    };
    // A reference to a function of a node that says whether to go on.
    class Visitor {
      public:
        template <class Function>
        Visitor(Function& function)  // NOLINT: a conversion on purpose
            : self_(&function),
              call_([](void* self, u32 node) { return (*static_cast<Function*>(self))(node); }) {}
        bool operator()(u32 node) const { return call_(self_, node); }

      private:
        void* self_;
        bool (*call_)(void*, u32);
    };

    void prepare(u64 limit) {
        work_.begin(limit);
        if (sets_.size() < expressions.size())
            sets_.resize(expressions.size());  // and never while one is in use
    }

    // Sets of nodes

    const std::vector<u32>& set(u32 id, const Context& context, std::vector<u32>& room) {
        if (expressions.traits(id).contextual || expressions.traits(id).positional) {
            find(id, context, room);
            return room;
        }
        if (sets_[id].document != document_) {
            std::vector<u32> found;
            find(id, context, found);
            set_bytes_ += found.capacity() * sizeof(u32);
            sets_[id].nodes = std::move(found);
            sets_[id].document = document_;
        }
        return sets_[id].nodes;
    }

    // The nodes of an expression, in document order, each once.
    void find(u32 id, const Context& context, std::vector<u32>& out) {
        Span list = expressions[id];
        out.clear();
        if (list.data[0] == OP_FILTER) {
            std::vector<u32> room;
            out = set(list.data[1], context, room);
            for (u32 i = 2; i < list.size; ++i) filter(list.data[i], out);
            return;
        }
        if (list.data[0] == OP_STEP && list.size > 5) {
            std::vector<u32> room, some;
            for (u32 origin : set(list.data[1], context, room)) {
                some.clear();
                const u32 most = most_needed(list.data[5]);
                auto take = [&](u32 node) {
                    some.push_back(node);
                    return some.size() < most;
                };
                axes_.walk(origin, list.data[2], list.data[3], list.data[4], take);
                for (u32 i = 5; i < list.size; ++i) filter(list.data[i], some);
                out.insert(out.end(), some.begin(), some.end());
            }
        } else {
            auto take = [&](u32 node) {
                out.push_back(node);
                return true;
            };
            for_each(id, context, take);
            if (expressions.traits(id).ordered) return;
        }
        for (std::size_t i = 1; i < out.size(); ++i)
            if (out[i - 1] >= out[i]) {
                std::sort(out.begin(), out.end());
                out.erase(std::unique(out.begin(), out.end()), out.end());
                return;
            }
    }

    // Keeps the nodes for which a predicate holds; their positions are those in the list.
    void filter(u32 predicate, std::vector<u32>& nodes) {
        const u32 size = static_cast<u32>(nodes.size());
        const bool is_number = expressions.traits(predicate).type == NUMBER;
        u32 kept = 0;
        for (u32 i = 0; i < size; ++i) {
            Context inner{nodes[i], i + 1, size};
            if (is_number ? number(predicate, inner) == inner.position : boolean(predicate, inner))
                nodes[kept++] = nodes[i];
        }
        nodes.resize(kept);
    }

    // How many nodes a step must find if its first predicate is  position() = n  or  position() <= n.
    u32 most_needed(u32 predicate) const {
        Span list = expressions[predicate];
        if (list.data[0] != OP_COMPARE || (list.data[1] != 0 && list.data[1] != 2 && list.data[1] != 3))
            return NONE;
        Span left = expressions[list.data[2]], right = expressions[list.data[3]];
        if (left.data[0] != OP_CALL || left.data[1] != FN_POSITION || right.data[0] != OP_NUMBER) return NONE;
        double bound = expressions.number(list.data[3]);
        return bound >= 1 && bound < 1e9 ? static_cast<u32>(bound) : bound < 1 ? 1 : NONE;
    }

    // Visits each node of an expression at least once, in any order unless it is `ordered`, until `visit`
    // returns false.
    bool for_each(u32 id, const Context& context, Visitor visit) {
        Span list = expressions[id];
        switch (list.data[0]) {
            case OP_CONTEXT: return visit(context.node);
            case OP_ROOT: return visit(0);
            case OP_KEEP: {
                const u32 predicate = list.data[2];
                if (is_nth_child(list)) return for_nth_children(list, context, visit);
                auto keep = [&](u32 node) { return !boolean(predicate, Context{node, 1, 1}) || visit(node); };
                return for_each(list.data[1], context, keep);
            }
            case OP_UNION:
                for (u32 i = 1; i < list.size; ++i)
                    if (!for_each(list.data[i], context, visit)) return false;
                return true;
            case OP_STEP:
                if (list.size == 5) {
                    const u32 axis = list.data[2], kind = list.data[3], which = list.data[4];
                    if (expressions[list.data[1]].data[0] == OP_CONTEXT)
                        return axes_.walk_one(context.node, axis, kind, which, visit);
                    std::vector<u32> room;
                    return axes_.walk_set(set(list.data[1], context, room), axis, kind, which, visit);
                }
                [[fallthrough]];
            default: {
                std::vector<u32> room;
                for (u32 node : set(id, context, room))
                    if (!visit(node)) return false;
                return true;
            }
        }
    }

    // Whether a list is  child::name[n]  or  child::name[last()].
    bool is_nth_child(Span keep) const {
        Span step = expressions[keep.data[1]], predicate = expressions[keep.data[2]];
        if (step.data[0] != OP_STEP || step.size != 5 || step.data[2] != AXIS_CHILD ||
            predicate.data[0] != OP_COMPARE)
            return false;
        if (predicate.data[1] != 0 || expressions[predicate.data[2]].data[0] != OP_SIBLING_POSITION)
            return false;
        Span right = expressions[predicate.data[3]];
        return right.data[0] == OP_NUMBER ||
               (right.data[0] == OP_SIBLING_COUNT && right.data[1] == predicate.data[2]);
    }

    bool for_nth_children(Span keep, const Context& context, Visitor visit) {
        Span step = expressions[keep.data[1]], predicate = expressions[keep.data[2]];
        const u32 position = predicate.data[2], right = predicate.data[3];
        const bool last = expressions[right].data[0] == OP_SIBLING_COUNT;
        const double wanted = last ? 0 : expressions.number(right);
        auto look = [&](u32 parent) {
            if (tree.nodes[parent].kind() > ELEMENT_NODE) return true;
            const std::vector<u32>& nodes = counted(position, parent).nodes;
            const double at = last ? static_cast<double>(nodes.size()) : wanted;
            if (!(at >= 1 && at <= static_cast<double>(nodes.size())) || at != std::floor(at)) return true;
            const u32 node = nodes[static_cast<std::size_t>(at) - 1];
            return !tests_.admits(AXIS_CHILD, step.data[3], step.data[4], tree.nodes[node]) || visit(node);
        };
        return for_each(step.data[1], context, look);
    }

    // The first node of an expression in document order, or NONE.
    u32 first(u32 id, const Context& context) {
        if (!expressions.traits(id).ordered) {
            std::vector<u32> room;
            const std::vector<u32>& found = set(id, context, room);
            return found.empty() ? NONE : found[0];
        }
        u32 found = NONE;
        auto take = [&](u32 node) {
            found = node;
            return false;
        };
        if (!expressions.traits(id).shared || expressions[id].data[0] < OP_STEP) {
            for_each(id, context, take);
            return found;
        }
        const u64 key = static_cast<u64>(id) << 32 | (expressions.traits(id).contextual ? context.node : 0);
        const u32 known = firsts_.find(key);
        if (known != NONE) return known == NO_NODE ? NONE : known;
        for_each(id, context, take);
        firsts_.insert(key, found == NONE ? NO_NODE : found);
        return found;
    }

    double count(u32 id, const Context& context) {
        Span list = expressions[id];
        if (list.data[0] == OP_STEP && list.size == 5 && expressions.traits(list.data[1]).single) {
            if (list.data[2] == AXIS_DESCENDANT && list.data[3] == TEST_NAME) {
                u32 origin = first(list.data[1], context);
                if (origin == NONE) return 0;
                u32 below = axes_.count_named_below(origin, list.data[4]);
                if (below != NONE) return below;
            }
            double found = 0;
            auto add = [&](u32) {
                ++found;
                return true;
            };
            for_each(id, context, add);
            return found;
        }
        std::vector<u32> room;
        return static_cast<double>(set(id, context, room).size());
    }

    // Conditions

    bool boolean(u32 id, const Context& context);
    bool decided(u32 id, const Context& context);
    bool lang(std::string_view wanted, u32 node);
    static char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
    static char upper_ascii(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

    // Comparisons: = != < <= > >=

    template <class Value>
    static bool stands(const Value& left, u32 comparison, const Value& right) {
        switch (comparison) {
            case 0: return left == right;
            case 1: return left != right;
            case 2: return left < right;
            case 3: return left <= right;
            case 4: return left > right;
            default: return left >= right;
        }
    }
    static u32 mirrored(u32 comparison) {
        static const u32 other[] = {0, 1, 4, 5, 2, 3};
        return other[comparison];
    }

    bool compare(u32 comparison, u32 left, u32 right, const Context& context);
    bool compare_dates(u32 comparison, u32 left, u32 date, const Context& context);

    template <class Holds>
    bool any_value(u32 id, const Context& context, Holds holds) {
        auto look = [&](u32 node) {
            std::string_view text = tree.string_value(node);
            work_.read(text.size());
            return !holds(text);
        };
        return !for_each(id, context, look);
    }

    bool compare_sets(u32 comparison, u32 left, u32 right, const Context& context);
    bool extremes(const std::vector<u32>& nodes, double& low, double& high);

    // The string-values of nodes, sorted.
    std::vector<std::string_view> values(const std::vector<u32>& nodes) {
        std::vector<std::string_view> found;
        for (u32 node : nodes) {
            found.push_back(tree.string_value(node));
            work_.read(found.back().size());
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    // Numbers

    double number(u32 id, const Context& context);
    double calculated(u32 id, const Context& context);
    double position_of(u32 id, u32 node);
    // The children of a node that a position counts.
    Siblings& counted(u32 id, u32 parent);

    // Strings

    Text string(u32 id, const Context& context);
    static std::string cased(std::string_view text, const CaseMap* map, char (*ascii)(char));
    Text name_of(u32 function, u32 node);

    Work work_;
    NodeTests tests_;
    Axes axes_;
    DocumentMemo conditions_, numbers_, counted_, firsts_;
    std::vector<double> number_values_;
    std::vector<Siblings> siblings_;
    std::vector<Set> sets_;  // by expression
    std::size_t set_bytes_ = 0;
    u32 document_ = 0;
};

}  // namespace twigcast

#include "conditions.hpp"
#include "values.hpp"
