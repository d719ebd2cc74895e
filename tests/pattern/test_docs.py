"""The page on the language: every example on it is so."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.pattern import PatternLimits, matches, parse, render

PAGE = (Path(__file__).parents[2] / "docs" / "patterns.md").read_text()
MAP = {"": "urn:d", "p": "urn:p"}


def rows(*header: str) -> list[tuple[str, ...]]:
    """The rows of all tables with these first columns, code without its marks."""
    found: list[tuple[str, ...]] = []
    table: list[str] | None = None
    for line in PAGE.splitlines():
        cells = [cell.strip().strip("`").replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            table = None
        elif table is None:
            table = cells
        elif tuple(table[: len(header)]) == header and not line.startswith("|---"):
            found.append(tuple(cells[: len(header)]))
    assert found
    return found


@pytest.mark.parametrize(("text", "yes", "no"), rows("subscription", "matches", "does not match"))
def test_examples_match_as_the_page_says(text: str, yes: str, no: str) -> None:
    """The first document matches, the second does not."""
    assert matches(parse(text), read(yes.encode()))
    assert not no or not matches(parse(text), read(no.encode()))


@pytest.mark.parametrize(("text", "canonical"), rows("subscription", "canonical text"))
def test_canonical_texts_are_as_the_page_says(text: str, canonical: str) -> None:
    """The subscription has this canonical text, which is its own."""
    assert render(parse(text)) == canonical
    assert render(parse(canonical)) == canonical


@pytest.mark.parametrize(("text", "canonical"), rows("subscription, with the map", "canonical text"))
def test_names_are_bound_as_the_page_says(text: str, canonical: str) -> None:
    """With the map of the page, the subscription has this canonical text."""
    assert render(parse(text, MAP)) == canonical


@pytest.mark.parametrize(("text", "code", "column"), rows("refused", "code", "column"))
def test_refusals_are_as_the_page_says(text: str, code: str, column: str) -> None:
    """The expression is refused with this code at this column."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.column) == (code, int(column))


def test_every_code_has_an_example() -> None:
    """Each code is explained, and shown unless it takes a page, or a character that cannot be shown."""
    explained = {code for code, _ in rows("code", "when")}
    assert explained == set(re.findall(r"``([a-z-]+)``", (PatternError.__doc__ or "").partition("Codes:")[2]))
    assert explained - {code for _, code, _ in rows("refused", "code", "column")} == {
        "too-complex",
        "character",
    }


def test_limits_are_as_the_page_says() -> None:
    """Each limit with its default."""
    defaults = {field.name: str(field.default) for field in fields(PatternLimits)}
    assert dict(rows("limit", "default")) == defaults  # type: ignore[arg-type]
