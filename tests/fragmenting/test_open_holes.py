"""Producers make fragments of a document that none of them has."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.fragmenting.documents import all_cuts, hard_documents
from twigcast.errors import DocumentError
from twigcast.fragmenting import CutRule, assemble, decode, encode, fragment, fragment_number, outline
from twigcast.fragmenting.open_holes import elements_at_holes

OUTLINE = b'<log xmlns:s="u"><s:site id="a"></s:site><s:site id="b"></s:site></log>'
HOLES = [OUTLINE.index(b"</s:site>"), OUTLINE.rindex(b"</s:site>")]


def test_parts_below_an_outline() -> None:
    """Each producer has the hole that it fills; one leaves a hole for the next."""
    first, (a, b) = outline(OUTLINE, HOLES, doc_id="log")
    assert [element.name for element in b.context] == ["log", "s:site"]
    second, (rest,) = a.fill(b"<v>1</v>", number=2, holes=[8])
    third, _ = rest.fill(b"<v>2</v> <v>3</v>", number=3)
    fourth, _ = b.fill(b"x<w><v/></w>", number=4, is_last=True)
    parts = [fourth, third, first, second]
    assert assemble(parts) == (
        b'<log xmlns:s="u"><s:site id="a"><v>1</v><v>2</v> <v>3</v></s:site>'
        b'<s:site id="b">x<w><v/></w></s:site></log>'
    )
    assert [decode(encode(part)) for part in parts] == parts
    assert fourth.runs[0].namespaces == {"s": "u"}
    assert [(row.path, row.count, row.height) for row in third.header.rows()] == [
        (("log", "s:site", "v"), 2, 0)
    ]
    places = [part.runs[0].place for part in (first, second, third, fourth)]
    assert places == sorted(places)
    assert second.runs[0].place + 8 <= third.runs[0].place < first.holes[0].place < fourth.runs[0].place


def test_a_hole_within_a_part() -> None:
    """A part may have holes of its own, with the path down to them."""
    first, (top,) = outline(b"<a></a>", [3], doc_id="d")
    second, (inner,) = top.fill(b"<b><c/></b>", number=2, holes=[7])
    assert [element.name for element in inner.context] == ["a", "b"]
    assert [fragment_number(element.id) for element in inner.context] == [1, 2]
    third, _ = inner.fill(b"<d/>", number=3, is_last=True)
    assert assemble([first, second, third]) == b"<a><b><c/><d/></b></a>"


def test_what_does_not_fit_is_refused() -> None:
    """Tags that do not match, holes outside of the body."""
    _, (hole, _) = outline(OUTLINE, HOLES, doc_id="log")
    with pytest.raises(DocumentError):
        hole.fill(b"<v>", number=2)
    with pytest.raises(DocumentError):
        hole.fill(b"</v>", number=2)
    with pytest.raises(ValueError, match="offsets"):
        hole.fill(b"<v/>", number=2, holes=[9])
    with pytest.raises(DocumentError):
        outline(b"<a>", [], doc_id="d")
    with pytest.raises(ValueError, match="UTF-8"):
        outline("<a/>".encode("utf-16"), [], doc_id="d")


@given(hard_documents(), all_cuts())
@settings(max_examples=100, deadline=None)
def test_the_elements_at_holes_are_those_of_the_contexts(body: bytes, cut: CutRule) -> None:
    """The names that headers of the kind ``edge`` do not say follow from the bodies around."""
    parts = list(fragment(body, cut=cut))
    contexts = {run.fills: run.context or () for part in parts for run in part.runs}
    for part in parts:
        for run in part.runs:
            kept = (run.context or ())[: run.depth - run.closes]
            for id, inner in elements_at_holes(part).items():
                if len(part.runs) == 1:
                    assert kept + inner == contexts[id]
                else:
                    assert contexts[id][len(contexts[id]) - len(inner) :] == inner
