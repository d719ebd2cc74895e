"""The search for coverers and covered patterns, against a comparison with all patterns."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import linear_pattern, twig_pattern
from twigcast.analysis.covering import Summary, summary_covers
from twigcast.analysis.covering_index import FEW, CoveringIndex
from twigcast.analysis.witness import Witness
from twigcast.pattern import parse


@given(st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_nothing_is_missed(seed: int) -> None:
    """The index finds all that a comparison with each pattern finds, also after removals."""
    random = Random(seed)
    make = random.choice([linear_pattern, twig_pattern])
    items = [Summary(make(random)) for _ in range(random.choice([FEW, 4 * FEW]))]
    index = CoveringIndex()
    for item in items:
        index.add(item)
    for item in random.sample(items, len(items) // 3):
        index.discard(item)
        items.remove(item)
    for q in [Summary(make(random)) for _ in range(5)]:
        covering = index.coverers(q, Witness(q.pattern), len(items) + 1, 1 << 30)
        assert set(covering) == {item for item in items if summary_covers(item, q)}
        covered = {item for item in items if summary_covers(q, item) and not summary_covers(item, q)}
        assert covered <= set(index.covered(q)) <= {item for item in items if summary_covers(q, item)}


def test_not_more_are_looked_for_than_asked() -> None:
    """The search stops when it has found as many coverers as requested."""
    index = CoveringIndex()
    for number in range(3 * FEW):
        index.add(Summary(parse(f"//*[@k<{number + 2}]")))
    q = Summary(parse("/a[@k=1]"))
    assert len(index.coverers(q, Witness(q.pattern), 2, 1 << 30)) == 2
    assert len(index) == 3 * FEW


def test_what_left_leaves_no_trace() -> None:
    """Empty nodes of the trie are removed with their last pattern."""
    index = CoveringIndex()
    items = [Summary(parse(f"/a/b{number}//c")) for number in range(2 * FEW)]
    for item in items:
        index.add(item)
    assert index.covered(Summary(parse("//c"))) == items
    for item in items:
        index.discard(item)
    assert list(index) == []
    assert index._trie is not None
    assert not index._trie.child
    assert not index._speaking
