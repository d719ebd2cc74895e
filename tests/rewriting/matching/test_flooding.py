"""Similarity flooding."""

from __future__ import annotations

import numpy as np
import pytest

from twigcast.rewriting.matching import LabelledEdge, flood


def test_the_example_of_the_paper() -> None:
    """Two graphs of three edges: the six similarities that the fixpoint of formula C has."""
    left = [LabelledEdge(0, "l1", 1), LabelledEdge(0, "l1", 2), LabelledEdge(1, "l2", 2)]
    right = [LabelledEdge(0, "l1", 1), LabelledEdge(0, "l2", 2), LabelledEdge(2, "l2", 1)]
    found = flood(np.ones((3, 3)), left, right)
    a, a1, a2 = 0, 1, 2
    b, b1, b2 = 0, 1, 2
    expected = {(a, b): 1.00, (a2, b1): 0.85, (a1, b2): 0.66, (a1, b): 0.60, (a2, b2): 0.60, (a1, b1): 0.46}
    assert {pair: round(float(found[pair]), 2) for pair in expected} == expected


def test_edges_of_other_labels_do_not_meet() -> None:
    """Without a common label nothing flows, and the initial similarities stay in proportion."""
    initial = np.array([[1.0, 0.5], [0.0, 0.25]])
    found = flood(initial, [LabelledEdge(0, "child", 1)], [LabelledEdge(0, "attribute", 1)])
    assert found == pytest.approx(initial)


def test_neighbours_lift_each_other() -> None:
    """Of two equal pairs, the one with similar children becomes more similar."""
    left = [LabelledEdge(0, "child", 1)]
    right = [LabelledEdge(0, "child", 1), LabelledEdge(2, "child", 3)]
    initial = np.array([[0.5, 0.0, 0.5, 0.0], [0.0, 1.0, 0.0, 0.0]])
    found = flood(initial, left, right)
    assert found[0, 0] > found[0, 2]


def test_nothing_similar() -> None:
    """Without any similarity the result is zero, not a division by it."""
    assert flood(np.zeros((2, 2)), [], []).tolist() == [[0.0, 0.0], [0.0, 0.0]]
