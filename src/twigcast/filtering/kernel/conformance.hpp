// Finds the schemas that describe a document, by following each of them element by element beside the
// patterns.
//
// A schema is a deterministic automaton whose states are the positions that elements can have:
//
//   /a/b(/c/d)+/e      document ──► a ──► b ──► c ⇄ d ──► e
//
// A name leads from a state to at most one follower: the one whose name test is the narrowest of all tests of
// the schema that admit the name.  A schema describes a document if every element has such a follower; a
// document may end in any state.
//
//   place     for an open element, the pairs (schema, state) of every schema not left so far; hash-consed
//   step      (place, symbol) -> the place of the child, and the schemas that the child leaves; cached
//
// Cost: one look-up per element until the document has left all schemas, then one branch.
#pragma once

#include "automaton.hpp"

namespace twigcast {

class Conformance {
  public:
    explicit Conformance(const Segment& segment, std::size_t most_bytes)
        : segment_(segment), most_bytes_(most_bytes) {
        for (u32 s = 0; s < segment.schema_count(); ++s) {
            const Schema& schema = segment.schemas[s];
            std::vector<u32> tests;
            for (u32 state = schema.first + 1; state < segment.schemas[s + 1].first; ++state)
                tests.push_back(segment.states[state].test);
            std::sort(tests.begin(), tests.end());
            tests_.push_back(std::move(tests));
        }
        forget();
    }

    // Whether some schema may still describe the document, so that `start` must be called for its elements.
    bool following() const { return following_; }

    void begin() {
        left_.assign(tests_.size(), 0);
        remaining_ = tests_.size();
        following_ = remaining_ > 0;
        open_.assign(1, Open{NONE, document_});
    }

    // To be called only while `following` is true.
    void start(u32 symbol, u32 depth, const Automaton& automaton) {
        std::size_t known = steps_.size();
        Step step = step_from(open_[depth - 1].place, symbol, automaton);
        open_.resize(depth);
        open_.push_back(Open{symbol, step.place});
        for (u32 schema : places_[step.left])
            if (!left_[schema]) left_[schema] = 1, --remaining_;
        following_ = remaining_ > 0;
        if (steps_.size() > known && bytes() > most_bytes_) renew(automaton);
    }

    template <class Complete>
    void finish(const Complete& complete) const {
        for (u32 s = 0; following_ && s < left_.size(); ++s)
            if (!left_[s]) complete(segment_.schemas[s].position);
    }

    // Calls `take` for the position of every schema that the elements so far have left.
    template <class Take>
    void for_left(const Take& take) const {
        for (u32 s = 0; s < left_.size(); ++s)
            if (left_[s]) take(segment_.schemas[s].position);
    }

    // Empties the caches between two documents; symbols get new numbers.
    void clear() { forget(); }

    std::size_t bytes() const {
        return places_.bytes() + step_of_.bytes() + bytes_of(steps_) + bytes_of(open_);
    }

  private:
    struct Step {
        u32 place,
            left;  // ids of lists: schema, state, schema, state, ...; and the schemas that the element leaves
    };
    struct Open {
        u32 symbol, place;
    };

    void forget() {
        places_.clear();
        step_of_.clear();
        release(steps_);
        std::vector<u32> start;
        for (u32 s = 0; s < tests_.size(); ++s) start.insert(start.end(), {s, segment_.schemas[s].first});
        document_ = places_.intern(start);
    }

    // Empties the full caches in the middle of a document, and computes the places of the open elements
    // again.
    void renew(const Automaton& automaton) {
        forget();
        open_[0].place = document_;
        for (std::size_t d = 1; d < open_.size(); ++d)
            open_[d].place = step_from(open_[d - 1].place, open_[d].symbol, automaton).place;
    }

    Step step_from(u32 place, u32 symbol, const Automaton& automaton) {
        u64 key = u64(place) << 32 | symbol;
        u32 known = step_of_.find(key);
        if (known != NONE) return steps_[known];
        std::vector<u32> from(places_[place].begin(), places_[place].end()), to, left;
        for (std::size_t i = 0; i < from.size(); i += 2) {
            u32 follower = next(from[i], from[i + 1], automaton.tests_of(symbol));
            if (follower == NONE) left.push_back(from[i]);
            else to.insert(to.end(), {from[i], follower});
        }
        step_of_.insert(key, static_cast<u32>(steps_.size()));
        steps_.push_back(Step{places_.intern(to), places_.intern(left)});
        return steps_.back();
    }

    u32 next(u32 schema, u32 state, Span tests) const {
        u32 narrowest = NONE, rank = 4;
        for (u32 test : tests)
            if (breadth(test) < rank &&
                std::binary_search(tests_[schema].begin(), tests_[schema].end(), test))
                narrowest = test, rank = breadth(test);
        if (narrowest == NONE) return NONE;
        for (u32 f = segment_.states[state].followers; f < segment_.states[state + 1].followers; ++f)
            if (segment_.states[segment_.followers[f]].test == narrowest) return segment_.followers[f];
        return NONE;
    }

    // Ranks tests that admit the same name: the full name 0, its local name 1, its namespace 2, any name 3.
    u32 breadth(u32 test) const {
        return (segment_.tests[test].local == NONE ? 2u : 0u) +
               (segment_.tests[test].space == NONE ? 1u : 0u);
    }

    const Segment& segment_;
    std::size_t most_bytes_;
    std::vector<std::vector<u32>> tests_;  // of each schema, sorted
    ListPool places_;
    FlatMap step_of_;
    std::vector<Step> steps_;
    std::vector<Open> open_;  // the open elements, the document first
    std::vector<u8> left_;
    std::size_t remaining_ = 0;
    u32 document_ = 0;
    bool following_ = false;
};

}  // namespace twigcast
