"""Pools of values."""

from __future__ import annotations

from collections import Counter

from twigcast.schema import AttributeDeclaration, AttributeKind, ElementDeclaration, Presence
from twigcast.workload.vocabulary import attribute_pool, element_pool, text_pool, zipf_pool, zipf_weights


def test_no_skew_is_uniform() -> None:
    """With skew 0 all ranks weigh the same."""
    assert zipf_weights(3, 0.0) == [1.0, 2.0, 3.0]


def test_pools_hold_values_by_rank() -> None:
    """Earlier values stand in a pool more often, with skew 1 in proportion to 1, 1/2, 1/3."""
    assert Counter(zipf_pool(("a", "b", "c"), 1.0, 110)) == {"a": 60, "b": 30, "c": 20}


def test_every_value_has_a_place() -> None:
    """However rare, each value stands in its pool."""
    values = tuple(str(number) for number in range(1000))
    assert set(zipf_pool(values, 2.0)) == set(values)


def test_text_has_words_and_numbers() -> None:
    """Among the words are numbers, some of them frequent."""
    counts = Counter(word.isdigit() for word in text_pool())
    assert 0.03 < counts[True] / counts.total() < 0.3


def test_attributes_of_an_enumeration_have_its_values() -> None:
    """An enumeration is drawn from its values, a fixed attribute has only the one."""
    assert set(attribute_pool(AttributeDeclaration("x", AttributeKind.ENUMERATION, values=("a", "b")))) == {
        "a",
        "b",
    }
    assert attribute_pool(AttributeDeclaration("x", presence=Presence.FIXED, default="1")) == ("1",)


def test_free_attributes_are_small_numbers_or_words() -> None:
    """A CDATA attribute is mostly a number from 0 to 20, and sometimes a word."""
    pool = attribute_pool(AttributeDeclaration("x"))
    numbers = [int(value) for value in pool if value.isdigit()]
    assert set(numbers) == set(range(21))
    assert 0.5 < len(numbers) / len(pool) < 1.0


def test_elements_with_examples_have_no_other_texts() -> None:
    """Where examples of an element's text are known, they are its pool."""
    assert set(element_pool(ElementDeclaration("a", values=("x", "y")))) == {"x", "y"}
