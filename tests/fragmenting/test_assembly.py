"""Fragments that do not make a document are refused with the code of what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twigcast.errors import FragmentError
from twigcast.fragmenting import Fragment, Spans, Subtrees, assemble, fragment
from twigcast.fragmenting.assembly import holes_of
from twigcast.fragmenting.fragments import Hole, node_id

BODY = b"<a><b><c/></b><d/><e><f/></e></a>"


@pytest.fixture(params=[Spans(elements=2), Subtrees(2)], ids=str)
def parts(request: pytest.FixtureRequest) -> list[Fragment]:
    return list(fragment(BODY, doc_id="d", cut=request.param))


def changed(part: Fragment, **header: object) -> Fragment:
    """The fragment with other fields in its header."""
    return Fragment(replace(part.header, **header), part.body)  # type: ignore[arg-type]


def refused(*parts: Fragment) -> FragmentError:
    with pytest.raises(FragmentError) as failed:
        assemble(parts)
    return failed.value


def test_order_and_duplicates_do_not_matter(parts: list[Fragment]) -> None:
    """The document is the same, byte for byte."""
    assert assemble([*reversed(parts), parts[0]]) == BODY


def test_what_is_missing_is_named(parts: list[Fragment]) -> None:
    """The numbers are data; without the last fragment nobody knows how many there are."""
    assert len(parts) == 3
    error = refused(parts[0], parts[2])
    assert (error.code, error.doc_id, error.missing) == ("fragments-missing", "d", (range(2, 3),))
    error = refused(parts[0])
    assert (error.code, error.missing) == ("fragments-missing", ())
    assert "after 1" in error.message
    error = refused(parts[1])
    assert error.missing == (range(1, 2),)
    assert refused().code == "fragments-missing"


def test_two_fragments_of_one_number_that_differ(parts: list[Fragment]) -> None:
    """Neither is believed."""
    other = Fragment(parts[1].header, parts[1].body.replace(b"d", b"x").replace(b"e", b"x"))
    error = refused(*parts, other)
    assert (error.code, error.number) == ("fragment-conflict", 2)


def test_two_runs_for_one_hole(parts: list[Fragment]) -> None:
    """They overlap."""
    runs = tuple(replace(run, fills=parts[0].runs[0].fills) for run in parts[1].runs)
    assert refused(parts[0], changed(parts[1], runs=runs), parts[2]).code == "fragments-overlap"


def test_headers_that_contradict_each_other(parts: list[Fragment]) -> None:
    """A run without a hole, a hole without a run, two last fragments, two documents."""
    filler = next(part for part in parts if part.runs[0].fills is not None)
    runs = (replace(filler.runs[0], fills=node_id(9, 9)), *filler.runs[1:])
    others = [part for part in parts if part is not filler]
    assert refused(*others, changed(filler, runs=runs)).code == "fragment-inconsistent"
    holed = next(part for part in parts if part.holes)
    others = [part for part in parts if part is not holed]
    more = changed(holed, holes=(*holed.holes, Hole(node_id(holed.number, 9), len(holed.body), 0)))
    assert refused(*others, more).code == "fragment-inconsistent"
    assert refused(changed(parts[0], is_last=True), *parts[1:]).code == "fragment-inconsistent"
    assert refused(parts[0], changed(parts[1], doc_id="x")).code == "fragment-inconsistent"


def test_many_spans_are_assembled() -> None:
    """A chain of spans takes no recursion."""
    body = b"<a>" + b"<b/>" * 5000 + b"</a>"
    parts = list(fragment(body, cut=Spans(elements=1)))
    assert len(parts) == 5001
    assert assemble(parts) == body


def test_holes_of_a_run() -> None:
    """A hole belongs to the run around it."""
    parts = list(fragment(b"<r><a><x/><y/></a><b/><c><d/></c></r>", cut=Subtrees(2)))
    for part in parts:
        held = [hole for run in part.runs for hole in holes_of(part, run)]
        assert tuple(held) == part.holes
