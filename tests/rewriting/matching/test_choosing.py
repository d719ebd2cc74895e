"""The choice of pairs from scores."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.rewriting.matching.choosing import assign, consistent, overlap, share
from twigcast.rewriting.schema_tree import SchemaTree
from twigcast.workload import infer


def tree(body: bytes) -> SchemaTree:
    found = SchemaTree.of(infer([body]))
    found.nodes()
    return found


def test_the_largest_sum_wins() -> None:
    """A pair gives way if two others are worth more together."""
    scores = {("time", "time"): 0.6, ("time", "section"): 0.7, ("title", "section"): 0.65}
    assert assign(scores, 0.45) == {"time": "time", "title": "section"}


def test_pairs_below_the_threshold_do_not_count() -> None:
    """A weak pair is no pair, even if nothing else is left."""
    assert assign({("a", "x"): 0.44, ("b", "y"): 0.45}, 0.45) == {"b": "y"}


def test_the_order_of_targets_decides_ties() -> None:
    """Of two targets with one score, the first is taken."""
    assert assign({("instructor", "name"): 0.6, ("instructor", "email"): 0.6}, 0.45) == {"instructor": "name"}
    assert assign({("instructor", "email"): 0.6, ("instructor", "name"): 0.6}, 0.45) == {
        "instructor": "email"
    }


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*product("abcd", "wxyz")]), st.floats(0.0, 1.0, allow_nan=False), max_size=12
    )
)
def test_no_greedy_choice_is_better(scores: dict[tuple[str, str], float]) -> None:
    """The sum is at least that of taking the best pair first; no node is used twice."""
    chosen = assign(scores, 0.3)
    assert len(set(chosen.values())) == len(chosen)
    assert all(scores[pair] >= 0.3 for pair in chosen.items())
    sources: set[str] = set()
    targets: set[str] = set()
    greedy = 0.0
    for (source, target), score in sorted(scores.items(), key=lambda item: -item[1]):
        if score >= 0.3 and source not in sources and target not in targets:
            sources.add(source)
            targets.add(target)
            greedy += score
    assert sum(scores[pair] for pair in chosen.items()) >= greedy - 1e-4


def test_a_leaf_shares_the_target_of_a_leaf_like_it() -> None:
    """What is left over gets its best target if the holder is alike, and nothing otherwise."""
    scores = {("fall", "name"): 0.6, ("winter", "name"): 0.5, ("room", "name"): 0.5, ("x", "free"): 0.9}
    pairs = {"fall": "name"}
    alike = share(scores, pairs, 0.45, lambda a, b, _: {a, b} == {"fall", "winter"})
    assert alike == {"winter": "name"}


def test_overlap_counts_the_leaves_below_both() -> None:
    """Inner nodes agree by the harmonic mean of the shares of their leaves."""
    source, target = tree(b"<a><b><x>1</x><y>1</y></b><z>1</z></a>"), tree(b"<g><h><x>1</x><y>1</y></h></g>")
    inner = [node for node in source.nodes() if not node.is_leaf]
    found = overlap(inner, [target["g/h"]], {"a/b/x": "g/h/x", "a/b/y": "g/h/y"})
    assert found == {("a", "g/h"): 1.0, ("a/b", "g/h"): 1.0}


def test_parents_and_children_are_not_turned_around() -> None:
    """Of two pairs that contradict the structure, the better one stays, unless both names are sure."""
    source, target = tree(b"<r><a><b>1</b><c/></a></r>"), tree(b"<r><b><a>1</a></b></r>")
    sources = {node.key: node for node in source.nodes()}
    targets = {node.key: node for node in target.nodes()}
    pairs = {"r/a": "r/b/a", "r/a/b": "r/b"}
    scores = {("r/a", "r/b/a"): 0.9, ("r/a/b", "r/b"): 0.6}
    assert consistent(pairs, scores, {}, sources, targets) == {"r/a": "r/b/a"}
    sure = dict.fromkeys(scores, 1.0)
    assert consistent(pairs, scores, sure, sources, targets) == pairs
