// Decides the candidates whose programs are inexact, on the tree of the document.
//
// A subscription is loaded when it first is a candidate: most never are.
#pragma once

#include <unordered_map>

#include "evaluator.hpp"

namespace twigcast {

class Confirmation {
  public:
    struct Program {
        u32 expression;
        u64 decisions;
    };

    Evaluator evaluator;
    std::unordered_map<u32, Program> programs;  // by position
    u64 undecided_count = 0;

    void forget() {
        programs.clear();
        evaluator.forget();
    }

    // A candidate whose program is not loaded yet, or NONE.
    u32 missing(const u64* result, const u64* gone, const u64* inexact, std::size_t words) const {
        u32 found = NONE;
        for_candidates(result, gone, inexact, words, [&](u32 position) {
            if (!programs.count(position)) found = position;
            return found == NONE;
        });
        return found;
    }

    void load(u32 position, const u32* words, std::size_t count, const std::vector<std::string>& strings,
              const std::vector<Expressions::Test>& tests) {
        programs[position] = Program{evaluator.expressions.add(words, count, strings, tests), 0};
        if (evaluator.expressions.uses_prefixes()) evaluator.tree.keep_prefixes();
    }

    // Removes from `result` the candidates that do not match, and those that take too much work, which are
    // appended to `undecided`.  The tree of the document is that of the evaluator.
    void decide(u64* result, const u64* gone, const u64* inexact, std::size_t words, u64 limit,
                std::vector<u32>& undecided) {
        evaluator.begin();
        for_candidates(result, gone, inexact, words, [&](u32 position) {
            Program& program = programs[position];
            ++program.decisions;
            const Decision decision = evaluator.decide(program.expression, limit);
            if (decision != IS_TRUE) result[position >> 6] &= ~(1ull << (position & 63));
            if (decision == IS_UNDECIDED) undecided.push_back(position), ++undecided_count;
            return true;
        });
    }

  private:
    template <class Visit>
    static void for_candidates(const u64* result, const u64* gone, const u64* inexact, std::size_t words,
                               Visit visit) {
        for (std::size_t w = 0; w < words; ++w)
            for (u64 word = result[w] & inexact[w] & ~gone[w]; word; word &= word - 1)
                if (!visit(static_cast<u32>(w * 64) + static_cast<u32>(__builtin_ctzll(word)))) return;
    }
};

}  // namespace twigcast
