// Runs all tests; fails if one does, or if there are none.
#include "check.hpp"

int main() {
    for (const check::Test& test : check::tests()) {
        const int before = check::failures;
        test.run();
        if (check::failures > before) std::printf("FAILED: %s\n", test.sentence);
    }
    std::printf("%zu tests, %d failures\n", check::tests().size(), check::failures);
    return check::failures > 0 || check::tests().empty();
}
