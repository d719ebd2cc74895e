"""The kernel decides on its own tree what the evaluator decides on Python's, in linear time."""

from __future__ import annotations

import random
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, document, general_pattern, pattern
from twigcast import DocumentLimits, Index
from twigcast.document import read
from twigcast.pattern import matches


def disagreements(seeds: range) -> tuple[int, list[str]]:
    """How many pairs of a document and an expression were compared, and those that differ."""
    pairs, wrong = 0, []
    for seed in seeds:
        source = random.Random(seed)
        texts = {n: (general_pattern if n % 3 else pattern)(source).ours for n in range(30)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some are outside the language
            index = Index(texts.items(), namespaces=NAMESPACES)
        for body in [document(source) for _ in range(4)]:
            tree = read(body)
            expected = [id for id in index.ids if matches(index.pattern(id), tree)]
            pairs += len(index)
            if index.match(body).ids != expected:
                differing = set(index.match(body).ids) ^ set(expected)
                wrong += [f"{seed}: {texts[id]} on {body!r}" for id in differing]  # type: ignore[index]
    return pairs, wrong


def test_answers_are_those_of_the_evaluator() -> None:
    """Some thousand pairs of random documents and expressions of the whole language."""
    pairs, wrong = disagreements(range(25))
    assert wrong == []
    assert pairs > 2000


@pytest.mark.slow
def test_many_answers_are_those_of_the_evaluator() -> None:
    """The same with other seeds, for longer."""
    pairs, wrong = disagreements(range(1000, 1250))
    assert wrong == []
    assert pairs > 20_000


_DATE_PIECES = st.one_of(
    st.sampled_from(["2012", "1999", "-", "08", "06", "31", "02", "29", "T", "24", "00", ":", "Z", " ", "."]),
    st.sampled_from(
        ["20120806", "2012-08-06", "T0915", "T09:15:00", "0915", "+02:00", "-0500", ",5", "+14", "x"]
    ),
)
_DATES = st.lists(_DATE_PIECES, max_size=6).map("".join)
_ORDERS = st.sampled_from(["<", "<=", ">", ">="])


@settings(max_examples=400, deadline=None)
@given(st.lists(_DATES, min_size=1, max_size=8), _DATES, _ORDERS)
def test_dates_are_those_of_the_evaluator(values: list[str], literal: str, operator: str) -> None:
    """In every form, and also what is nearly one: the kernel orders what the evaluator orders."""
    values.append(literal)
    body = f"<r>{''.join(f'<d>{value}</d>' for value in values)}</r>".encode()
    texts = {at: f"/r/d[{at}][. {operator} '{literal}']" for at in range(1, len(values) + 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a literal that is neither date nor number
        index = Index(texts.items())
    tree = read(body)
    assert index.match(body).ids == [id for id in index.ids if matches(index.pattern(id), tree)]


SIBLINGS = [
    "/r/a[1]",
    "/r/a[last()]",
    "//a[price][2]",
    "/r[count(a) > 3]",
    "//a[contains(id, 'k')]",
    "//a[price * 2 = 4]",
    "//a[position() = last() - 1]",
    "//a/following-sibling::a[id]",
    "//a[preceding-sibling::a]",
    "//id/ancestor::r",
    "/r[a/price = a/id]",
]


@pytest.mark.parametrize("text", SIBLINGS)
def test_the_work_is_in_proportion_to_the_document(text: str) -> None:
    """A few steps per byte are enough, however many siblings there are."""
    body = (
        b"<r>" + b"".join(b"<a><price>%d</price><id>k%d</id></a>" % (n % 7, n) for n in range(5000)) + b"</r>"
    )
    limits = DocumentLimits(work=1, work_threshold=1)
    match = Index([("id", text)], limits=limits).match(body)
    assert match.undecided == ()
    assert match.ids == ([] if text == "/r[a/price = a/id]" else ["id"])  # lxml takes minutes for some


def test_names_with_prefixes_are_those_of_the_document() -> None:
    """``name()`` needs the prefix that the document uses, also if other subscriptions do not."""
    index = Index([("plain", "//a[1]"), ("name", "//*[concat(name(), '!') = 'p:a!']")])
    for _ in range(2):
        assert index.match(b"<p:a xmlns:p='u' p:k='1'/>").ids == ["name"]
        assert index.match(b"<q:a xmlns:q='u'/>").ids == []
        assert index.match(b"<a/>").ids == ["plain"]


def test_subscriptions_come_and_go() -> None:
    """Expressions are loaded when they first are candidates, and later changes do not mix them up."""
    index = Index([("first", "//a[1]")])
    assert index.match(b"<r><a/><a/></r>").ids == ["first"]
    index.add("second", "//a[2]")
    assert index.match(b"<r><a/><a/></r>").ids == ["first", "second"]
    index.remove("first")
    index.add("third", "//a[3]")
    assert index.match(b"<r><a/><a/></r>").ids == ["second"]
    assert index.match(b"<r><a/><a/><a/></r>").ids == ["second", "third"]


def test_a_document_that_needs_no_tree_between_those_that_do() -> None:
    """A tree is recorded while a document is parsed if the last one needed it, else when it is needed."""
    index = Index([("position", "//a[2]"), ("plain", "//b")])
    bodies = [b"<r><a/><a/></r>", b"<b/>", b"<r><a/><b/></r>", b"<b/>", b"<b/>", b"<r><a/><a/></r>"]
    expected = [["position"], ["plain"], ["plain"], ["plain"], ["plain"], ["position"]]
    assert [index.match(body).ids for body in bodies] == expected
    batch = index.match_batch(bodies)
    assert [batch.ids(row) for row in range(len(bodies))] == expected


def test_positions_that_are_given_anew_do_not_mix_expressions() -> None:
    """After many removals other expressions have the numbers of those that were decided before."""
    body = b"<r><a/><c/><b/></r>"
    index = Index()
    index.add("gone", "//a[following::b]")
    assert index.match(body).ids == ["gone"]
    index.add_all([(number, "/r") for number in range(4200)])
    index.add("kept", "//b[preceding::c]")
    index.remove("gone")
    for number in range(4200):
        index.remove(number)
    assert index.stats().subscriptions == 1
    assert index.match(body).ids == ["kept"]
