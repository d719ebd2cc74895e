"""Summaries of long texts decide what the texts decide (``text_items.hpp``)."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from twigcast import Index, Tuning
from twigcast.fragmenting import FragmentIndex, Outcome, Spans, Subtrees, fragment
from twigcast.fragmenting.matching.pieces import pieces

TEXTS = ("a", "ab", "abc", "é", "bé", "cab", "1", "12", "-1", "1.5", " 1", "a" * 9, "", "0", ".5", "1 2")
PATTERNS = [
    test.format(each)
    for each in TEXTS
    for test in (
        "/r[.='{}']",
        "/r[.!='{}']",
        "/r[contains(.,'{}')]",
        "/r[starts-with(.,'{}')]",
        "/r[not(.='{}')]",
    )
]
PATTERNS += [
    f"/r[. {operator} {number}]" for operator in ("=", "!=", "<", ">=") for number in (0, 1, 1.5, 12, -1)
]
PATTERNS += [
    f"/r[string-length(.) {operator} {number}]" for operator in ("=", ">") for number in (0, 1, 2, 5, 9)
]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_summary_decides_what_the_text_decides(random: Random) -> None:
    """Equality, substrings across seams, numbers, lengths: for texts cut anywhere and joined in any order."""
    letters = ["a", "b", "c", "é", "1", "2", "0", ".", "-", " ", "ab", "12", "\n"]
    few = random.choice([letters, ["1", "2", "0", ".", "-", " "], ["a", "b"], [" ", "1"]])
    body = "".join(random.choice([*few, "<b/>", "<c>" + random.choice(few) + "</c>"]) for _ in range(12))
    document = f"<r>{body}</r>".encode()
    limit = random.choice([0, 1, 2, 5])
    index = Index(((text, text) for text in dict.fromkeys(PATTERNS)), tuning=Tuning(text_bytes=limit))
    rule = random.choice([Spans(elements=1), Spans(elements=2), Subtrees(1), Subtrees(2)])
    parts = list(fragment(document, doc_id="d", cut=rule, header="prefix"))
    feed = FragmentIndex(index, early=random.random() < 0.5)
    found = [news for part in random.sample(parts, len(parts)) for news in feed.add(part)][-1]
    assert isinstance(found, Outcome)
    assert found.match is not None, found
    assert found.match.ids == index.match(document).ids


def test_the_text_of_an_element_in_many_parts_takes_little_memory() -> None:
    """A partial has a summary of it."""
    index = Index([("x", "/r[contains(., 'needle')]"), ("n", "/r[. = 5]")])
    matcher = index.partials()
    sizes = []
    for count in (100, 2000):
        body = b"<r>" + b"<p>some text of a paragraph that goes on for a while</p>" * 100 * count + b"</r>"
        body = body.replace(b"paragraph", b"nee<i/>dle", 1)
        partial = matcher.empty()
        for part in fragment(body, doc_id="d", cut=Spans(bytes=50_000), header="prefix"):
            made = pieces(part, b"", [run.context or () for run in part.runs])
            if not part.is_last:
                matcher.merge(partial, matcher.evaluate(part.number, made))
                matcher.derive(partial)
            else:
                sizes.append(len(partial.encode()))
                matcher.merge(partial, matcher.evaluate(part.number, made))
                matcher.derive(partial)
                assert matcher.match(partial).ids == ["x"]
    assert sizes[1] < sizes[0] + 100_000
    assert sizes[1] < 200_000
