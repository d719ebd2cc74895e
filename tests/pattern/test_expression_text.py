"""The text of general expressions: parentheses only where they are needed."""

from __future__ import annotations

import pytest

from twigcast.pattern import parse, render


@pytest.mark.parametrize(
    "text",
    [
        "(b + c) * d=e",
        "b + c * d=e",
        "b - (c - d)=e",
        "b - c - d=e",
        "-(b + c)=d",
        "b=c=d",
        "b=(c=d)",
        "b<c=d<e",
        "b<(c=d)",
        "b div c mod d=e",
        "b div (c mod d)=e",
        "(b | c)[position()=1]=d",
        "count(b | .//c)=count(d)",
        "following::b[position()=last()]/@*[.=c]=d",
        "b=processing-instruction('x')/..",
        "b=ancestor-or-self::node()[comment()]",
        """concat(b, "it's", '"')=c""",
        "sum(/b//c)=d",
        "b//descendant-or-self::node()/c=d",
    ],
)
def test_text_is_its_own(text: str) -> None:
    """Each operator, axis and node test, as it is written."""
    assert render(parse(f"/a[{text}]")) == f"/a[{text}]"
