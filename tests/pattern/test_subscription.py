"""A subscription is one value, whose text is parsed once."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from twigcast.errors import PatternError, SubscriptionError
from twigcast.filtering import Index
from twigcast.pattern import Subscription, as_subscription, given_subscriptions, parse, subscription


def test_the_id_is_the_subscriber_where_none_is_named() -> None:
    """A subscription without a subscriber is its own."""
    assert Subscription("ada", "//p").subscriber == "ada"
    assert Subscription(7, "//p").subscriber == "7"
    assert Subscription("ada", "//p", "desk").subscriber == "desk"


def test_the_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pattern is parsed when it is first asked for, and kept."""
    texts: list[str] = []
    monkeypatch.setattr(subscription, "parse", lambda text, names: texts.append(text) or parse(text, names))
    asked = Subscription("ada", "//x:p", namespaces={"x": "u"})
    assert (texts, asked.is_parsed) == ([], False)
    assert asked.pattern is asked.pattern
    assert asked.pattern == parse("//Q{u}p")
    assert (texts, asked.is_parsed) == (["//x:p"], True)


def test_what_is_outside_the_language_is_an_error_when_the_pattern_is_asked_for() -> None:
    """A bad text can be carried to whoever reports it."""
    with pytest.raises(PatternError):
        _ = Subscription("ada", "//p[").pattern


def test_subscriptions_are_values() -> None:
    """They compare by what was written, whether or not it was parsed, and can be pickled."""
    one, other = Subscription("ada", "//p"), Subscription("ada", "//p")
    assert one.pattern
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert Subscription("ada", "//p", deliver="part") != one


def test_what_is_delivered_is_a_document_or_a_part() -> None:
    """Any other word is refused."""
    with pytest.raises(ValueError, match="expected deliver to be document or part, got 'all'"):
        Subscription("ada", "//p", deliver="all")  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", ["a\0", "\ud800", "a\x1bb"])
def test_names_with_characters_that_xml_does_not_allow_are_refused(bad: str) -> None:
    """The id and the subscriber, at once; the message says where."""
    for fields in ((bad, "//a"), ("a", "//a", bad)):
        with pytest.raises(SubscriptionError, match="at position") as error:
            Subscription(*fields)  # type: ignore[arg-type]
        assert error.value.code == "character"
    assert Subscription(("a", bad), "//a").id == ("a", bad)


def test_such_a_character_in_the_text_is_an_error_of_the_pattern() -> None:
    """The value can be carried to whoever reports it."""
    given = Subscription("a", "//a[b='\0']")
    with pytest.raises(PatternError, match=r"U\+0000"):
        _ = given.pattern


def test_an_id_that_cannot_be_printed_is_refused() -> None:
    """Python does not print integers of more than some thousand digits."""
    with pytest.raises(SubscriptionError, match="cannot be printed") as error:
        Subscription(10**5000, "//a")
    assert error.value.code == "unsavable-id"


def test_an_unchecked_subscription_is_checked_by_an_index() -> None:
    """A row of a table that others write may be anything; it is refused alone."""
    rows = [
        Subscription.unchecked("a\0", "//a", "a", "document", {}),
        Subscription.unchecked("b", "//a", "b", "all", {}),  # type: ignore[arg-type]
        Subscription.unchecked("c", None, "c", "document", {}),  # type: ignore[arg-type]
        Subscription.unchecked("d", "//a", "d", "document", {"": None}),  # type: ignore[dict-item]
        Subscription.unchecked("e", "//a", "e", "document", {}),
    ]
    index = Index()
    refused = index.add_all(rows)
    assert [(each.id, each.error.code) for each in refused] == [
        ("a\0", "character"),
        ("b", "delivery"),
        ("c", "syntax"),
        ("d", "syntax"),
    ]
    assert index.ids == ["e"]


@pytest.mark.parametrize(
    "given",
    [
        {"ab": "//x", "cd": ("//p:y", {"p": "urn:p"})},
        [("ab", "//x"), ["cd", "//p:y", {"p": "urn:p"}]],
        iter([("ab", "//x", None), Subscription("cd", "//p:y", namespaces={"p": "urn:p"})]),
    ],
)
def test_subscriptions_may_be_given_as_a_mapping_or_as_rows(given: Any) -> None:
    """Ids are keys, also those of two characters."""
    found = [as_subscription(each) for each in given_subscriptions(given)]
    assert [(each.id, each.text) for each in found] == [("ab", "//x"), ("cd", "//p:y")]
    assert found[1].pattern == parse("//p:y", {"p": "urn:p"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("//x", "got str '//x'"),
        (b"//x", "got bytes"),
        (None, "got NoneType"),
        (Subscription("a", "//x"), "got Subscription"),
        (["//x", "//y"], "number 1 is str '//x'"),
        ([("a", "//x"), ("a",)], "number 2 is tuple"),
        ([("a", "//x", {}, 4)], "number 1 is tuple"),
        ([{"a": "//x"}], "number 1 is dict"),
        ([5], "number 1 is int"),
        ([("a", "//x", "urn:x")], "namespaces of subscription 'a'.* str 'urn:x'"),
    ],
)
def test_what_is_no_subscription_is_refused_with_a_sentence(given: Any, message: str) -> None:
    """Text is not taken apart into characters."""
    with pytest.raises(TypeError, match=message):
        given_subscriptions(given)
