"""Rewriting of events against the definition, which is rewriting of trees."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import event as note
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.mapping.streaming import Event, EventRewriter, events, rewrite_events
from tests.rewriting.images import image_of, name, tree_of
from tests.rewriting.strategies import (
    KINDS,
    Case,
    cases,
    random_case,
    random_operator,
    random_schema,
    random_source_document,
)
from twigcast.document import DocumentLimits, read
from twigcast.errors import DocumentError, MappingError, TwigcastError
from twigcast.rewriting import Downgrade, Mapping, Operator, Rename, Upgrade


def of_tree(mapping: Mapping, body: bytes, limits: DocumentLimits | None = None) -> list[Event] | str:
    """The events of the image, or the code of the error."""
    try:
        return list(events(mapping.apply(read(body), limits)))
    except TwigcastError as error:
        return error.code


def of_stream(mapping: Mapping, body: bytes, limits: DocumentLimits | None = None) -> list[Event] | str:
    """The same without a tree of the image."""
    try:
        return list(rewrite_events(events(read(body)), mapping, len(body), limits))
    except TwigcastError as error:
        return error.code


@settings(max_examples=100, deadline=None)
@given(cases(8))
def test_the_stream_is_that_of_the_tree(case: Case) -> None:
    """For lists of operators, also on what other operators made or moved."""
    note(f"{len(case.mapping.operators)} operators")
    assert of_stream(case.mapping, case.body) == of_tree(case.mapping, case.body)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_each_operator_alone(kind: type, random: Random) -> None:
    """The same for one operator of each kind."""
    tree = random_schema(random)
    operator = random_operator(random, tree, kind)
    if operator is None:
        return
    mapping = Mapping("one", tree, (operator,))
    body = random_source_document(random, tree)
    try:
        assert mapping.applied
    except MappingError:
        note("refused")
        return
    note("applied")
    assert of_stream(mapping, body) == of_tree(mapping, body)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_stream_is_that_of_the_tree_on_many(seed: int) -> None:
    """Thousands of cases more."""
    random = Random(seed)
    for _ in range(1500):
        case = random_case(random, 8)
        assert of_stream(case.mapping, case.body) == of_tree(case.mapping, case.body)


LIMITS = DocumentLimits(amplification=3, amplification_threshold=3000)


@pytest.mark.parametrize("seed", range(60))
def test_the_limit_on_copies_is_the_same(seed: int) -> None:
    """A document is refused by the stream exactly if it is refused by the tree."""
    case = random_case(Random(seed), 8)
    for limits in (LIMITS, DocumentLimits(amplification=1, amplification_threshold=1)):
        assert of_stream(case.mapping, case.body, limits) == of_tree(case.mapping, case.body, limits)


def test_too_many_copies_are_refused_while_the_document_is_read() -> None:
    """Before they are written."""
    mapping = Mapping("m", tree_of("r(a, f*)"), (Downgrade("r", ("r/a",), "r/f"),))
    body = f"<r><a>{'x' * 5000}</a>{'<f/>' * 5000}</r>".encode()
    rewriter = EventRewriter(mapping, len(body))
    *before, last = events(read(body))
    written = [each for event in before for each in rewriter.feed(event)]
    assert len(written) == 1
    with pytest.raises(DocumentError) as caught:
        rewriter.feed(last)
    assert caught.value.code == "rewriting-expansion"


def fed(schema: str, body: str, *operators: Operator) -> EventRewriter:
    """A rewriter that has read a document."""
    rewriter = EventRewriter(Mapping("m", tree_of(schema), operators), len(body))
    for event in events(read(body.encode())):
        rewriter.feed(event)
    return rewriter


def test_nothing_is_cached_where_nothing_waits() -> None:
    """A renamed element goes straight through."""
    assert fed("r(a)", "<r><a>xyz</a></r>", Rename("r/a", name("b"))).largest_cache == 0


def test_the_cache_is_as_large_as_what_waits_at_one_time() -> None:
    """Names, values and text of the members of one element; then they are let go."""
    body = "<r><e><s k='é'>12</s><t/></e><e><s>1234567</s></e></r>"
    assert fed("r(e*(s, t))", body, Upgrade("r/e", ("r/e/s",))).largest_cache == len("s1234567")


def test_a_tree_is_handed_over() -> None:
    """What one operator lets go may be held by the next one, and is counted once."""
    body = "<r><e><f><s>123</s></f></e></r>"
    one = fed("r(e(f(s)))", body, Upgrade("r/e/f", ("r/e/f/s",)))
    two = fed("r(e(f(s)))", body, Upgrade("r/e/f", ("r/e/f/s",)), Upgrade("r/e", ("r/e/f/s",)))
    assert (one.largest_cache, two.largest_cache) == (4, 4)


def test_strangers_are_counted() -> None:
    """As in the tree."""
    body = "<r><x><y/></x><a><x/></a></r>"
    assert fed("r(a)", body).strangers == image_of("r(a)", body).strangers == 2


def test_another_root_is_refused() -> None:
    """As in the tree."""
    mapping = Mapping("m", tree_of("r(a)"), ())
    assert of_stream(mapping, b"<x/>") == of_tree(mapping, b"<x/>") == "no-mapping"
