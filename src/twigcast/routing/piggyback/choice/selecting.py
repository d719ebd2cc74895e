"""Which annotations to choose when their total size is limited.

``knapsack`` and ``greedy`` choose annotations whose values are known and add up, as the thesis assumes
(T 4.4.5).  The values of questions do not add up, because two questions refute the same rows.  So a plan's
questions are chosen on a sample of documents, by the pairs (document, row) that they refute together:

                rows  0 1 2 3                   question   absent in   refutes rows
    document 0        . . x x                   0          0           2, 3
    document 1        x x x .                   1          1           0, 1, 2

``marginal_greedy`` takes the question that refutes the most pairs not yet refuted, again and again.  With
5,000 rows for NITF and 80 questions it refutes 88 % of the pairs on unseen documents, the printed metric 69.
Choosing the best set exactly is NP-hard (maximum coverage); the greedy choice refutes at least 1 − 1/e of the
best.  It can still refute less than some other choice of the same size: ``choose_questions`` takes the better
one of it and the choice by priorities.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Flags: TypeAlias = npt.NDArray[np.bool_]
RowNumbers: TypeAlias = npt.NDArray[np.integer]

_Words: TypeAlias = npt.NDArray[np.uint64]


# Values that add up


def knapsack(values: Sequence[float], sizes: Sequence[int], limit: int) -> list[int]:
    """The items with the greatest total value whose total size is at most ``limit``, in ascending order.

    Each item is taken at most once, and none whose value is not positive.  Sizes are whole numbers of bits.
    A later item is taken only if it improves on the best choice of earlier ones.
    Idea: dynamic programming over the sizes 0 to ``limit``.  Of the items of size k only the ``limit // k``
    most valuable can be needed, so at most ``limit · (1 + ln limit)`` items remain.
    Cost: O(items that remain · ``limit``) in time, and as many bytes.
    """
    _check(values, sizes, limit)
    chosen = [item for item, size in enumerate(sizes) if not size and values[item] > 0]
    items = _needed(values, sizes, limit)
    best = np.zeros(limit + 1)
    taken = np.zeros((len(items), limit + 1), dtype=np.bool_)
    for at, item in enumerate(items):
        size = sizes[item]
        with_item = best[: limit + 1 - size] + values[item]
        better = with_item > best[size:]
        taken[at, size:] = better
        best[size:][better] = with_item[better]
    left = limit
    for at in range(len(items) - 1, -1, -1):
        if taken[at, left]:
            chosen.append(items[at])
            left -= sizes[items[at]]
    return sorted(chosen)


def greedy(values: Sequence[float], sizes: Sequence[int], limit: int) -> list[int]:
    """Items taken in descending order of value / size as long as they fit, in ascending order.

    If a single item is worth more than all of these together, it is the choice instead; so the value is at
    least half of that of ``knapsack``.  Without this rule it has no lower bound: of the values 2 and K with
    the sizes 1 and K, the order takes the first only.
    Cost: O(n log n).
    """
    _check(values, sizes, limit)
    useful = [item for item, size in enumerate(sizes) if values[item] > 0 and size <= limit]
    chosen: list[int] = []
    left = limit
    for item in sorted(useful, key=lambda each: -values[each] / sizes[each] if sizes[each] else -np.inf):
        if sizes[item] <= left:
            chosen.append(item)
            left -= sizes[item]
    single = max(useful, key=lambda each: values[each], default=None)
    if single is not None and values[single] > sum(values[item] for item in chosen):
        return [single]
    return sorted(chosen)


def _check(values: Sequence[float], sizes: Sequence[int], limit: int) -> None:
    if len(values) != len(sizes):
        raise ValueError(f"{len(values)} values, but {len(sizes)} sizes")
    if limit < 0 or any(size < 0 for size in sizes):
        raise ValueError("a size or the limit is negative")


def _needed(values: Sequence[float], sizes: Sequence[int], limit: int) -> list[int]:
    """The items among which some best choice lies, but for those of size 0, in ascending order."""
    by_size: dict[int, list[int]] = {}
    for item, size in enumerate(sizes):
        if 0 < size <= limit and values[item] > 0:
            by_size.setdefault(size, []).append(item)
    kept: list[int] = []
    for size, items in by_size.items():
        items.sort(key=lambda each: -values[each])
        kept += items[: limit // size]
    return sorted(kept)


# Questions, whose values do not add up


def choose_questions(
    absent: Flags,
    rows_of: Sequence[RowNumbers],
    refuted: Flags,
    priorities: Sequence[float],
    limit: int,
) -> list[int]:
    """At most ``limit`` questions that refute no fewer pairs than the ``limit`` ones of highest priority.

    The choice is that of ``marginal_greedy``, unless the questions of highest priority refute more pairs,
    which happens on contrived samples.  The other arguments are those of ``marginal_greedy``.
    """
    chosen = marginal_greedy(absent, rows_of, refuted, limit)
    other = highest(priorities, limit)
    counts = [refuted_pairs(each, absent, rows_of, refuted) for each in (chosen, other)]
    return chosen if counts[0] >= counts[1] else other


def highest(priorities: Sequence[float], limit: int) -> list[int]:
    """The ``limit`` questions of highest priority, the highest first; of equal ones the lower index first."""
    return sorted(range(len(priorities)), key=lambda question: -priorities[question])[: max(limit, 0)]


def refuted_pairs(chosen: Iterable[int], absent: Flags, rows_of: Sequence[RowNumbers], refuted: Flags) -> int:
    """The number of pairs (document, row) that the chosen questions refute and ``refuted`` does not have."""
    known = refuted.copy()
    for question in chosen:
        known[np.ix_(absent[question], rows_of[question])] = True
    return int(known.sum()) - int(refuted.sum())


def marginal_greedy(absent: Flags, rows_of: Sequence[RowNumbers], refuted: Flags, limit: int) -> list[int]:
    """At most ``limit`` questions, each of which refutes the most pairs that those before it leave open.

    ``absent[q, d]`` says that question q has the answer no on document d of the sample; ``rows_of[q]`` has
    the distinct rows that this refutes.  ``refuted[d, r]`` marks the pairs that count for nothing: those that
    are refuted anyway, and those that match.  Questions are returned in the order in which they are taken,
    without those that refute nothing more; of equally good ones the one with the lower index comes first.

    Idea: as pairs are refuted, gains only fall, so an old gain is an upper bound.  A heap holds the questions
    by an upper bound of their gains; the top one is counted, and taken if its gain equals its bound.  The
    first bound is cheap: the open pairs of its rows, or rows times documents if that is less.
    Cost: one pass over all ``rows_of``, then some counts for each question taken.  The documents of a row are
    the bits of a machine word, or of several.
    """
    masks = _packed(absent)
    waiting = _packed(~refuted.T)  # for each row the documents on which it is open
    heap = [(-bound, question) for question, bound in enumerate(_bounds(absent, rows_of, refuted)) if bound]
    heapq.heapify(heap)
    chosen: list[int] = []
    while heap and len(chosen) < limit:
        bound, question = heap[0]
        rows = rows_of[question]
        hit = waiting[rows] & masks[question]
        gain = int.from_bytes(hit.tobytes()).bit_count()
        if gain == -bound:
            heapq.heappop(heap)
            chosen.append(question)
            waiting[rows] ^= hit
        elif gain:
            heapq.heapreplace(heap, (-gain, question))
        else:
            heapq.heappop(heap)
    return chosen


def _bounds(absent: Flags, rows_of: Sequence[RowNumbers], refuted: Flags) -> list[int]:
    """For each question a number of pairs that it cannot exceed."""
    open_documents = (~refuted).sum(axis=0)
    return [
        min(int(open_documents[rows].sum()), len(rows) * documents)
        for rows, documents in zip(rows_of, absent.sum(axis=1).tolist(), strict=True)
    ]


def _packed(flags: Flags) -> _Words:
    """Each line of flags as the bits of 64-bit words, with zeros behind the last flag."""
    lines, width = flags.shape
    padded = np.zeros((lines, -(-width // 64) * 8), dtype=np.uint8)
    padded[:, : -(-width // 8)] = np.packbits(flags, axis=1)
    return padded.view(np.uint64)
