"""Bindings of prefixes as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twigcast.pattern import Subscription
from twigcast.subscriptions.bindings import (
    check_binding,
    completed,
    looks_like_binding,
    read_bindings,
    used_bindings,
    written_bindings,
)


def test_bindings_are_read_as_they_are_written() -> None:
    """Also the empty prefix, and a URI with an equals sign."""
    bound = {"": "urn:d", "a": "http://example.org/?a=b", "é-1": "relative"}
    assert read_bindings(written_bindings(bound)) == bound


@pytest.mark.parametrize(
    ("prefix", "uri"),
    [
        ("a b", "u"),
        ("a:b", "u"),
        ("1", "u"),
        ("a", ""),
        ("a", "u v"),
        ("a", "{u}"),
        ("a", "\0"),
        ("xmlns", "u"),
    ],
)
def test_what_cannot_be_bound_is_refused(prefix: str, uri: str) -> None:
    """No expression could use it, or no line of text could have it."""
    with pytest.raises(ValueError, match=r"expected|has the character|reserved"):
        check_binding(prefix, uri)


def test_xml_may_be_bound_to_its_own_namespace() -> None:
    """As in a document."""
    check_binding("xml", "http://www.w3.org/XML/1998/namespace")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=urn:a", True),
        ("=urn:a", True),
        ("a=b", False),
        ("a b=urn:a", False),
        ("1=urn:a", False),
        ("", False),
    ],
)
def test_a_binding_has_a_prefix_and_a_scheme(text: str, expected: bool) -> None:
    """So that most names with an equals sign are not bindings."""
    assert looks_like_binding(text) is expected


def test_an_expression_uses_the_prefixes_before_its_colons() -> None:
    """And the empty prefix always, since any name may be one without a prefix."""
    bound = {"": "urn:d", "a": "urn:a", "b": "urn:b", "c": "urn:c"}
    assert used_bindings("//a:x[5-b:y]", bound) == {"": "urn:d", "a": "urn:a", "b": "urn:b"}
    assert used_bindings("//x", {"a": "urn:a"}) == {}


def test_a_subscription_is_completed_only_if_it_must_be() -> None:
    """Its own bindings stay, and without a need it is the same value."""
    own = Subscription("a", "//x:a[y:b]", namespaces={"x": "urn:own"})
    bound = {"x": "urn:x", "y": "urn:y", "z": "urn:z"}
    assert completed(own, bound) == replace(own, namespaces={"x": "urn:own", "y": "urn:y"})
    assert completed(own, {"x": "urn:x"}) is own
    assert completed(own, {}) is own
