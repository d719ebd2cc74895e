"""Names and paths as text."""

from __future__ import annotations

import pytest

from twigcast.errors import MappingError
from twigcast.rewriting import shown_path
from twigcast.rewriting.labels import PathStep, QName, is_made, parent_key, parse_label, parse_path

UBL = "urn:oasis:names/ubl"


def test_a_path_is_read_step_by_step() -> None:
    """Steps are elements, and the last one may be an attribute."""
    assert parse_path("catalogue/course/@nr") == (
        PathStep(QName("", "catalogue"), False),
        PathStep(QName("", "course"), False),
        PathStep(QName("", "nr"), True),
    )


def test_a_namespace_may_contain_slashes() -> None:
    """A slash between braces does not end a step."""
    text = f"Q{{{UBL}}}Invoice/Q{{{UBL}}}ID"
    assert [step.label for step in parse_path(text)] == [QName(UBL, "Invoice"), QName(UBL, "ID")]
    assert parent_key(text) == (f"Q{{{UBL}}}Invoice", f"Q{{{UBL}}}ID")


def test_text_and_path_are_inverse() -> None:
    """The text of a path is read as the same path."""
    text = "a/Q{urn:p}é/@Q{urn:p}x-1.2"
    assert "/".join(map(str, parse_path(text))) == text


def test_prefixes_are_resolved() -> None:
    """A prefix stands for its namespace; the empty prefix for that of elements, not of attributes."""
    bound = {"cbc": "urn:cbc", "": "urn:d"}
    assert [str(step) for step in parse_path("Invoice/cbc:ID/@scheme", bound)] == [
        "Q{urn:d}Invoice",
        "Q{urn:cbc}ID",
        "@scheme",
    ]


@pytest.mark.parametrize("text", ["", "a//b", "/a", "a/", "@a/b", "a b", "1a", "a/@", "Q{u}", "a:b:c", "*"])
def test_what_is_not_a_path_is_refused(text: str) -> None:
    """The error says what a path looks like."""
    with pytest.raises(MappingError, match=r"catalogue/course/@nr|prefix") as caught:
        parse_path(text)
    assert caught.value.code == "place"


def test_an_undeclared_prefix_is_named() -> None:
    """The error names the prefix and those that are declared."""
    with pytest.raises(MappingError, match="prefix 'x' in 'x:a' is not declared; declared are: p"):
        parse_path("x:a", {"p": "urn:p"})


@pytest.mark.parametrize("text", ["a/b", "@a"])
def test_a_label_is_one_element(text: str) -> None:
    """A path or an attribute is no label."""
    with pytest.raises(MappingError, match="is not the name of an element"):
        parse_label(text)


def test_keys_of_made_nodes_are_recognised() -> None:
    """Also those below a made node."""
    assert is_made("cmu/Course/+schedule")
    assert is_made("cmu/+x/+y.2")
    assert not is_made("cmu/Course/@nr")


def test_paths_are_shown_with_prefixes() -> None:
    """A namespace without a prefix stays as it is."""
    assert shown_path("Q{urn:p}a/Q{urn:q}b/c", {"urn:p": "p"}) == "p:a/Q{urn:q}b/c"
