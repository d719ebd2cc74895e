#include "origins.hpp"

#include <random>
#include <set>

#include "check.hpp"

using namespace twigcast;

// The depths of a set, which must be deepest first.
static std::set<u32> depths(const OriginSets& sets, u32 set) {
    std::set<u32> found;
    u32 size = 0, above = NONE;
    for (u32 at = set; at; at = sets[at].rest, ++size) {
        CHECK(at == set || sets[at].depth < above);
        above = sets[at].depth;
        found.insert(above);
    }
    CHECK(size == found.size());
    CHECK(sets[set].size == size);
    return found;
}

static u32 made(OriginSets& sets, const std::set<u32>& depths) {
    u32 set = 0;
    for (u32 depth : depths) set = sets.with(depth, set);
    return set;
}

TEST("OriginSets: equal sets are one") {
    OriginSets sets;
    CHECK(made(sets, {2, 4, 9}) == made(sets, {2, 4, 9}));
    CHECK(made(sets, {2, 4, 9}) != made(sets, {2, 9}));
    CHECK(depths(sets, made(sets, {2, 4, 9})) == (std::set<u32>{2, 4, 9}));
}

TEST("OriginSets: the set of the result has the result only") {
    OriginSets sets;
    CHECK(sets[OriginSets::OF_RESULT].depth == RESULT);
    CHECK(sets[OriginSets::OF_RESULT].rest == 0);
}

TEST("OriginSets: a union has the members of both, whatever their order, and is one set") {
    std::mt19937 random(3);
    OriginSets sets;
    for (int round = 0; round < 2000; ++round) {
        std::set<u32> one, other;
        for (u32 depth = 1; depth <= 20; ++depth) {
            if (random() % 2) one.insert(depth);
            if (random() % 3 == 0) other.insert(depth);
        }
        const u32 a = made(sets, one), b = made(sets, other), united = sets.unite(a, b);
        std::set<u32> both = one;
        both.insert(other.begin(), other.end());
        CHECK(depths(sets, united) == both);
        CHECK(united == made(sets, both));
        CHECK(united == sets.unite(b, a));
    }
}

TEST("OriginSets: a grant gives the block to each origin, and shares what follows the deepest") {
    OriginSets sets;
    const u32 grant = sets.grant(made(sets, {2, 4, 9}), 7);
    std::vector<u32> given;
    for (u32 at = grant; at; at = sets.granted(at).rest) {
        CHECK(sets.granted(at).block == 7);
        given.push_back(sets.granted(at).depth);
    }
    CHECK(given == (std::vector<u32>{9, 4, 2}));
    CHECK(sets.grant(made(sets, {2, 4, 9}), 7) == grant);
    CHECK(sets.grant(made(sets, {2, 4}), 7) == sets.granted(grant).rest);
    CHECK(sets.grant(made(sets, {2, 4, 9}), 8) != grant);
}
