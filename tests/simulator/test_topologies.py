"""Networks of common topologies."""

from __future__ import annotations

import pytest

from twigcast.errors import RoutingError
from twigcast.simulator import line
from twigcast.simulator.topologies import balanced_tree, random_tree, star


def test_a_line() -> None:
    """A line has two leaves, whatever its length."""
    assert line(4).links == (("b1", "b2"), ("b2", "b3"), ("b3", "b4"))
    assert line(1).routers == ("b1",)


def test_a_star() -> None:
    """All routers have a link to the first."""
    assert star(4).neighbours("b1") == ("b2", "b3", "b4")


def test_the_trees_of_the_paper() -> None:
    """They have 7 routers on three levels, and 127 on seven levels with 64 leaves."""
    assert len(balanced_tree(2, 3).routers) == 7
    assert balanced_tree(2, 3).neighbours("b3") == ("b1", "b6", "b7")
    assert len(balanced_tree(2, 7).routers) == 127
    assert len(balanced_tree(2, 7).leaves) == 64
    assert len(balanced_tree(3, 3).routers) == 13


def test_a_random_tree_depends_on_its_seed_alone() -> None:
    """The same seed gives the same tree."""
    assert random_tree(20, 1) == random_tree(20, 1) != random_tree(20, 2)
    assert len(random_tree(20, 1).links) == 19


@pytest.mark.parametrize("make", [line, star, random_tree, lambda n: balanced_tree(2, n)])
def test_no_routers_are_no_topology(make: object) -> None:
    """A topology has at least one router."""
    with pytest.raises(RoutingError):
        make(0)  # type: ignore[operator]
