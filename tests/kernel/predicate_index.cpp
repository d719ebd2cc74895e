#include <string>
#include <vector>

#include "check.hpp"
#include "predicates.hpp"

using namespace twigcast;

// The tables of a segment that has predicates on attributes named a, and any attribute if its test is 1.
struct Tables {
    std::string strings = "a";
    std::vector<NameTest> tests{{0, 0, 0, 1}, {NONE, 0, NONE, 0}};  // no namespace and a; any name
    std::vector<Predicate> predicates;
    Header header{};
    Segment segment;

    void add(u32 kind, u32 op, const char* text, double number = 0, u32 test = 0) {
        const std::string_view view(text);
        const u32 at = static_cast<u32>(strings.size());
        strings.append(view);
        predicates.push_back(Predicate{kind, op, test, at, static_cast<u32>(view.size()), 0, number});
    }

    const Segment& made() {
        header.atoms = 100;
        header.count[TESTS] = tests.size();
        header.count[PREDICATES] = predicates.size();
        segment.header = &header;
        segment.strings = strings.data();
        segment.tests = tests.data();
        segment.predicates = predicates.data();
        return segment;
    }
};

// The predicates that hold for an attribute, numbered from 0.
static std::vector<u32> holding(const Segment& segment, const char* name, const std::string& value) {
    const NameTests names(segment);
    PredicateIndex index(segment, names);
    LiteralSet found;
    index.on_attribute(index.groups_of(name), value.data(), value.size(), found);
    for (const LiteralRange& range : found.ranges)
        for (u32 literal = range.from; literal < range.to; ++literal) found.literals.push_back(literal);
    sort_unique(found.literals);
    for (u32& literal : found.literals) literal -= segment.atoms();
    return found.literals;
}

using Numbers = std::vector<u32>;

TEST("PredicateIndex: strings are compared whole, by their beginning and by what they contain") {
    Tables tables;
    for (u32 op : {EXISTS, STRING_EQ, STRING_NE, STARTS_WITH, CONTAINS}) tables.add(ON_ATTRIBUTE, op, "bc");
    const Segment& segment = tables.made();
    CHECK(holding(segment, "a", "bc") == (Numbers{0, 1, 3, 4}));
    CHECK(holding(segment, "a", "bcd") == (Numbers{0, 2, 3, 4}));
    CHECK(holding(segment, "a", "abc") == (Numbers{0, 2, 4}));
    CHECK(holding(segment, "a", "") == (Numbers{0, 2}));
}

TEST("PredicateIndex: numbers are compared as numbers; what is none differs from each") {
    Tables tables;
    for (u32 op : {NUMBER_EQ, NUMBER_NE, NUMBER_LT, NUMBER_LE, NUMBER_GT, NUMBER_GE})
        tables.add(ON_ATTRIBUTE, op, "", 5);
    const Segment& segment = tables.made();
    CHECK(holding(segment, "a", " 5.0 ") == (Numbers{0, 3, 5}));
    CHECK(holding(segment, "a", "4") == (Numbers{1, 2, 3}));
    CHECK(holding(segment, "a", "6") == (Numbers{1, 4, 5}));
    CHECK(holding(segment, "a", "x") == (Numbers{1}));
}

TEST("PredicateIndex: lengths are counted in characters, not bytes") {
    Tables tables;
    tables.add(ON_ATTRIBUTE, LENGTH_EQ, "", 1);
    tables.add(ON_ATTRIBUTE, LENGTH_GT, "", 1);
    CHECK(holding(tables.made(), "a", "é") == (Numbers{0}));
    CHECK(holding(tables.made(), "a", "ab") == (Numbers{1}));
}

TEST("PredicateIndex: only attributes that the name test admits are compared") {
    Tables tables;
    tables.add(ON_ATTRIBUTE, EXISTS, "", 0, 0);
    tables.add(ON_ATTRIBUTE, EXISTS, "", 0, 1);
    CHECK(holding(tables.made(), "a", "x") == (Numbers{0, 1}));
    CHECK(holding(tables.made(), "b", "x") == (Numbers{1}));
    CHECK(holding(tables.made(), "uri\fa", "x") == (Numbers{1}));
}

TEST("PredicateIndex: many thresholds agree with one comparison for each") {
    Tables tables;
    for (u32 i = 0; i < 100; ++i) tables.add(ON_ATTRIBUTE, NUMBER_LT, "", i);
    const Segment& segment = tables.made();
    for (int value = -1; value <= 100; ++value) {
        Numbers expected;
        for (int i = 0; i < 100; ++i)
            if (value < i) expected.push_back(static_cast<u32>(i));
        CHECK(holding(segment, "a", std::to_string(value)) == expected);
    }
}

TEST(
    "PredicateIndex: of an element, the first text, each text and the string-value have predicates of their "
    "own") {
    Tables tables;
    for (u32 kind : {ON_TEXT, ON_FIRST_TEXT, ON_STRING}) tables.add(kind, STRING_EQ, "v");
    const NameTests names(tables.made());
    PredicateIndex index(tables.segment, names);
    LiteralSet text, first, string;
    index.on_text(ON_TEXT, "v", 1, text);
    index.on_text(ON_FIRST_TEXT, "v", 1, first);
    index.on_string().compare("v", 1, 1, string);
    CHECK(text.literals == (Numbers{100}));
    CHECK(first.literals == (Numbers{101}));
    CHECK(string.literals == (Numbers{102}));
}
