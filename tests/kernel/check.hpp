// Tests of the kernels' classes: TEST("what holds") { CHECK(condition); }.  The program prints what fails.
//
// A page of our own rather than doctest or Catch2, so that the tests run wherever the kernels can be
// compiled.
#pragma once

#include <cstdio>
#include <vector>

namespace check {

struct Test {
    const char* sentence;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> every;
    return every;
}

inline int failures = 0;

struct Registered {
    Registered(const char* sentence, void (*run)()) { tests().push_back(Test{sentence, run}); }
};

inline void verify(bool holds, const char* condition, const char* file, int line) {
    if (holds) return;
    ++failures;
    std::printf("%s:%d: %s\n", file, line, condition);
}

}  // namespace check

#define CHECK_JOINED(a, b) a##b
#define CHECK_NAMED(a, b) CHECK_JOINED(a, b)
#define TEST(sentence)                                                                               \
    static void CHECK_NAMED(test_, __LINE__)();                                                      \
    static const check::Registered CHECK_NAMED(registered_, __LINE__)(sentence,                      \
                                                                      CHECK_NAMED(test_, __LINE__)); \
    static void CHECK_NAMED(test_, __LINE__)()
#define CHECK(condition) check::verify((condition), #condition, __FILE__, __LINE__)
