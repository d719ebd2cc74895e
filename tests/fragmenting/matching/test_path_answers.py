"""Answers from headers alone: those of the whole document, before a body is there."""

from __future__ import annotations

import warnings
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fragmenting.strategies import any_document
from tests.pattern.strategies import NAMESPACES, pattern
from twigcast import Index
from twigcast.fragmenting import Certain, FragmentIndex, Manifest, Outcome, Spans, Subtrees, fragment
from twigcast.fragmenting.matching.path_answers import PathAnswers, linear_subscriptions
from twigcast.fragmenting.scheduling import lists_elements

BODY = b"<a xmlns:p='urn:p'><b><c/></b><p:b><d>x</d></p:b></a>"


def test_subscriptions_to_names_and_places_are_linear() -> None:
    """Branches, values, attributes, texts, positions and unions need more than a label path."""
    linear = ["/a", "//b/c", "/a/*//d", "//*:b"]
    others = ["/a[b]/c", "//d[.='x']", "//a/@x", "//d/text()", "//b[1]", "/a[not(b)]", "//c | //e"]
    index = Index((text, text) for text in linear + others)
    assert linear_subscriptions(index).ids == linear


def test_label_paths_decide_without_a_body() -> None:
    """A manifest makes linear subscriptions certain before a byte of the document has come."""
    texts = ["/a/b/c", "//p:b/d", "//d[.='x']", "/a/b/d", "/a[b]/*:b/d"]
    index = Index(((text, text) for text in texts), namespaces={"p": "urn:p"})
    parts = list(fragment(BODY, doc_id="d", cut=Spans(elements=2), header="prefix+paths"))
    feed = FragmentIndex(index, early=True, checked=False)
    (news,) = feed.expect(Manifest.of(parts))
    assert isinstance(news, Certain)
    assert (sorted(map(str, news.ids)), news.share) == (["//p:b/d", "/a/b/c"], 0.0)
    last = [each for part in parts for each in feed.add(part)][-1]
    assert isinstance(last, Outcome)
    assert last.match is not None
    assert last.match.ids == index.match(BODY).ids


def test_headers_of_unchecked_fragments_are_not_believed() -> None:
    """With ``checked`` a match is certain only when its bytes were parsed."""
    parts = list(fragment(BODY, doc_id="d", cut=Spans(elements=2), header="prefix+paths"))
    assert FragmentIndex(Index([("b", "//b")]), early=True).expect(Manifest.of(parts)) == []


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_linear_subscriptions_have_the_answers_of_the_whole_document(random: Random) -> None:
    """Whatever the order of headers, also if the entries of a dictionary come later than their numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = Index(((n, pattern(random).ours) for n in range(20)), namespaces=NAMESPACES)
        for number, text in enumerate(["//a", "//b/c", "/a//*/b", "/*/p:a", "//*:b//a", "/b/*/*"]):
            index.add(f"linear {number}", text, NAMESPACES)
    body = any_document(random)
    linear = linear_subscriptions(index)
    rule = random.choice([Spans(elements=random.randint(1, 4)), Subtrees(random.randint(1, 4))])
    parts = list(fragment(body, cut=rule, header="prefix+paths"))
    random.shuffle(parts)
    answers = PathAnswers(linear)
    whole = set(index.match(body).ids)
    for part in parts:
        answers.learn([part.header])
        assert answers.ids <= whole
    if all(lists_elements(part.header) for part in parts):  # and no entity brings in others
        assert answers.ids == {id for id in linear.ids if id in whole}
