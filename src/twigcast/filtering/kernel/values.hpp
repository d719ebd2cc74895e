// Numbers and strings of the evaluator.
#pragma once

#include "evaluator.hpp"

namespace twigcast {

inline double Evaluator::number(u32 id, const Context& context) {
    const Expressions::Traits traits = expressions.traits(id);
    if (!(traits.heavy || traits.shared) || traits.positional || traits.type != NUMBER)
        return calculated(id, context);
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

inline double Evaluator::calculated(u32 id, const Context& context) {
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

inline double Evaluator::position_of(u32 id, u32 node) {
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

inline Evaluator::Siblings& Evaluator::counted(u32 id, u32 parent) {
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

inline Evaluator::Text Evaluator::string(u32 id, const Context& context) {
    const ValueType type = expressions.traits(id).type;
    if (type == NUMBER) return Text(number_text(number(id, context)));
    if (type == BOOLEAN) return Text(std::string_view(boolean(id, context) ? "true" : "false"));
    if (type == NODES) {
        u32 node = first(id, context);
        return Text(node == NONE ? std::string_view() : tree.string_value(node));
    }
    work_.spend(1);
    Span list = expressions[id];
    if (list.data[0] == OP_STRING || list.data[0] == OP_DATE)
        return Text(std::string_view(expressions.string(list.data[1])));
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
            return Text(std::string(function == FN_SUBSTRING_BEFORE ? whole.substr(0, at)
                                                                    : whole.substr(at + part.view().size())));
        }
    }
}

inline std::string Evaluator::cased(std::string_view text, const CaseMap* map, char (*ascii)(char)) {
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

inline Evaluator::Text Evaluator::name_of(u32 function, u32 node) {
    if (node == NONE) return Text(std::string_view());
    const NodeKind kind = tree.nodes[node].kind();
    if (kind != ELEMENT_NODE && kind != ATTRIBUTE_NODE && kind != INSTRUCTION_NODE)
        return Text(std::string_view());
    const Name name = split_name(tree.spelling(tree.nodes[node].name()));
    if (function == FN_LOCAL_NAME) return Text(name.local);
    if (function == FN_NAMESPACE_URI) return Text(name.space);
    if (name.prefix.empty()) return Text(name.local);
    return Text(std::string(name.prefix) + ':' + std::string(name.local));
}

}  // namespace twigcast
