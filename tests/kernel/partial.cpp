#include "partial.hpp"

#include <random>
#include <set>

#include "check.hpp"

using namespace twigcast;

TEST("NumberRanges: ranges that touch become one") {
    NumberRanges ranges;
    ranges.add(5, 7);
    ranges.add(1, 3);
    ranges.add(3, 5);
    CHECK(ranges.ranges.size() == 1);
    CHECK(ranges.ranges[0].from == 1 && ranges.ranges[0].to == 7);
    CHECK(ranges.has(1) && ranges.has(6) && !ranges.has(0) && !ranges.has(7));
}

TEST("NumberRanges: they agree with a set of numbers, and stay sorted and apart") {
    std::mt19937 random(4);
    for (int round = 0; round < 300; ++round) {
        NumberRanges one, other;
        std::set<u64> first, second;
        for (int i = 0; i < 12; ++i) {
            const u64 from = random() % 60, to = from + 1 + random() % 4;
            const bool to_first = random() % 2;
            (to_first ? one : other).add(from, to);
            for (u64 n = from; n < to; ++n) (to_first ? first : second).insert(n);
        }
        bool in_both = false;
        for (u64 n = 0; n < 70; ++n) {
            CHECK(one.has(n) == (first.count(n) > 0));
            in_both = in_both || (first.count(n) && second.count(n));
        }
        CHECK(one.intersects(other) == in_both && other.intersects(one) == in_both);
        one.merge(other);
        for (u64 n = 0; n < 70; ++n) CHECK(one.has(n) == (first.count(n) || second.count(n)));
        for (std::size_t i = 1; i < one.ranges.size(); ++i) CHECK(one.ranges[i - 1].to < one.ranges[i].from);
    }
}

TEST("LiteralSet: a normal set has each literal once, in a range or by itself") {
    LiteralSet set;
    set.literals = {9, 4, 2, 9, 20};
    set.ranges = {{6, 8}, {3, 5}, {5, 7}};
    set.normalise();
    CHECK(set.literals == (std::vector<u32>{2, 9, 20}));
    CHECK(set.ranges.size() == 1 && set.ranges[0].from == 3 && set.ranges[0].to == 8);
}

static Entry entry(const char* name, bool started, bool ended, std::vector<u32> atoms) {
    Entry made;
    made.depth = 1;
    made.name = name;
    made.started = started;
    made.ended = ended;
    made.literals.resize(1);
    made.literals[0].atoms = std::move(atoms);
    return made;
}

static Partial partial(u64 member, Entry&& root) {
    Partial made;
    made.members.add(member, member + 1);
    made.accepted.assign(1, u64(1) << member);
    made.bytes = 10;
    made.depth = static_cast<u32>(member);
    Entry document;
    document.opened = {member};
    made.entries.emplace(Partial::DOCUMENT, document);
    made.entries.emplace(1, std::move(root));
    return made;
}

static std::string bytes(const Partial& partial) {
    std::string out;
    partial.encode(out);
    return out;
}

TEST("Partial::merge: entries of one element are united") {
    Partial one = partial(1, entry("a", true, false, {1, 3}));
    CHECK(one.merge(partial(2, entry("a", false, true, {2, 3}))));
    const Entry& root = one.entries.at(1);
    CHECK(root.started && root.ended && root.is_complete());
    CHECK(root.literals[0].atoms == (std::vector<u32>{1, 2, 3}));
    CHECK(one.accepted[0] == 6 && one.bytes == 20 && one.depth == 2);
    CHECK(one.members.ranges.size() == 1 && one.members.has(1) && one.members.has(2));
    CHECK(one.entries.at(Partial::DOCUMENT).opened == (std::vector<u64>{1, 2}));
}

TEST("Partial::merge: order and grouping make no difference") {
    const Partial parts[] = {partial(1, entry("a", true, false, {1, 3})),
                             partial(2, entry("a", false, false, {2})),
                             partial(3, entry("a", false, true, {}))};
    Partial left = parts[0], right = parts[2], grouped = parts[1];
    CHECK(left.merge(parts[1]) && left.merge(parts[2]));
    CHECK(right.merge(parts[1]) && right.merge(parts[0]));
    CHECK(grouped.merge(parts[2]));
    Partial first = parts[0];
    CHECK(first.merge(grouped));
    CHECK(bytes(left) == bytes(right) && bytes(left) == bytes(first));
}

TEST("Partial::merge: the first text node of an element is that with the least place") {
    Entry early = entry("a", true, false, {}), late = entry("a", false, true, {});
    early.literals[0].first_place = 5, early.literals[0].first.literals = {1};
    late.literals[0].first_place = 9, late.literals[0].first.literals = {2};
    Partial one = partial(2, std::move(late));
    CHECK(one.merge(partial(1, std::move(early))));
    CHECK(one.entries.at(1).literals[0].first_place == 5);
    CHECK(one.entries.at(1).literals[0].first.literals == (std::vector<u32>{1}));
}

TEST("Partial::merge: two elements cannot have one number") {
    Partial one = partial(1, entry("a", true, false, {}));
    CHECK(!one.merge(partial(2, entry("b", false, true, {}))));
}
