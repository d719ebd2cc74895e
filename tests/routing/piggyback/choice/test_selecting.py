"""Choosing annotations under a size limit: each fast choice against the definition it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.routing.piggyback.choice.selecting import (
    Flags,
    RowNumbers,
    choose_questions,
    greedy,
    highest,
    knapsack,
    marginal_greedy,
    refuted_pairs,
)
from twigcast.routing.piggyback.choice.values import nd_benefit

ITEMS = st.lists(st.tuples(st.integers(-2, 20), st.integers(0, 9)), max_size=12)


def brute_force(values: Sequence[float], sizes: Sequence[int], limit: int) -> float:
    """The greatest value of all subsets that fit."""
    subsets = [
        chosen for count in range(len(values) + 1) for chosen in combinations(range(len(values)), count)
    ]
    return max(
        sum(values[item] for item in chosen)
        for chosen in subsets
        if sum(sizes[item] for item in chosen) <= limit
    )


def printed_knapsack(values: Sequence[float], sizes: Sequence[int], limit: int) -> float:
    """The recursion of the thesis, ``A(i) = max{v_j + A(i − k_j)}``, with 0 for the maximum of nothing."""
    best = [0.0]
    for at in range(1, limit + 1):
        fits = [value + best[at - size] for value, size in zip(values, sizes, strict=True) if size <= at]
        best.append(max(fits, default=0.0))
    return best[limit]


@given(ITEMS, st.integers(0, 30))
@settings(max_examples=100, deadline=None)
def test_the_knapsack_is_optimal(items: list[tuple[int, int]], limit: int) -> None:
    """The choice fits, has no item twice, and is worth as much as the best of all subsets."""
    values, sizes = [value for value, _ in items], [size for _, size in items]
    chosen = knapsack(values, sizes, limit)
    assert chosen == sorted(set(chosen))
    assert sum(sizes[item] for item in chosen) <= limit
    assert sum(values[item] for item in chosen) == brute_force(values, sizes, limit)


@given(ITEMS, st.integers(0, 30))
@settings(max_examples=100, deadline=None)
def test_greedy_is_worth_at_least_half(items: list[tuple[int, int]], limit: int) -> None:
    """The choice fits and is worth at least half of the best one."""
    values, sizes = [value for value, _ in items], [size for _, size in items]
    chosen = greedy(values, sizes, limit)
    assert chosen == sorted(set(chosen))
    assert sum(sizes[item] for item in chosen) <= limit
    assert 2 * sum(values[item] for item in chosen) >= brute_force(values, sizes, limit)


def test_greedy_prefers_one_large_item_to_the_order_by_ratio() -> None:
    """The order by value / size alone takes the item of value 2 and has no room for that of value 100."""
    assert greedy([2, 100], [1, 100], 100) == [1]


def test_trap_11_no_item_is_taken_twice() -> None:
    """Values 3 and 4, sizes 2 and 3, limit 4: the printed recursion takes the first item twice."""
    assert printed_knapsack([3, 4], [2, 3], 4) == 6
    assert knapsack([3, 4], [2, 3], 4) == greedy([3, 4], [2, 3], 4) == [1]


def test_trap_11_the_limit_may_be_reached() -> None:
    """The total size is at most the limit, not below it; with nothing that fits the choice is empty."""
    assert knapsack([1], [4], 4) == greedy([1], [4], 4) == [0]
    assert knapsack([1], [5], 4) == greedy([1], [5], 4) == knapsack([], [], 4) == []


def test_of_equal_choices_the_one_with_earlier_items_is_taken() -> None:
    """The choice does not depend on anything but the order of the items."""
    assert knapsack([3, 1, 2], [3, 1, 2], 3) == [0]
    assert knapsack([1, 1, 1], [1, 1, 1], 2) == greedy([1, 1, 1], [1, 1, 1], 2) == [0, 1]
    assert highest([1, 2, 1, 2], 3) == [1, 3, 0]


def test_items_without_size_are_free() -> None:
    """An item of size 0 is taken if its value is positive, even if nothing else fits."""
    assert knapsack([1, -1, 2], [0, 0, 1], 0) == greedy([1, -1, 2], [0, 0, 1], 0) == [0]


@pytest.mark.parametrize("choose", [knapsack, greedy])
def test_wrong_arguments_are_refused(choose: object) -> None:
    """Values and sizes correspond, and neither a size nor the limit is negative."""
    assert callable(choose)
    for values, sizes, limit in (([1], [], 1), ([1], [-1], 1), ([1], [1], -1)):
        with pytest.raises(ValueError, match=r"sizes|negative"):
            choose(values, sizes, limit)


# Questions


class Sample(NamedTuple):
    """The arguments of ``marginal_greedy`` but the limit, and a length for each question."""

    absent: Flags
    rows_of: list[RowNumbers]
    refuted: Flags
    lengths: list[int]

    def priorities(self) -> list[float]:
        """The printed metric of each question."""
        return [
            nd_benefit(len(rows), length) for rows, length in zip(self.rows_of, self.lengths, strict=True)
        ]

    def pairs(self, chosen: Sequence[int]) -> set[tuple[int, int]]:
        """The pairs that the questions refute, by definition."""
        return {
            (document, int(row))
            for question in chosen
            for document in range(self.absent.shape[1])
            if self.absent[question, document]
            for row in self.rows_of[question]
            if not self.refuted[document, row]
        }


@st.composite
def samples(draw: st.DrawFn, most_questions: int = 12) -> Sample:
    questions, rows = draw(st.integers(0, most_questions)), draw(st.integers(1, 12))
    documents = draw(st.sampled_from([0, 1, 2, 3, 64, 65]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.sampled_from([0.2, 0.5, 0.9]))
    return Sample(
        random.random((questions, documents)) < density,
        [np.flatnonzero(random.random(rows) < 0.3) for _ in range(questions)],
        random.random((documents, rows)) < draw(st.sampled_from([0.0, 0.3])),
        random.integers(1, 6, questions).tolist(),
    )


def eager(sample: Sample, limit: int) -> list[int]:
    """The marginal greedy choice by definition: all gains are counted anew before each question."""
    chosen: list[int] = []
    while len(chosen) < limit:
        known = sample.pairs(chosen)
        gains = [len(sample.pairs([question]) - known) for question in range(len(sample.rows_of))]
        best = max(range(len(gains)), key=lambda question: (gains[question], -question), default=None)
        if best is None or not gains[best]:
            break
        chosen.append(best)
    return chosen


@given(samples(), st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_the_lazy_choice_is_the_eager_one(sample: Sample, limit: int) -> None:
    """The heap changes the cost, not the questions nor their order; pairs are counted by definition."""
    chosen = marginal_greedy(sample.absent, sample.rows_of, sample.refuted, limit)
    assert chosen == eager(sample, limit)
    counted = refuted_pairs(chosen, sample.absent, sample.rows_of, sample.refuted)
    assert counted == len(sample.pairs(chosen))


@given(samples(most_questions=8), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_the_marginal_choice_is_close_to_the_best(sample: Sample, limit: int) -> None:
    """It refutes at least ``1 − (1 − 1/n)ⁿ`` of what the best n questions refute, with n = 1 all of it."""
    chosen = marginal_greedy(sample.absent, sample.rows_of, sample.refuted, limit)
    subsets = combinations(range(len(sample.rows_of)), min(limit, len(sample.rows_of)))
    best = max(len(sample.pairs(subset)) for subset in subsets)
    assert len(sample.pairs(chosen)) >= (1 - (1 - 1 / limit) ** limit) * best - 1e-9


@given(samples(), st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_the_better_choice_refutes_no_less_than_the_printed_metric(sample: Sample, limit: int) -> None:
    """At the same number of bits, on the sample, whatever the sample is."""
    arguments = sample.absent, sample.rows_of, sample.refuted
    chosen = choose_questions(*arguments, sample.priorities(), limit)
    assert len(chosen) == len(set(chosen)) <= limit
    printed = highest(sample.priorities(), limit)
    assert len(sample.pairs(chosen)) >= len(sample.pairs(printed))
    assert len(sample.pairs(chosen)) >= len(sample.pairs(marginal_greedy(*arguments, limit)))


def test_the_marginal_choice_alone_can_refute_less_than_the_printed_metric() -> None:
    """One document; the largest question overlaps both others, which together refute every row."""
    rows_of = [np.array([0, 1, 3, 4]), np.array([0, 1, 2]), np.array([3, 4, 5])]
    sample = Sample(np.ones((3, 1), bool), rows_of, np.zeros((1, 6), bool), [1, 3, 3])
    arguments = sample.absent, sample.rows_of, sample.refuted
    assert highest(sample.priorities(), 2) == [1, 2]
    assert len(sample.pairs([1, 2])) == 6
    assert len(sample.pairs(marginal_greedy(*arguments, 2))) == 5
    assert choose_questions(*arguments, sample.priorities(), 2) == [1, 2]


def test_trap_12_questions_that_refute_the_same_rows_do_not_add_up() -> None:
    """Two questions about the same rows have the greatest values, but only one of them refutes anything."""
    rows_of = [np.array([0, 1, 2]), np.array([0, 1, 2]), np.array([3])]
    sample = Sample(np.ones((3, 1), bool), rows_of, np.zeros((1, 4), bool), [1, 1, 1])
    values = [float(len(rows)) for rows in rows_of]
    assert knapsack(values, [1, 1, 1], 2) == [0, 1]
    assert len(sample.pairs([0, 1])) == 3
    chosen = marginal_greedy(sample.absent, sample.rows_of, sample.refuted, 3)
    assert chosen == [0, 2]
    assert len(sample.pairs(chosen)) == 4
