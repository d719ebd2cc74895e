"""Fragments that are evaluated one by one, in any process, and joined in any order and grouping."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fragmenting.matching.test_fragment_index import cut, load
from twigcast import Index
from twigcast.fragmenting import DocumentJoin, EvaluatedFragments, Spans, evaluate_fragment, fragment
from twigcast.fragmenting.matching.fragment_index import FragmentIndex


def sent(found: EvaluatedFragments) -> EvaluatedFragments:
    """The value as it arrives in another process."""
    return EvaluatedFragments.of(found.facts(), found.partial, found.waiting)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_any_grouping_has_the_answer_of_the_whole(random: Random) -> None:
    """Groups are joined by themselves and compacted; some fragments come again later."""
    index, body = load(random)
    parts = cut(random, body)
    matcher, checked, is_own = index.partials(), random.random() < 0.5, random.random() < 0.5
    values = [sent(evaluate_fragment(index, matcher, part, checked=checked, is_own=is_own)) for part in parts]
    groups = [DocumentJoin("d", index, checked=checked) for _ in range(random.randint(1, 3))]
    for value in random.sample(values, len(values)):
        random.choice(groups).add(value)
    joined = DocumentJoin("d", index, checked=checked)
    for group in random.sample(groups, len(groups)):
        for value in group.compacted():
            joined.add(sent(value))
    for value in random.sample(values, random.randint(0, len(values))):
        joined.add(value)
    assert joined.missing == ()
    assert joined.status() == "complete", joined.error
    assert matcher.match(joined.partial, body).ids == index.match(body).ids


def test_faults_are_those_of_a_fragment_index() -> None:
    """Both check headers in the same way."""
    index = Index([("a", "//a")])
    one, other = (
        list(fragment(body, doc_id="d", cut=Spans(elements=1), header="prefix"))
        for body in (b"<r><a/><b/></r>", b"<r><a/><c/></r>")
    )
    join, feed = DocumentJoin("d", index), FragmentIndex(index)
    news = []
    for part in (one[0], one[2], other[2]):
        join.add(evaluate_fragment(index, index.partials(), part))
        news += feed.add(part)
    assert join.status() == "broken"
    assert join.error is not None
    assert join.error.code == "fragment-conflict"
    assert [getattr(each, "error").code for each in news] == ["fragment-conflict"]  # noqa: B009
