"""The shared tree of prefixes."""

from __future__ import annotations

from twigcast.fragmenting.scheduling.prefix_tree import PrefixTree
from twigcast.fragmenting.scheduling.queries import Query
from twigcast.pattern import parse


def tree(*texts: str) -> PrefixTree:
    return PrefixTree([Query.of(parse(text)) for text in texts])


def named(made: PrefixTree, mask: int) -> set[tuple[int, str]]:
    """Query nodes of a bit set, as query and last step."""
    return {(query, made.queries[query].text(number)) for query, number in made.members(mask)}


def path(text: str) -> list[tuple[str, str]]:
    return [("", name) for name in text.split("/") if name]


def test_example_5_9_a_shared_node_is_relevant_for_both_queries() -> None:
    """A fragment below /a with root b is relevant for the b of both, and ``/d`` and ``//d`` stay apart."""
    made = tree("/a/b[c]/d", "/a/b//d")
    assert named(made, made.entering(made.state(path("/a")), "b")) == {(0, "/b"), (1, "/b")}
    below = made.state(path("/a/b"))
    assert named(made, made.entering(below, "d")) == {(0, "/d"), (1, "//d")}
    assert named(made, made.entering(below, "x")) == {(1, "//d")}
    assert len(made.nodes) == 1 + len(["/a", "/b", "/c", "/d", "//d"])


def test_nodes_of_one_query_fall_together() -> None:
    """``/a[b/c][b/d]`` has two nodes /a/b at one tree node."""
    made = tree("/a[b/c][b/d]")
    assert sorted(len(node.members) for node in made.nodes) == [1, 1, 1, 1, 2]


def test_states_are_interned() -> None:
    """A recursive path does not make new states for ever."""
    made = tree("//a//b", "/a/a/a")
    deep = made.state(path("/a/a/a/a/a"))
    assert deep is made.state(path("/a/a/a/a/a/a"))


def test_descendant_steps_fit_at_any_depth() -> None:
    """``/a//b`` fits at /a/x/b and not at /b."""
    made = tree("/a//b")
    assert named(made, made.state(path("/a/x/b")).fitting) == {(0, "//b")}
    assert named(made, made.state(path("/b")).fitting) == set()
