// Decides general expressions on the tree of a document.
//
// Sets of nodes are computed a whole step at a time, and what does not depend on the context node is computed once for
// each document, whatever number of subscriptions share it: `/Invoice/line` in `/Invoice/line[2]` and
// `/Invoice/line[price > 5]` is one set.  A condition is decided at most once for each node.  So the cost is polynomial
// in the worst case and linear for most expressions; a budget of work bounds it for each subscription.
#pragma once

#include <unordered_map>

#include "axes.hpp"
#include "strings.hpp"

namespace twigcast {

enum Decision : int { IS_FALSE, IS_TRUE, IS_UNDECIDED };

// The characters that upper-case() and lower-case() change, beyond ASCII.
using CaseMap = std::unordered_map<std::string, std::string>;

// Values by expression and node, for one document: `begin` forgets them all at once.
class DocumentMemo {
  public:
    void begin() {
        if (slots_.size() > KEPT) release(slots_);
        size_ = 0;
        if (++document_ == 0) release(slots_), document_ = 1;
    }

    u32 find(u64 key) const {
        if (slots_.empty()) return NONE;
        for (std::size_t i = mix(key) & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
            if (slots_[i].document != document_) return NONE;
            if (slots_[i].key == key) return slots_[i].value;
        }
    }

    void insert(u64 key, u32 value) {
        if ((size_ + 1) * 2 > slots_.size()) grow();
        place(key, value);
        ++size_;
    }

    std::size_t bytes() const { return bytes_of(slots_); }

  private:
    static constexpr std::size_t KEPT = 1 << 16;

    struct Slot {
        u64 key = 0;
        u32 document = 0, value = 0;
    };

    void place(u64 key, u32 value) {
        std::size_t i = mix(key) & (slots_.size() - 1);
        while (slots_[i].document == document_) i = (i + 1) & (slots_.size() - 1);
        slots_[i] = Slot{key, document_, value};
    }

    void grow() {
        std::vector<Slot> old(slots_.empty() ? 256 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.document == document_) place(slot.key, slot.value);
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
    u32 document_ = 1;
};

class Evaluator {
  public:
    Evaluator() : tests_(expressions, tree), axes_(tree, tests_, work_) {}
    Evaluator(const Evaluator&) = delete;

    DocumentTree tree;
    Expressions expressions;
    const CaseMap *lower = nullptr, *upper = nullptr;

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
        return tree.bytes() + axes_.bytes() + set_bytes_ + conditions_.bytes() + numbers_.bytes() + counted_.bytes() +
               firsts_.bytes();
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
            : self_(&function), call_([](void* self, u32 node) { return (*static_cast<Function*>(self))(node); }) {}
        bool operator()(u32 node) const { return call_(self_, node); }

      private:
        void* self_;
        bool (*call_)(void*, u32);
    };

    void prepare(u64 limit) {
        work_.begin(limit);
        if (sets_.size() < expressions.size()) sets_.resize(expressions.size());  // and never while one is in use
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
            if (is_number ? number(predicate, inner) == inner.position : boolean(predicate, inner)) nodes[kept++] = nodes[i];
        }
        nodes.resize(kept);
    }

    // How many nodes a step must find if its first predicate is  position() = n  or  position() <= n.
    u32 most_needed(u32 predicate) const {
        Span list = expressions[predicate];
        if (list.data[0] != OP_COMPARE || (list.data[1] != 0 && list.data[1] != 2 && list.data[1] != 3)) return NONE;
        Span left = expressions[list.data[2]], right = expressions[list.data[3]];
        if (left.data[0] != OP_CALL || left.data[1] != FN_POSITION || right.data[0] != OP_NUMBER) return NONE;
        double bound = expressions.number(list.data[3]);
        return bound >= 1 && bound < 1e9 ? static_cast<u32>(bound) : bound < 1 ? 1 : NONE;
    }

    // Visits each node of an expression at least once, in any order unless it is `ordered`, until `visit` returns false.
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
        if (step.data[0] != OP_STEP || step.size != 5 || step.data[2] != AXIS_CHILD || predicate.data[0] != OP_COMPARE) return false;
        if (predicate.data[1] != 0 || expressions[predicate.data[2]].data[0] != OP_SIBLING_POSITION) return false;
        Span right = expressions[predicate.data[3]];
        return right.data[0] == OP_NUMBER || (right.data[0] == OP_SIBLING_COUNT && right.data[1] == predicate.data[2]);
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

    bool boolean(u32 id, const Context& context) {
        const Expressions::Traits traits = expressions.traits(id);
        if (!traits.heavy || traits.positional) return decided(id, context);
        const u64 key = static_cast<u64>(id) << 32 | (traits.contextual ? context.node : 0);
        u32 known = conditions_.find(key);
        if (known == NONE) {
            known = decided(id, context);
            conditions_.insert(key, known);
        }
        return known;
    }

    bool decided(u32 id, const Context& context) {
        work_.spend(1);
        const Expressions::Traits traits = expressions.traits(id);
        if (traits.type == NODES) {
            auto stop = [](u32) { return false; };
            return !for_each(id, context, stop);
        }
        if (traits.type == NUMBER) {
            double value = number(id, context);
            return value == value && value != 0;
        }
        if (traits.type == STRING) return !string(id, context).view().empty();
        Span list = expressions[id];
        switch (list.data[0]) {
            case OP_AND:
                for (u32 i = 1; i < list.size; ++i)
                    if (!boolean(list.data[i], context)) return false;
                return true;
            case OP_OR:
                for (u32 i = 1; i < list.size; ++i)
                    if (boolean(list.data[i], context)) return true;
                return false;
            case OP_COMPARE: return compare(list.data[1], list.data[2], list.data[3], context);
            default: break;
        }
        const u32 function = list.data[1], one = list.size > 2 ? list.data[2] : 0, two = list.size > 3 ? list.data[3] : 0;
        switch (function) {
            case FN_BOOLEAN: return boolean(one, context);
            case FN_NOT: return !boolean(one, context);
            case FN_TRUE: return true;
            case FN_FALSE: return false;
            case FN_LANG: return lang(string(one, context).view(), context.node);
            default: break;
        }
        const Text left = string(one, context), right = string(two, context);
        std::string_view text = left.view(), part = right.view();
        work_.read(text.size());
        if (function == FN_CONTAINS) return text.find(part) != std::string_view::npos;
        if (part.size() > text.size()) return false;
        return (function == FN_STARTS_WITH ? text.substr(0, part.size()) : text.substr(text.size() - part.size())) == part;
    }

    bool lang(std::string_view wanted, u32 node) {
        static constexpr std::string_view NAME = "http://www.w3.org/XML/1998/namespace\flang";
        for (; node != NONE; node = tree.nodes[node].parent) {
            if (tree.nodes[node].kind() != ELEMENT_NODE) continue;
            for (u32 at = node + 1; at < tree.nodes[node].end && tree.nodes[at].kind() == ATTRIBUTE_NODE; ++at) {
                work_.spend(1);
                if (tree.spelling(tree.nodes[at].name()).substr(0, NAME.size()) != NAME) continue;
                std::string_view found = tree.string_value(at);
                if (found.size() < wanted.size() || (found.size() > wanted.size() && found[wanted.size()] != '-')) return false;
                for (std::size_t i = 0; i < wanted.size(); ++i)
                    if (lower_ascii(found[i]) != lower_ascii(wanted[i])) return false;
                return true;
            }
        }
        return false;
    }

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

    bool compare(u32 comparison, u32 left, u32 right, const Context& context) {
        const ValueType a = expressions.traits(left).type, b = expressions.traits(right).type;
        if (a != NODES && b == NODES) return compare(mirrored(comparison), right, left, context);
        if (a != NODES && expressions[left].data[0] == OP_DATE && expressions[right].data[0] != OP_DATE)
            return compare(mirrored(comparison), right, left, context);
        if (expressions[right].data[0] == OP_DATE) return compare_dates(comparison, left, right, context);
        if (a == NODES && b == NODES) return compare_sets(comparison, left, right, context);
        if (a == NODES) {
            if (b == BOOLEAN) return compare_values(boolean(left, context), comparison, boolean(right, context));
            if (b == STRING && comparison < 2) {
                const Text value = string(right, context);
                return any_value(left, context, [&](std::string_view text) { return stands(text, comparison, value.view()); });
            }
            const double value = number(right, context);
            return any_value(left, context, [&](std::string_view text) {
                return stands(to_number(text.data(), text.size()), comparison, value);
            });
        }
        if (comparison >= 2 || ((a == NUMBER || b == NUMBER) && a != BOOLEAN && b != BOOLEAN))
            return stands(number(left, context), comparison, number(right, context));
        if (a == BOOLEAN || b == BOOLEAN) return stands(boolean(left, context), comparison, boolean(right, context));
        const Text one = string(left, context), two = string(right, context);
        return stands(one.view(), comparison, two.view());
    }

    bool compare_dates(u32 comparison, u32 left, u32 date, const Context& context) {
        const Instant instant = to_instant(expressions.string(expressions[date].data[1]));
        if (expressions.traits(left).type == NODES)
            return any_value(left, context, [&](std::string_view text) { return stands(to_instant(text), comparison, instant); });
        return stands(to_instant(string(left, context).view()), comparison, instant);
    }

    static bool compare_values(bool left, u32 comparison, bool right) {
        return stands(static_cast<double>(left), comparison, static_cast<double>(right));
    }

    template <class Holds>
    bool any_value(u32 id, const Context& context, Holds holds) {
        auto look = [&](u32 node) {
            std::string_view text = tree.string_value(node);
            work_.read(text.size());
            return !holds(text);
        };
        return !for_each(id, context, look);
    }

    bool compare_sets(u32 comparison, u32 left, u32 right, const Context& context) {
        std::vector<u32> room_a, room_b;
        const std::vector<u32>& a = set(left, context, room_a);
        const std::vector<u32>& b = set(right, context, room_b);
        if (a.empty() || b.empty()) return false;
        if (comparison >= 2) {  // some pair stands if the extremes do
            double low_a = 0, high_a = 0, low_b = 0, high_b = 0;
            if (!extremes(a, low_a, high_a) || !extremes(b, low_b, high_b)) return false;
            return comparison <= 3 ? stands(low_a, comparison, high_b) : stands(high_a, comparison, low_b);
        }
        std::vector<std::string_view> one = values(a), two = values(b);
        if (comparison == 1) return one.front() != one.back() || two.front() != two.back() || one.front() != two.front();
        for (std::size_t i = 0, j = 0; i < one.size() && j < two.size();) {
            int order = one[i].compare(two[j]);
            if (order == 0) return true;
            order < 0 ? ++i : ++j;
        }
        return false;
    }

    bool extremes(const std::vector<u32>& nodes, double& low, double& high) {
        bool any = false;
        for (u32 node : nodes) {
            std::string_view text = tree.string_value(node);
            work_.read(text.size());
            double value = to_number(text.data(), text.size());
            if (value != value) continue;
            low = any ? std::min(low, value) : value;
            high = any ? std::max(high, value) : value;
            any = true;
        }
        return any;
    }

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

    double number(u32 id, const Context& context) {
        const Expressions::Traits traits = expressions.traits(id);
        if (!(traits.heavy || traits.shared) || traits.positional || traits.type != NUMBER) return calculated(id, context);
        const u32 operation = expressions[id].data[0];
        if (operation == OP_NUMBER || operation >= OP_SIBLING_POSITION) return calculated(id, context);
        const u64 key = static_cast<u64>(id) << 32 | (traits.contextual ? context.node : 0);
        u32 known = numbers_.find(key);
        if (known == NONE) {
            double value = calculated(id, context);
            known = static_cast<u32>(number_values_.size());
            number_values_.push_back(value);
            numbers_.insert(key, known);
        }
        return number_values_[known];
    }

    double calculated(u32 id, const Context& context) {
        work_.spend(1);
        const ValueType type = expressions.traits(id).type;
        if (type == BOOLEAN) return boolean(id, context);
        if (type != NUMBER) {
            const Text text = string(id, context);
            work_.read(text.view().size());
            return to_number(text.view().data(), text.view().size());
        }
        Span list = expressions[id];
        switch (list.data[0]) {
            case OP_NUMBER: return expressions.number(id);
            case OP_NEGATIVE: return -number(list.data[1], context);
            case OP_ARITHMETIC: {
                const u32 operation = list.data[1], right = list.data[3];
                const double a = number(list.data[2], context), b = number(right, context);
                switch (operation) {
                    case 0: return a + b;
                    case 1: return a - b;
                    case 2: return a * b;
                    case 3: return a / b;
                    default: return std::fmod(a, b);
                }
            }
            case OP_SIBLING_POSITION: return position_of(id, context.node);
            case OP_SIBLING_COUNT: {
                const u32 parent = tree.nodes[context.node].parent;
                return parent == NONE ? 0 : static_cast<double>(counted(list.data[1], parent).nodes.size());
            }
            default: break;
        }
        const u32 function = list.data[1], one = list.size > 2 ? list.data[2] : 0;
        switch (function) {
            case FN_LAST: return context.size;
            case FN_POSITION: return context.position;
            case FN_COUNT: return count(one, context);
            case FN_STRING_LENGTH: {
                const Text text = string(one, context);
                work_.read(text.view().size());
                return static_cast<double>(code_points(text.view().data(), text.view().size()));
            }
            case FN_SUM: {
                std::vector<u32> room;
                double sum = 0;
                for (u32 node : set(one, context, room)) {
                    std::string_view text = tree.string_value(node);
                    work_.read(text.size());
                    sum += to_number(text.data(), text.size());
                }
                return sum;
            }
            case FN_FLOOR: return std::floor(number(one, context));
            case FN_CEILING: return std::ceil(number(one, context));
            case FN_ROUND: return round_half_up(number(one, context));
            default: return number(one, context);  // FN_NUMBER
        }
    }

    double position_of(u32 id, u32 node) {
        const u32 parent = tree.nodes[node].parent;
        const double none = std::numeric_limits<double>::quiet_NaN();
        if (parent == NONE || tree.nodes[node].kind() != ELEMENT_NODE) return none;
        Siblings& siblings = counted(id, parent);
        const std::vector<u32>& nodes = siblings.nodes;
        std::size_t at = siblings.last;  // most are asked for one after the other
        if (at < nodes.size() && nodes[at] < node) ++at;
        if (at >= nodes.size() || nodes[at] != node) {
            at = static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
            if (at == nodes.size() || nodes[at] != node) return none;
        }
        siblings.last = at;
        return static_cast<double>(at + 1);
    }

    // The children of a node that a position counts.
    Siblings& counted(u32 id, u32 parent) {
        const u64 key = static_cast<u64>(id) << 32 | parent;
        u32 known = counted_.find(key);
        if (known == NONE) {
            Siblings siblings;
            Span list = expressions[id];
            auto look = [&](u32 node) {
                for (u32 i = 2; i < list.size; ++i)
                    if (!boolean(list.data[i], Context{node, 1, 1})) return true;
                siblings.nodes.push_back(node);
                return true;
            };
            axes_.walk(parent, AXIS_CHILD, TEST_NAME, list.data[1], look);
            known = static_cast<u32>(siblings_.size());
            siblings_.push_back(std::move(siblings));
            counted_.insert(key, known);
        }
        return siblings_[known];
    }

    // Strings

    Text string(u32 id, const Context& context) {
        const ValueType type = expressions.traits(id).type;
        if (type == NUMBER) return Text(number_text(number(id, context)));
        if (type == BOOLEAN) return Text(std::string_view(boolean(id, context) ? "true" : "false"));
        if (type == NODES) {
            u32 node = first(id, context);
            return Text(node == NONE ? std::string_view() : tree.string_value(node));
        }
        work_.spend(1);
        Span list = expressions[id];
        if (list.data[0] == OP_STRING || list.data[0] == OP_DATE) return Text(std::string_view(expressions.string(list.data[1])));
        const u32 function = list.data[1], one = list.data[2], two = list.size > 3 ? list.data[3] : 0;
        const u32 three = list.size > 4 ? list.data[4] : 0, size = list.size;
        switch (function) {
            case FN_LOCAL_NAME:
            case FN_NAMESPACE_URI:
            case FN_NAME: return name_of(function, first(one, context));
            case FN_STRING: return string(one, context);
            case FN_CONCAT: {
                std::string all;
                for (u32 i = 2; i < size; ++i) {
                    const Text part = string(list.data[i], context);
                    work_.read(part.view().size());
                    all += part.view();
                }
                return Text(std::move(all));
            }
            default: break;
        }
        Text text = string(one, context);
        std::string_view whole = text.view();
        work_.read(whole.size());
        switch (function) {
            case FN_NORMALIZE_SPACE: return Text(normalize_space(whole));
            case FN_LOWER_CASE: return Text(cased(whole, lower, lower_ascii));
            case FN_UPPER_CASE: return Text(cased(whole, upper, upper_ascii));
            case FN_SUBSTRING: {
                const double from = number(two, context), length = three ? number(three, context) : 0;
                return Text(std::string(substring(whole, from, length, three != 0)));
            }
            case FN_TRANSLATE: {
                const Text from = string(two, context), to = string(three, context);
                work_.spend(whole.size() * (1 + from.view().size()) / 16);
                return Text(translate(whole, from.view(), to.view()));
            }
            default: {  // FN_SUBSTRING_BEFORE, FN_SUBSTRING_AFTER
                const Text part = string(two, context);
                std::size_t at = whole.find(part.view());
                if (at == std::string_view::npos) return Text(std::string());
                return Text(std::string(function == FN_SUBSTRING_BEFORE ? whole.substr(0, at) : whole.substr(at + part.view().size())));
            }
        }
    }

    static std::string cased(std::string_view text, const CaseMap* map, char (*ascii)(char)) {
        std::string out;
        for (std::size_t at = 0; at < text.size();) {
            std::size_t size = std::min(character_length(text[at]), text.size() - at);
            if (size == 1) out += ascii(text[at]);
            else {
                std::string character(text.substr(at, size));
                auto found = map ? map->find(character) : CaseMap::const_iterator();
                out += map && found != map->end() ? found->second : character;
            }
            at += size;
        }
        return out;
    }

    Text name_of(u32 function, u32 node) {
        if (node == NONE) return Text(std::string_view());
        const NodeKind kind = tree.nodes[node].kind();
        if (kind != ELEMENT_NODE && kind != ATTRIBUTE_NODE && kind != INSTRUCTION_NODE) return Text(std::string_view());
        const Name name = split_name(tree.spelling(tree.nodes[node].name()));
        if (function == FN_LOCAL_NAME) return Text(name.local);
        if (function == FN_NAMESPACE_URI) return Text(name.space);
        if (name.prefix.empty()) return Text(name.local);
        return Text(std::string(name.prefix) + ':' + std::string(name.local));
    }

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
