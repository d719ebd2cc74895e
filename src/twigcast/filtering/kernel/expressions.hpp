// General XPath expressions as a graph in which equal expressions are one node.
//
// An expression arrives as words in prefix order, with strings and name tests by number in its own tables:
//
//   //line[price > 3]   FILTER STEP(descendant, line) ROOT COMPARE(>) STEP(child, price) CONTEXT NUMBER(3)
//
// A node of the graph is a list of words, [operator, operands …], whose operands are nodes, too.  Its static
// type and what it depends on are known when it is made.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "predicates.hpp"

namespace twigcast {

enum ExpressionOperator : u32 {
    OP_NUMBER,  // low, high word of the double
    OP_DATE,    // string: a date that values are ordered against as dates
    OP_STRING,  // string
    OP_CONTEXT,
    OP_ROOT,
    OP_STEP,              // input, axis, node test, name test or string, then predicates in order
    OP_KEEP,              // input, predicate: the nodes for which it holds, whatever their position
    OP_FILTER,            // input, then predicates in order: positions are those in document order
    OP_UNION,             // operands
    OP_COMPARE,           // comparison, left, right
    OP_ARITHMETIC,        // + - * div mod, left, right
    OP_NEGATIVE,          // operand
    OP_AND,               // operands
    OP_OR,                // operands
    OP_CALL,              // function, arguments
    OP_SIBLING_POSITION,  // name test, then predicates that the counted siblings satisfy
    OP_SIBLING_COUNT,     // likewise; in the graph, the expression of the position
    EXPRESSION_OPERATORS
};

enum AxisName : u32 {
    AXIS_CHILD,
    AXIS_DESCENDANT,
    AXIS_DESCENDANT_OR_SELF,
    AXIS_SELF,
    AXIS_ATTRIBUTE,
    AXIS_PARENT,
    AXIS_ANCESTOR,
    AXIS_ANCESTOR_OR_SELF,
    AXIS_FOLLOWING_SIBLING,
    AXIS_PRECEDING_SIBLING,
    AXIS_FOLLOWING,
    AXIS_PRECEDING,
    AXES
};

enum NodeTestKind : u32 { TEST_NAME, TEST_NODE, TEST_TEXT, TEST_COMMENT, TEST_INSTRUCTION, NODE_TESTS };

enum CoreFunction : u32 {
    FN_LAST,
    FN_POSITION,
    FN_COUNT,
    FN_LOCAL_NAME,
    FN_NAMESPACE_URI,
    FN_NAME,
    FN_STRING,
    FN_CONCAT,
    FN_STARTS_WITH,
    FN_CONTAINS,
    FN_SUBSTRING_BEFORE,
    FN_SUBSTRING_AFTER,
    FN_SUBSTRING,
    FN_STRING_LENGTH,
    FN_NORMALIZE_SPACE,
    FN_TRANSLATE,
    FN_BOOLEAN,
    FN_NOT,
    FN_TRUE,
    FN_FALSE,
    FN_LANG,
    FN_NUMBER,
    FN_SUM,
    FN_FLOOR,
    FN_CEILING,
    FN_ROUND,
    FN_ENDS_WITH,
    FN_LOWER_CASE,
    FN_UPPER_CASE,
    FUNCTIONS
};

enum ValueType : u8 { NODES, BOOLEAN, NUMBER, STRING };

struct FunctionShape {
    u32 least, most;
    ValueType result;
    bool takes_nodes;
};

inline const FunctionShape& shape_of(u32 function) {
    static const FunctionShape shapes[FUNCTIONS] = {
        {0, 0, NUMBER, false},  {0, 0, NUMBER, false},  {1, 1, NUMBER, true},   {1, 1, STRING, true},
        {1, 1, STRING, true},   {1, 1, STRING, true},   {1, 1, STRING, false},  {2, 1u << 16, STRING, false},
        {2, 2, BOOLEAN, false}, {2, 2, BOOLEAN, false}, {2, 2, STRING, false},  {2, 2, STRING, false},
        {2, 3, STRING, false},  {1, 1, NUMBER, false},  {1, 1, STRING, false},  {3, 3, STRING, false},
        {1, 1, BOOLEAN, false}, {1, 1, BOOLEAN, false}, {0, 0, BOOLEAN, false}, {0, 0, BOOLEAN, false},
        {1, 1, BOOLEAN, false}, {1, 1, NUMBER, false},  {1, 1, NUMBER, true},   {1, 1, NUMBER, false},
        {1, 1, NUMBER, false},  {1, 1, NUMBER, false},  {2, 2, BOOLEAN, false}, {1, 1, STRING, false},
        {1, 1, STRING, false},
    };
    return shapes[function];
}

class BadExpression : public std::runtime_error {
  public:
    BadExpression() : std::runtime_error("not an expression") {}
};

class Expressions {
  public:
    struct Traits {
        ValueType type = NODES;
        bool contextual = false;  // depends on the context node
        bool positional = false;  // depends on position() or last()
        bool heavy = false;       // may visit a node from several others
        bool shared = false;      // is a part of several expressions
        bool single = false;      // at most one node
        bool ordered = false;     // its nodes are found in document order, each once
    };
    struct Test {
        bool any_space, any_local;
        std::string space, local;
    };

    // Adds an expression and returns its number; raises BadExpression.  `strings` and `tests` are the tables
    // that the words refer to.
    u32 add(const u32* words, std::size_t count, const std::vector<std::string>& strings,
            const std::vector<Test>& tests) {
        words_ = words, end_ = words + count, depth_ = 0;
        strings_given_ = &strings, tests_given_ = &tests;
        u32 root = load();
        if (words_ != end_) throw BadExpression();
        return root;
    }

    Span operator[](u32 id) const { return lists_[id]; }
    const Traits& traits(u32 id) const { return traits_[id]; }
    const std::string& string(u32 number) const { return strings_[number]; }
    const Test& test(u32 number) const { return tests_[number]; }
    std::size_t tests() const { return tests_.size(); }
    std::size_t size() const { return traits_.size(); }
    bool uses_prefixes() const { return uses_prefixes_; }
    bool uses_case() const { return uses_case_; }
    bool is_full() const { return traits_.size() > MOST; }

    void clear() { *this = Expressions(); }

    double number(u32 id) const {
        const u32* words = lists_[id].data;
        u64 bits = words[1] | static_cast<u64>(words[2]) << 32;
        double value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }

  private:
    static constexpr u32 DEEPEST = 1000;
    static constexpr std::size_t MOST = 1 << 20;

    u32 next() {
        if (words_ == end_) throw BadExpression();
        return *words_++;
    }
    u32 below(u32 limit) {
        u32 word = next();
        if (word >= limit) throw BadExpression();
        return word;
    }
    u32 operand(ValueType type) {
        u32 id = load();
        if (traits_[id].type != type) throw BadExpression();
        return id;
    }
    void operands(std::vector<u32>& list, u32 count, bool nodes) {
        for (u32 i = 0; i < count; ++i) list.push_back(nodes ? operand(NODES) : load());
    }

    u32 load() {
        if (++depth_ > DEEPEST) throw BadExpression();
        u32 id = loaded();
        --depth_;
        return id;
    }

    u32 loaded() {
        std::vector<u32> list{below(EXPRESSION_OPERATORS)};
        Traits traits;
        switch (list[0]) {
            case OP_NUMBER:
                list.push_back(next()), list.push_back(next());
                traits.type = NUMBER;
                return intern(list, traits, 0, 0);
            case OP_DATE:
            case OP_STRING:
                list.push_back(string_number(below(static_cast<u32>(strings_given_->size()))));
                traits.type = STRING;
                return intern(list, traits, 0, 0);
            case OP_CONTEXT: traits.contextual = true; [[fallthrough]];
            case OP_ROOT: traits.single = traits.ordered = true; return intern(list, traits, 0, 0);
            case OP_STEP: {
                u32 axis = below(AXES), kind = below(NODE_TESTS), which = NONE;
                if (kind == TEST_NAME) which = test_number(below(static_cast<u32>(tests_given_->size())));
                else if (u32 target = next(); kind == TEST_INSTRUCTION && target != NONE) {
                    if (target >= strings_given_->size()) throw BadExpression();
                    which = string_number(target);
                }
                u32 count = next();
                u32 input = operand(NODES);
                list = {OP_STEP, input, axis, kind, which};
                const std::size_t inside = list.size();
                operands(list, count, false);
                traits.heavy = axis != AXIS_CHILD && axis != AXIS_ATTRIBUTE && axis != AXIS_SELF;
                // A predicate that does not depend on positions need not know from where its node was
                // reached.
                bool positional = false;
                for (std::size_t i = inside; i < list.size(); ++i)
                    positional = positional || traits_[list[i]].positional || traits_[list[i]].type == NUMBER;
                for (std::size_t i = inside; i < list.size(); ++i)
                    traits.heavy = traits.heavy || traits_[list[i]].heavy;
                if (positional) return intern(list, traits, 1, 2);
                if (axis == AXIS_CHILD &&
                    is_descendant_or_self(input)) {  // //a is descendant::a, without positions
                    list[1] = lists_[input].data[1];
                    list[2] = axis = AXIS_DESCENDANT;
                }
                const Traits& origin = traits_[list[1]];
                traits.single = origin.single && (axis == AXIS_SELF || axis == AXIS_PARENT);
                traits.ordered = traits.single ||
                                 (origin.single && axis != AXIS_ANCESTOR && axis != AXIS_ANCESTOR_OR_SELF &&
                                  axis != AXIS_PRECEDING && axis != AXIS_PRECEDING_SIBLING);
                std::vector<u32> predicates(list.begin() + static_cast<std::ptrdiff_t>(inside), list.end());
                list.resize(inside);
                u32 id = intern(list, traits, 1, 2);
                for (u32 predicate : predicates) id = keep(id, predicate);
                return id;
            }
            case OP_KEEP: {
                u32 input = operand(NODES);
                u32 predicate = load();
                if (traits_[predicate].positional || traits_[predicate].type == NUMBER) throw BadExpression();
                return keep(input, predicate);
            }
            case OP_FILTER: {
                u32 count = next();
                list.push_back(operand(NODES));
                operands(list, count, false);
                traits.heavy = true;
                return intern(list, traits, 1, 2);
            }
            case OP_UNION: {
                u32 count = next();
                if (!count) throw BadExpression();
                operands(list, count, true);
                return intern(list, traits, 1, list.size());
            }
            case OP_COMPARE:
                list.push_back(below(6));
                operands(list, 2, false);
                traits.type = BOOLEAN;
                return intern(list, traits, 2, 4);
            case OP_ARITHMETIC:
                list.push_back(below(5));
                operands(list, 2, false);
                traits.type = NUMBER;
                return intern(list, traits, 2, 4);
            case OP_NEGATIVE:
                operands(list, 1, false);
                traits.type = NUMBER;
                return intern(list, traits, 1, 2);
            case OP_AND:
            case OP_OR: {
                operands(list, next(), false);
                traits.type = BOOLEAN;
                return intern(list, traits, 1, list.size());
            }
            case OP_CALL: {
                u32 function = below(FUNCTIONS), count = next();
                const FunctionShape& shape = shape_of(function);
                if (count < shape.least || count > shape.most) throw BadExpression();
                list.push_back(function);
                operands(list, count, shape.takes_nodes);
                traits.type = shape.result;
                if (function == FN_LAST || function == FN_POSITION) traits.positional = true;
                if (function == FN_LANG) traits.contextual = true;
                if (function == FN_NAME) uses_prefixes_ = true;
                if (function == FN_LOWER_CASE || function == FN_UPPER_CASE) uses_case_ = true;
                return intern(list, traits, 2, list.size());
            }
            default: {  // OP_SIBLING_POSITION, OP_SIBLING_COUNT
                list.push_back(test_number(below(static_cast<u32>(tests_given_->size()))));
                operands(list, next(), false);
                traits.type = NUMBER;
                traits.contextual = true;
                if (list[0] == OP_SIBLING_POSITION) return intern(list, traits, 2, 2);
                list[0] = OP_SIBLING_POSITION;
                u32 position = intern(list, traits, 2, 2);
                return intern({OP_SIBLING_COUNT, position}, traits, 2, 2);
            }
        }
    }

    u32 keep(u32 input, u32 predicate) {
        Traits traits;
        traits.heavy = traits_[predicate].heavy;
        traits.single = traits_[input].single;
        traits.ordered = traits_[input].ordered;
        return intern({OP_KEEP, input, predicate}, traits, 1, 2);
    }

    bool is_descendant_or_self(u32 id) const {
        Span list = lists_[id];
        return list.data[0] == OP_STEP && list.size == 5 && list.data[2] == AXIS_DESCENDANT_OR_SELF &&
               list.data[3] == TEST_NODE;
    }

    // The operands from..to are evaluated in the context of the expression itself; the predicates behind them
    // are not.
    u32 intern(const std::vector<u32>& list, Traits traits, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const Traits& operand = traits_[list[i]];
            traits.contextual = traits.contextual || operand.contextual;
            traits.positional = traits.positional || operand.positional;
            traits.heavy = traits.heavy || operand.heavy;
        }
        u32 id = lists_.intern(list);
        if (id == traits_.size()) traits_.push_back(traits);
        else traits_[id].shared = true;
        return id;
    }

    u32 string_number(u32 given) {
        const std::string& text = (*strings_given_)[given];
        u32 found = string_numbers_.find(text);
        if (found == NONE) {
            found = static_cast<u32>(strings_.size());
            string_numbers_.insert(text, found);
            strings_.push_back(text);
        }
        return found;
    }

    u32 test_number(u32 given) {
        const Test& test = (*tests_given_)[given];
        std::string key = std::string(test.any_space ? "*" : "=") + (test.any_local ? "*" : "=") +
                          test.space + '\f' + test.local;
        u32 found = test_numbers_.find(key);
        if (found == NONE) {
            found = static_cast<u32>(tests_.size());
            test_numbers_.insert(key, found);
            tests_.push_back(test);
        }
        return found;
    }

    ListPool lists_;  // number 0 is the empty list, which is no expression
    std::vector<Traits> traits_{Traits()};
    std::vector<std::string> strings_;
    std::vector<Test> tests_;
    NameTable string_numbers_, test_numbers_;
    const u32 *words_ = nullptr, *end_ = nullptr;
    const std::vector<std::string>* strings_given_ = nullptr;
    const std::vector<Test>* tests_given_ = nullptr;
    u32 depth_ = 0;
    bool uses_prefixes_ = false, uses_case_ = false;
};

}  // namespace twigcast
