"""The share of a document after which the first pattern of a neighbour matches."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, document, pattern
from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.pattern import Pattern, matches, parse
from twigcast.simulator.first_match import FirstMatch, is_monotone
from twigcast.simulator.first_match import _prefixes as prefixes_of
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
)


def share(text: str, body: bytes) -> float:
    return FirstMatch({"n": {"1": parse(text)}}).share(body, "n")


@pytest.mark.parametrize(
    ("text", "read_until"),
    [
        ("/a", 3),
        ("/a/b", 7),
        ("/a/c", 10),
        ("/a[c]/b", 10),
        ("//d", 14),
        ("//c[d]", 14),
        ("//@x", 22),
        ("/a[not(z)]", 22),
        ("/a[count(c) < 2]", 22),
        ("/a/*[1]", 22),
        ("/a[.='']", 22),
        ("/a[b or c]", 7),
    ],
)
def test_a_pattern_matches_as_early_as_its_last_part(text: str, read_until: int) -> None:
    """Conditions that more of the document can undo hold at its end."""
    body = b"<a><b/><c><d/></c></a>"
    assert share(text, body) * len(body) == pytest.approx(read_until)


def test_the_first_of_several_patterns_counts_and_neighbours_differ() -> None:
    """A neighbour is sent the document when one of its patterns matches."""
    body = b"<a><b/><c/><d/></a>"
    first = FirstMatch({"m": {"1": parse("//d"), "2": parse("//b")}, "n": {"1": parse("//c")}})
    assert [len(body) * first.share(body, link) for link in "mn"] == [7, 11]
    assert first.share(b"<a><c/></a>", "n") == pytest.approx(7 / 11)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[@x='1']", True),
        ("//a[text()='1']", True),
        ("//a[contains(@x,'1')]", True),
        ("//a[b/@x=1 or c]", True),
        ("/self::node()[.//test]//a", True),
        ("//a|//b[c]", True),
        ("//a[.='1']", False),
        ("//a[b='1']", False),
        ("//a[contains(.,'1')]", False),
        ("//a[contains(b/@x,'1')]", False),
        ("//a|//b[not(c)]", False),
        ("//a/following-sibling::b", False),
        ("//a[b + 1 = 2]", False),
    ],
)
def test_what_more_of_a_document_cannot_undo(text: str, expected: bool) -> None:
    """The text of an open element may go on, attributes and text nodes before a tag may not."""
    assert is_monotone(parse(text)) is expected


def test_trap_the_value_of_an_open_element_is_not_final() -> None:
    """A match on a prefix would be taken back: the document does not match, though a prefix does."""
    assert matches(parse("/a[.='1']"), read(b"<a>1<b/></a>"))
    assert not matches(parse("/a[.='1']"), read(b"<a>1<b/>2</a>"))
    assert share("/a[.='1']", b"<a>1<b/></a>") == 1.0


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 1 << 32))
def test_the_share_is_that_of_the_shortest_prefix(seed: int) -> None:
    """Bisection gives the same as matching every prefix; a match on a prefix is never undone."""
    random = Random(seed)
    body = document(random)
    rows: dict[str, Pattern] = {}
    while len(rows) < 5:
        try:
            found = parse(pattern(random).ours, NAMESPACES)
        except PatternError:
            continue
        if is_monotone(found):
            rows[str(found)] = found
    if b"&m;" in body.replace(b"\0", b""):
        return  # an entity with elements: there is no prefix between them
    prefixes = _prefixes(body)
    for row in rows.values():
        answers = [matches(row, read(prefix)) for _, prefix in prefixes] + [matches(row, read(body))]
        assert answers == sorted(answers)
        if answers[-1]:
            lengths = [length for length, _ in prefixes] + [len(body)]
            expected = lengths[answers.index(True)] / len(body)
            assert FirstMatch({"n": {"1": row}}).share(body, "n") == pytest.approx(expected)


def test_generated_loads_have_early_matches() -> None:
    """With a ``<test/>`` no subscription matches before it, and some match soon after."""
    bodies = list(generate_documents(news(), 5, DocumentOptions(test_element=0.25)))
    options = SubscriptionOptions(min_steps=2, nested=0.2, test_condition=True)
    rows = {text: parse(text) for text in generate_subscriptions(news(), 200, options)}
    first = FirstMatch({"n": rows})
    shares = [first.share(body, "n") for body in bodies]
    assert min(shares) >= 0.25
    assert max(shares) < 0.4


def _prefixes(body: bytes) -> list[tuple[int, bytes]]:
    return [(length, body[:length] + closing) for length, closing in sorted(prefixes_of(read(body)))]
