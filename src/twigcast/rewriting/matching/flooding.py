"""Similarity flooding: two nodes are similar if the nodes around them are.

    (cmu, catalogue) ──child──► (Course, course) ──child──► (Code, code)
                                        └─────────child──► (Lecturer, instructor)

A pair of nodes is connected with each pair of their neighbours over an edge of the same label.  Similarity
flows along these connections in both directions, divided among the pairs of one label, until it no longer
changes: formula C of Melnik, Garcia-Molina and Rahm, begun with the similarities of the names.

All pairs of the two graphs are one matrix; a step costs the edges of one graph times the nodes of the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

CHANGE = 1e-4
"""The fixpoint is reached when no similarity changes by more than this."""
STEPS = 200

Similarities = NDArray[np.float64]


class LabelledEdge(NamedTuple):
    """An edge between two nodes, by their numbers."""

    start: int
    label: Hashable
    end: int


def flood(initial: Similarities, left: Iterable[LabelledEdge], right: Iterable[LabelledEdge]) -> Similarities:
    """The similarity of each node of the left graph (rows) with each node of the right graph (columns).

    ``initial`` has the similarities to begin with; the largest similarity of the result is 1.
    """
    ways = _ways(list(left), list(right), initial.shape)
    similarity = initial.copy()
    for _ in range(STEPS):
        flowing = initial + similarity
        new = flowing.copy()
        for way in ways:
            new += way.carried(flowing)
        largest = float(new.max(initial=0.0))
        if largest == 0.0:
            return similarity
        new /= largest
        change = float(np.abs(new - similarity).max())
        similarity = new
        if change < CHANGE:
            break
    return similarity


class _Way:
    """All connections of one label in one direction, as weighted edges of both graphs."""

    def __init__(self, left: list[tuple[int, int]], right: list[tuple[int, int]], shape: tuple[int, ...]):
        self.shape = shape
        self.from_rows, self.to_rows, self.row_weights = _weighted(left)
        self.from_columns, self.to_columns, self.column_weights = _weighted(right)

    def carried(self, flowing: Similarities) -> Similarities:
        between = np.zeros((self.shape[0], flowing.shape[1]))
        np.add.at(between, self.to_rows, flowing[self.from_rows] * self.row_weights[:, None])
        result = np.zeros((self.shape[1], self.shape[0]))
        np.add.at(result, self.to_columns, between.T[self.from_columns] * self.column_weights[:, None])
        return result.T


def _weighted(edges: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64], Similarities]:
    out = Counter(start for start, _ in edges)
    starts = np.array([start for start, _ in edges], dtype=np.int64)
    ends = np.array([end for _, end in edges], dtype=np.int64)
    return starts, ends, np.array([1.0 / out[start] for start, _ in edges])


def _ways(left: list[LabelledEdge], right: list[LabelledEdge], shape: tuple[int, ...]) -> list[_Way]:
    ways = []
    for label in dict.fromkeys(edge.label for edge in left):
        ours = [(edge.start, edge.end) for edge in left if edge.label == label]
        theirs = [(edge.start, edge.end) for edge in right if edge.label == label]
        if theirs:
            ways.append(_Way(ours, theirs, shape))
            ways.append(_Way([(b, a) for a, b in ours], [(b, a) for a, b in theirs], shape))
    return ways
