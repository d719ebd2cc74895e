#include "flat.hpp"

#include <map>
#include <random>

#include "check.hpp"

using namespace twigcast;

static std::vector<u32> listed(Span span) { return {span.begin(), span.end()}; }

TEST("ListPool: the empty list is number 0") {
    ListPool pool;
    CHECK(pool.intern({}) == 0);
    CHECK(pool[0].empty());
    CHECK(pool.count() == 1);
}

TEST("ListPool: equal lists have one number, and order and length make a difference") {
    ListPool pool;
    const u32 id = pool.intern({1, 2, 3});
    CHECK(pool.intern({1, 2, 3}) == id);
    CHECK(pool.intern({3, 2, 1}) != id);
    CHECK(pool.intern({1, 2}) != id);
    CHECK(listed(pool[id]) == (std::vector<u32>{1, 2, 3}));
}

TEST("ListPool: thousands of lists keep their numbers and items while the pool grows") {
    std::mt19937 random(1);
    std::map<std::vector<u32>, u32> known;
    ListPool pool;
    for (int i = 0; i < 20000; ++i) {
        std::vector<u32> items(random() % 4 + 1);
        for (u32& item : items) item = random() % 20;
        const u32 id = pool.intern(items);
        CHECK(known.emplace(items, id).first->second == id);
    }
    for (const auto& [items, id] : known) CHECK(listed(pool[id]) == items);
    CHECK(pool.count() == known.size() + 1);
}

TEST("ListPool: after clear it is as new, and has given its memory back") {
    ListPool pool;
    const std::size_t before = pool.bytes();
    for (u32 i = 1; i < 1000; ++i) pool.intern({i, i + 1});
    pool.clear();
    CHECK(pool.count() == 1);
    CHECK(pool.bytes() <= before);
    CHECK(pool.intern({7}) == 1);
}

TEST("FlatMap: what was not inserted is not found, also in an empty map") {
    FlatMap map;
    CHECK(map.find(0) == NONE);
    map.insert(1, 5);
    CHECK(map.find(0) == NONE);
    CHECK(map.find(1) == 5);
}

TEST("FlatMap: it agrees with std::map for keys of all sizes while it grows") {
    std::mt19937_64 random(2);
    std::map<u64, u32> known;
    FlatMap map;
    for (u32 i = 0; i < 20000; ++i) {
        const u64 key = random() >> (random() % 64);
        CHECK((map.find(key) == NONE) == (known.count(key) == 0));
        if (key != FlatMap::EMPTY && known.emplace(key, i).second) map.insert(key, i);
    }
    for (const auto& [key, value] : known) CHECK(map.find(key) == value);
    CHECK(map.size() == known.size());
    map.clear();
    CHECK(map.size() == 0 && map.bytes() == 0);
    CHECK(map.find(known.begin()->first) == NONE);
}

TEST("sort_unique: sorts, and leaves one of each") {
    std::vector<u32> items{3, 1, 3, 2, 1};
    sort_unique(items);
    CHECK(items == (std::vector<u32>{1, 2, 3}));
}
