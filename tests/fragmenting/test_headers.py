"""What headers of each kind say, and what is read out of them."""

from __future__ import annotations

import pytest

from tests.oracles.reduced_headers import reduced
from twigcast.errors import FragmentError
from twigcast.fragmenting import Cuts, Spans, Subtrees, fragment, opening_of
from twigcast.fragmenting.headers import PathDictionary

BODY = (
    b'<r xmlns="u" xmlns:p="v"><p:a><b/></p:a>'
    b'<p:a xmlns:p="w" i="1"/><p:a xmlns:p="w" i="2"/><c xmlns=""/></r>'
)


def test_a_header_can_say_less_but_not_more() -> None:
    """Which kinds say what."""
    (full, *_) = fragment(BODY, cut=Subtrees(2), header="prefix+paths")
    edge = reduced(full, "edge")
    assert edge.runs[0].context is None
    assert edge.runs[0].roots == ()
    assert edge.runs[0].parent == full.runs[0].parent
    assert edge.header.rows()[0].path is None
    prefix = reduced(full, "prefix")
    assert [root.height for root in prefix.runs[0].roots] == [None]
    assert prefix.runs[0].context == full.runs[0].context
    level = reduced(full, "prefix+level")
    assert level.runs == full.runs
    assert level.paths is None
    with pytest.raises(FragmentError) as failed:
        reduced(edge, "prefix")
    assert failed.value.code == "fragment-header"


@pytest.mark.parametrize("cut", [Spans(elements=2), Subtrees(2), Cuts((4,))])
def test_label_paths_are_expanded(cut: Cuts) -> None:
    """The dictionary has one path for each expanded name; attributes of a tag make no difference."""
    parts = list(fragment(BODY, cut=cut, header="prefix+paths"))
    known = PathDictionary()
    numbers: set[int] = set()
    for part in parts:
        assert part.paths is not None
        known.add(part.paths)
        numbers |= part.paths.numbers
    r = ("u", "r")
    assert sorted(filter(None, map(known.expanded, numbers))) == [
        (r,),
        (r, ("", "c")),
        (r, ("v", "a")),
        (r, ("v", "a"), ("u", "b")),
        (r, ("w", "a")),
    ]
    assert PathDictionary().names(max(numbers)) is None
    assert sum(len(part.paths.entries) for part in parts if part.paths) == 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_a_long_opening_is_in_the_first_fragment(encoding: str) -> None:
    """Others name it by its digest."""
    doctype = f"<!DOCTYPE a [<!-- {'x' * 2000} -->]>"
    text = f'<?xml version="1.0" encoding="{encoding}"?>{doctype}<!-- y --><a><b/></a>'
    first, second = fragment(text.encode(encoding), cut=Spans(elements=1))
    assert second.opening.text is None
    opening = opening_of(first)
    assert opening.digest == second.opening.digest
    assert doctype.encode(encoding)[-20:] == (opening.text or b"")[-20:]
    with pytest.raises(FragmentError):
        opening_of(second)
    short, _ = fragment(b"<a><b/></a>", cut=Spans(elements=1))
    assert opening_of(short).text == b""
