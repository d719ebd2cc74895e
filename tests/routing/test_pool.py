"""A pool stores each pattern once and matches documents against all patterns."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.expression_automaton import advertisement_of, expression_automaton
from experiments.engines.routing.path_expression import parse_path_expression
from tests.routing.overlay import any_document, subscription
from twigcast.document import read
from twigcast.errors import DocumentError
from twigcast.pattern import matches, parse
from twigcast.routing.pool import Pool


def test_equal_patterns_have_one_number() -> None:
    """This holds however many references there are."""
    pool = Pool()
    assert pool.hold(parse("/a")) == pool.hold(parse("/a")) != pool.hold(parse("/b"))
    assert len(pool) == 2


def test_a_pattern_stays_until_it_is_released_as_often_as_held() -> None:
    """After its last release a pattern matches no document."""
    pool = Pool()
    number = pool.hold(parse("/a"))
    pool.hold(parse("/a"))
    pool.release(number)
    assert pool.match(b"<a/>").tolist() == [number]
    pool.release(number)
    assert pool.match(b"<a/>").tolist() == []


def test_a_number_is_given_again_when_nobody_holds_it() -> None:
    """Arrays by number stay dense; the former pattern of the number is in no answer."""
    pool = Pool()
    number = pool.hold(parse("/a"))
    assert pool.match(b"<a/>").tolist() == [number]
    pool.release(number)
    assert pool.hold(parse("/b")) == number
    assert pool.match(b"<a/>").tolist() == []
    assert pool.match(b"<b/>").tolist() == [number]
    assert pool.capacity > number


def test_a_schema_is_held_as_a_pattern_is() -> None:
    """A schema automaton matches the documents that it describes."""
    pool = Pool()
    schema = expression_automaton([parse_path_expression("/a/b")])
    number = pool.hold(schema)
    pool.hold(parse("/c"))
    assert pool.hold(expression_automaton([parse_path_expression("/a/b")])) == number
    assert pool.match(b"<a><b/></a>").tolist() == [number]
    assert pool.match(b"<a><c/></a>").tolist() == []


def test_only_some_answers_are_remembered() -> None:
    """The cache of answers evicts the oldest one."""
    pool = Pool(answers=1)
    number = pool.hold(parse("/a"))
    found = [pool.match(body).tolist() for body in (b"<a/>", b"<b/>", b"<a/>", b"<a/>")]
    assert found == [[number], [], [number], [number]]


def test_an_unreadable_document_is_an_error_each_time() -> None:
    """The error is raised whether or not it is cached."""
    for pool in (Pool(), Pool(answers=2)):
        for _ in range(2):
            with pytest.raises(DocumentError):
                pool.match(b"<a>")


def test_overlap_is_that_of_the_advertisement_of_today() -> None:
    """A cached overlap is not used for a new advertisement with an old id."""
    pool = Pool()
    number = pool.hold(parse("/a/b"))
    assert pool.overlaps(advertisement_of("x", [parse_path_expression("/a/b")]), number)
    assert not pool.overlaps(advertisement_of("x", [parse_path_expression("/a/c")]), number)


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_pool_agrees_with_matching_one_by_one(random: Random) -> None:
    """This holds after any sequence of ``hold`` and ``release``."""
    pool = Pool(answers=random.choice([0, 2]))
    held: list[int] = []
    for _ in range(random.choice([30, 150])):
        if held and random.randint(0, 2) == 0:
            pool.release(held.pop(random.randrange(len(held))))
        else:
            held.append(pool.hold(subscription(random)))
        if random.randint(0, 3) == 0:
            body = any_document(random)
            document = read(body)
            found = pool.match(body).tolist()
            assert len(found) == len(set(found))
            assert set(found) == {n for n in held if matches(pool.pattern(n), document)}
