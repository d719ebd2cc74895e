"""The subscription tree: after any changes, exactly the uncovered subscriptions are forwarded."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import general_pattern, linear_pattern, small_document, twig_pattern
from twigcast.analysis.covering import covers
from twigcast.errors import SubscriptionError
from twigcast.pattern import Pattern, matches, parse
from twigcast.routing.stages.change import Change
from twigcast.routing.stages.subscription_tree import Node, SubscriptionTree


def tree_of(*expressions: str) -> SubscriptionTree:
    """Make a tree of expressions, which are added one by one; each is its own id."""
    tree = SubscriptionTree()
    for expression in expressions:
        tree.add(expression, parse(expression))
    return tree


def shape(tree: SubscriptionTree, nodes: list[Node] | None = None) -> dict[str, object]:
    """Return the tree as nested dictionaries of texts."""
    nodes = tree.roots if nodes is None else nodes
    return {str(node.pattern): shape(tree, tree.children(node)) for node in nodes}


def forwarding(*expressions: str) -> tuple[tuple[str, Pattern], ...]:
    return tuple((each, parse(each)) for each in expressions)


# Section 4.1: three cases


def test_case_1_a_pattern_without_relation_stands_beside() -> None:
    """A pattern that covers nothing and is not covered becomes a root, and is forwarded."""
    tree = tree_of("/a")
    assert tree.add("/b", parse("/b")) == Change(forward=forwarding("/b"))
    assert shape(tree) == {"/a": {}, "/b": {}}


def test_case_2_a_coverer_goes_between() -> None:
    """It becomes the parent of the patterns that it covers; they are withdrawn, and it is forwarded."""
    tree = tree_of("/a/b", "/a/c", "/d")
    assert tree.add("/a", parse("/a")) == Change(forward=forwarding("/a"), withdraw=("/a/b", "/a/c"))
    assert shape(tree) == {"/d": {}, "/a": {"/a/b": {}, "/a/c": {}}}


def test_case_2_below_a_parent() -> None:
    """A pattern that is inserted between a parent and its child causes no message."""
    tree = tree_of("/a", "/a/b/c")
    assert tree.add("/a/b", parse("/a/b")) == Change()
    assert shape(tree) == {"/a": {"/a/b": {"/a/b/c": {}}}}


def test_case_3_a_covered_pattern_goes_down() -> None:
    """It is stored below the deepest pattern that covers it, and not forwarded."""
    tree = tree_of("/a", "/a/b")
    assert tree.add("/a/b/c", parse("/a/b/c")) == Change()
    assert shape(tree) == {"/a": {"/a/b": {"/a/b/c": {}}}}


def test_figure_4_super_pointers_lead_to_what_is_covered_elsewhere() -> None:
    """Of two patterns that cover a third, one is its parent, and the other has a super pointer to it."""
    tree = tree_of("/a", "//b", "/a/b")
    assert sum(len(node.children) for node in tree.roots) == 1
    (pointing,) = [node for node in tree.roots if tree.supers(node)]
    assert tree.supers(pointing) == [tree.node("/a/b")]
    assert not pointing.children


def test_figure_4_a_super_pointer_shelters_an_orphan() -> None:
    """When its parent is removed, the target of a super pointer gets a new parent and is not forwarded."""
    tree = tree_of("/a", "//b", "/a/b")
    (pointing,) = [node for node in tree.roots if tree.supers(node)]
    (parent,) = [node for node in tree.roots if node is not pointing]
    assert tree.remove(str(parent.pattern)) == Change(withdraw=(str(parent.pattern),))
    assert tree.node("/a/b").parent is pointing


def test_figure_5_the_tree_before_merging() -> None:
    """The patterns of the paper are arranged as in its figure, in whatever order they are added."""
    expressions = ["/a/b/a", "/a/b/b", "/a/b/d", "/a/b", "/b/d", "/b/e", "/b/d/a", "/a", "/b"]
    expected = {
        "/a": {"/a/b": {"/a/b/a": {}, "/a/b/b": {}, "/a/b/d": {}}},
        "/b": {"/b/d": {"/b/d/a": {}}, "/b/e": {}},
    }
    for seed in range(20):
        Random(seed).shuffle(expressions)
        assert shape(tree_of(*expressions)) == expected


# What leaves


def test_removing_a_coverer_issues_again_what_it_hid() -> None:
    """The children of a removed root are forwarded; their own children are still covered."""
    tree = tree_of("/a", "/a/b", "/a/c", "/a/b/d")
    change = tree.remove("/a")
    assert change.withdraw == ("/a",)
    assert sorted(change.forward) == sorted(forwarding("/a/b", "/a/c"))


def test_removing_a_covered_pattern_says_nothing() -> None:
    """Its children become children of its parent."""
    tree = tree_of("/a", "/a/b", "/a/b/c")
    assert tree.remove("/a/b") == Change()
    assert shape(tree) == {"/a": {"/a/b/c": {}}}


def test_equal_patterns_are_forwarded_once() -> None:
    """A second subscription with an equal or equivalent pattern causes no message."""
    tree = SubscriptionTree()
    pattern = parse("/a//*/b")
    assert tree.add("one", pattern) == Change(forward=(("one", pattern),))
    assert tree.add("two", parse("/a//*/b")) == Change()
    assert tree.add("three", parse("/a/*//b")) == Change()
    assert len(tree.roots) == 1


def test_another_of_equal_patterns_takes_over() -> None:
    """When the forwarded subscription is removed, an equal one is forwarded in its place."""
    tree = SubscriptionTree([("one", parse("/a//*/b")), ("two", parse("/a/*//b"))])
    assert tree.remove("one") == Change(forward=(("two", parse("/a/*//b")),), withdraw=("one",))
    assert tree.remove("two") == Change(withdraw=("two",))
    assert len(tree) == 0


def test_a_change_tells_only_what_differs_in_the_end() -> None:
    """A pattern that is added and covered in one change is never forwarded."""
    tree = tree_of("/a/b", "/c")
    change = tree.change([("/a", parse("/a")), ("/a/d", parse("/a/d"))], ["/c"])
    assert change.forward == forwarding("/a")
    assert sorted(change.withdraw) == ["/a/b", "/c"]


def test_an_id_can_be_given_another_pattern() -> None:
    """An id that is removed and added in one change is withdrawn and forwarded."""
    tree = SubscriptionTree([("x", parse("/a"))])
    assert tree.change([("x", parse("/b"))], ["x"]) == Change((("x", parse("/b")),), ("x",))
    assert tree.change([("x", parse("/b"))], ["x"]) == Change()


@pytest.mark.parametrize(
    ("added", "removed"),
    [([("x", "/b")], []), ([], ["y"]), ([("z", "/b"), ("z", "/c")], ["x"]), ([], ["x", "x"])],
)
def test_a_refused_change_changes_nothing(added: list[tuple[str, str]], removed: list[str]) -> None:
    """The error names the duplicate or unknown id, and nothing has changed."""
    tree = SubscriptionTree([("x", parse("/a"))])
    with pytest.raises(SubscriptionError):
        tree.change([(id, parse(text)) for id, text in added], removed)
    assert dict(tree.uncovered) == {"x": parse("/a")}
    assert "x" in tree


def test_asking_for_an_unknown_node() -> None:
    """The error names the id."""
    with pytest.raises(SubscriptionError, match="nobody"):
        SubscriptionTree().node("nobody")


def test_a_long_row_of_coverers_is_not_gone_down_to_its_end() -> None:
    """Nested ranges beyond the depth limit become siblings on the last level."""
    tree = SubscriptionTree((f"{number}", parse(f"//a[@k<{number}]")) for number in range(200, 0, -1))
    assert list(tree.uncovered) == ["200"]
    assert list(tree.remove("200").forward) == [("199", parse("//a[@k<199]"))]


# Against the naive one


@given(st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_what_is_uncovered_is_what_no_other_covers(seed: int) -> None:
    """After any changes, the forwarded linear paths are those that no other one covers."""
    random = Random(seed)
    tree, stored, known = SubscriptionTree(), {}, {}
    for change in changes(random, linear_pattern):
        follow(tree, stored, known, *change)
        expected = [q for q in stored.values() if not strictly_covered(q, list(stored.values()))]
        assert all(any(same(p, q) for p in known.values()) for q in expected)
        assert all(any(same(p, q) for q in expected) for p in known.values())
        assert not any(p is not q and same(p, q) for p in known.values() for q in known.values())


@given(st.integers(0, 1 << 32))
@settings(max_examples=40, deadline=None)
def test_no_match_is_lost_and_nothing_is_forwarded_in_vain(seed: int) -> None:
    """For any patterns, a forwarded one matches if a stored one does, and no forwarded one covers another."""
    random = Random(seed)
    tree, stored, known = SubscriptionTree(), {}, {}
    documents = [small_document(random) for _ in range(5)]
    for change in changes(random, random.choice([twig_pattern, general_pattern])):
        follow(tree, stored, known, *change)
        for document in documents:
            wanted = any(matches(pattern, document) for pattern in stored.values())
            assert any(matches(pattern, document) for pattern in known.values()) is wanted
        forwarded = list(known.values())
        assert not any(p is not q and covers(p, q) for p in forwarded for q in forwarded)


def changes(random: Random, pattern: object) -> list[tuple[list[tuple[str, Pattern]], list[str]]]:
    """Draw additions, removals and batches of both; only ids that are present are removed."""
    made = []
    present: list[str] = []
    for number in range(14):
        size = random.choice([1, 1, 1, 4, 25])
        removed = random.sample(present, min(len(present), random.choice([0, 1, 1, size])))
        added = [(f"{number}.{each}", pattern(random)) for each in range(random.choice([0, size, size]))]  # type: ignore[operator]
        present = [id for id in present if id not in removed] + [id for id, _ in added]
        made.append((added, removed))
    return made


def follow(
    tree: SubscriptionTree,
    stored: dict[str, Pattern],
    known: dict[str, Pattern],
    added: list[tuple[str, Pattern]],
    removed: list[str],
) -> None:
    """Apply a change to the tree, to a plain dictionary, and to a copy of what a neighbour knows."""
    change = tree.change(added, removed)
    for id in removed:
        del stored[id]
    stored.update(added)
    for id in change.withdraw:
        del known[id]
    for id, pattern in change.forward:
        assert id not in known
        known[id] = pattern
    assert known == dict(tree.uncovered)
    assert {id: stored[id] for id in known} == known
    assert len(tree) == len(stored)


def same(p: Pattern, q: Pattern) -> bool:
    return p is q or (covers(p, q) and covers(q, p))


def strictly_covered(q: Pattern, patterns: list[Pattern]) -> bool:
    return any(covers(p, q) and not covers(q, p) for p in patterns)
