// Conditions and comparisons of the evaluator.
#pragma once

#include "evaluator.hpp"

namespace twigcast {

inline bool Evaluator::boolean(u32 id, const Context& context) {
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

inline bool Evaluator::decided(u32 id, const Context& context) {
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
    const u32 function = list.data[1], one = list.size > 2 ? list.data[2] : 0,
              two = list.size > 3 ? list.data[3] : 0;
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
    return (function == FN_STARTS_WITH ? text.substr(0, part.size())
                                       : text.substr(text.size() - part.size())) == part;
}

inline bool Evaluator::lang(std::string_view wanted, u32 node) {
    static constexpr std::string_view NAME = "http://www.w3.org/XML/1998/namespace\flang";
    for (; node != NONE; node = tree.nodes[node].parent) {
        if (tree.nodes[node].kind() != ELEMENT_NODE) continue;
        for (u32 at = node + 1; at < tree.nodes[node].end && tree.nodes[at].kind() == ATTRIBUTE_NODE; ++at) {
            work_.spend(1);
            if (tree.spelling(tree.nodes[at].name()).substr(0, NAME.size()) != NAME) continue;
            std::string_view found = tree.string_value(at);
            if (found.size() < wanted.size() || (found.size() > wanted.size() && found[wanted.size()] != '-'))
                return false;
            for (std::size_t i = 0; i < wanted.size(); ++i)
                if (lower_ascii(found[i]) != lower_ascii(wanted[i])) return false;
            return true;
        }
    }
    return false;
}

inline bool Evaluator::compare(u32 comparison, u32 left, u32 right, const Context& context) {
    const ValueType a = expressions.traits(left).type, b = expressions.traits(right).type;
    if (a != NODES && b == NODES) return compare(mirrored(comparison), right, left, context);
    if (a != NODES && expressions[left].data[0] == OP_DATE && expressions[right].data[0] != OP_DATE)
        return compare(mirrored(comparison), right, left, context);
    if (expressions[right].data[0] == OP_DATE) return compare_dates(comparison, left, right, context);
    if (a == NODES && b == NODES) return compare_sets(comparison, left, right, context);
    if (a == NODES) {
        if (b == BOOLEAN) return stands(boolean(left, context), comparison, boolean(right, context));
        if (b == STRING && comparison < 2) {
            const Text value = string(right, context);
            return any_value(left, context,
                             [&](std::string_view text) { return stands(text, comparison, value.view()); });
        }
        const double value = number(right, context);
        return any_value(left, context, [&](std::string_view text) {
            return stands(to_number(text.data(), text.size()), comparison, value);
        });
    }
    if (comparison >= 2 || ((a == NUMBER || b == NUMBER) && a != BOOLEAN && b != BOOLEAN))
        return stands(number(left, context), comparison, number(right, context));
    if (a == BOOLEAN || b == BOOLEAN)
        return stands(boolean(left, context), comparison, boolean(right, context));
    const Text one = string(left, context), two = string(right, context);
    return stands(one.view(), comparison, two.view());
}

inline bool Evaluator::compare_dates(u32 comparison, u32 left, u32 date, const Context& context) {
    const std::string_view literal = expressions.string(expressions[date].data[1]);
    const Instant instant = to_instant(literal);
    const double amount = to_number(literal.data(), literal.size());
    auto holds = [&](std::string_view text) {
        if (amount == amount && !is_day_number(text)) {
            const double value = to_number(text.data(), text.size());
            if (value == value) return stands(value, comparison, amount);
        }
        return stands(to_instant(text), comparison, instant);
    };
    if (expressions.traits(left).type == NODES) return any_value(left, context, holds);
    return holds(string(left, context).view());
}

inline bool Evaluator::compare_sets(u32 comparison, u32 left, u32 right, const Context& context) {
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
    if (comparison == 1)
        return one.front() != one.back() || two.front() != two.back() || one.front() != two.front();
    for (std::size_t i = 0, j = 0; i < one.size() && j < two.size();) {
        int order = one[i].compare(two[j]);
        if (order == 0) return true;
        order < 0 ? ++i : ++j;
    }
    return false;
}

inline bool Evaluator::extremes(const std::vector<u32>& nodes, double& low, double& high) {
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

}  // namespace twigcast
