"""The examples of the thesis, and the values that fragments are made of."""

from __future__ import annotations

import pickle
import re

import pytest

from twigcast.fragmenting import (
    Cuts,
    Fragment,
    Spans,
    Subtrees,
    assemble,
    fragment,
    fragment_number,
    number_in_fragment,
)
from twigcast.fragmenting.fragments import DOCUMENT_NODE, node_id

# The document and the cuts behind Fig. 5.3 and 5.4; separators are the second e, m, s, the second c, u and n.
THESIS = (
    b"<a><b><f><p><i/></p></f><e><p/></e><e><x/><g/></e></b>"
    b"<m><c><k><y/></k><s><y/></s></c><c><k><y/></k><u><v/></u></c><n/></m></a>"
)
SEPARATORS = Cuts((8, 11, 15, 17, 20, 22))


@pytest.fixture(scope="module")
def parts() -> list[Fragment]:
    return list(fragment(THESIS, doc_id="d", cut=SEPARATORS))


def test_the_separators_are_those_of_the_thesis() -> None:
    """Elements are numbered in document order from 1."""
    names = re.findall(rb"<(\w)", THESIS)
    assert [names[number - 1] for number in SEPARATORS.nodes] == [b"e", b"m", b"s", b"c", b"u", b"n"]


def test_the_fragments_of_the_thesis(parts: list[Fragment]) -> None:
    """Ex. 5.3: seven fragments; f1 is one run of two subtrees, f and e; b is split between f1 and f2."""
    assert [part.body for part in parts] == [
        b"<f><p><i/></p></f><e><p/></e>",
        b"<b><e><x/><g/></e></b>",
        b"<k><y/></k>",
        b"<c><s><y/></s></c>",
        b"<k><y/></k>",
        b"<c><u><v/></u></c>",
        b"<a><m><n/></m></a>",
    ]
    assert [len(part.runs) for part in parts] == [1] * 7
    assert [(root.name, root.count) for root in parts[0].runs[0].roots] == [("f", 1), ("e", 1)]


def test_the_headers_of_the_thesis(parts: list[Fragment]) -> None:
    """Fig. 5.3, every cell: the parent's id, the path, the height."""
    table = [
        (part.number, (fragment_number(row.parent), number_in_fragment(row.parent)), row.path, row.height)
        for part in parts
        for row in part.header.rows()
    ]
    assert [
        (number, parent, "/" + "/".join(path or ()), height) for number, parent, path, height in table
    ] == [
        (1, (2, 1), "/a/b/f", 2),
        (1, (2, 1), "/a/b/e", 1),
        (2, (7, 1), "/a/b", 2),
        (3, (4, 1), "/a/m/c/k", 1),
        (4, (7, 2), "/a/m/c", 2),
        (5, (6, 1), "/a/m/c/k", 1),
        (6, (7, 2), "/a/m/c", 2),
        (7, (0, 0), "/a", 2),
    ]


def test_heights_are_those_of_the_thesis() -> None:
    """Ex. 5.2: a in the whole document has the height 4."""
    (whole,) = fragment(THESIS, cut=Subtrees(100))
    assert [root.height for root in whole.runs[0].roots] == [4]


@pytest.mark.parametrize("cut", [SEPARATORS, Subtrees(1), Subtrees(4), Spans(elements=3), Spans(elements=1)])
def test_each_element_is_in_one_fragment_and_none_is_lost(cut: Cuts) -> None:
    """P1 and P3: the start tags of the fragments are those of the document."""
    parts = list(fragment(THESIS, cut=cut))
    assert sum(part.elements for part in parts) == 22
    assert sum(part.body.count(b"<") - part.body.count(b"</") for part in parts) == 22
    assert sum(root.count for part in parts for run in part.runs for root in run.roots) >= len(parts)
    assert assemble(parts) == THESIS


def test_two_places_under_one_parent_have_two_headers() -> None:
    """Trap 1: where among its parent's children a run belongs is in the hole."""
    bodies = (b"<a>x<b/>y<c/></a>", b"<a>xy<b/><c/></a>")
    cut = [list(fragment(body, cut=Cuts((3,)))) for body in bodies]
    assert [part.body for part in cut[0]] == [part.body for part in cut[1]] == [b"<b/>", b"<a>xy<c/></a>"]
    assert [assemble(parts) for parts in cut] == list(bodies)
    assert cut[0][1].holes != cut[1][1].holes


def test_ids_are_no_positions(parts: list[Fragment]) -> None:
    """Trap 2: the runs below two elements of one name and path have different parents and holes."""
    third, fifth = parts[2].runs[0], parts[4].runs[0]
    assert third.path == fifth.path
    assert third.parent != fifth.parent
    assert third.fills != fifth.fills
    assert parts[6].holes[1].offset == parts[6].holes[2].offset


def test_fragments_may_depend_on_each_other_in_circles() -> None:
    """Trap 3: runs form a tree even where fragments do not; the second and the third are below each other."""
    body = b"<r><a><b><c/><d/></b><e/></a><f/></r>"
    parts = list(fragment(body, cut=Spans(elements=2)))
    assert assemble(reversed(parts)) == body
    several = list(fragment(b"<r><a/><b><c/><d><e/><f/></d></b></r>", cut=Cuts((7,))))
    assert [len(part.runs) for part in several] == [3, 1]
    assert [run.parent for run in several[0].runs] == [node_id(2, 1), node_id(2, 2), node_id(2, 3)]
    assert [run.first for run in several[0].runs] == [0, 1, 2]


def test_no_document_contains_a_hole() -> None:
    """Trap 28: holes are offsets, so bytes that look like a mark mean nothing; line breaks stay."""
    body = "<a>⟦1⟧\r<b/>\r\n<?hole 1?><c/>\r</a>".encode()
    for cut in (Spans(elements=1), Subtrees(1), Cuts((2, 3))):
        assert assemble(fragment(body, cut=cut)) == body


def test_the_ends_of_a_document() -> None:
    """The first span has the opening, the last one the end; of subtrees, the last fragment has both."""
    first, middle, last = fragment(b"<a><b/><c/></a>\n", cut=Spans(elements=1))
    assert [part.starts_document for part in (first, middle, last)] == [True, False, False]
    assert [part.ends_document for part in (first, middle, last)] == [False, False, True]
    assert [part.is_last for part in (first, middle, last)] == [False, False, True]
    assert [part.is_span for part in (first, middle, last)] == [True, True, True]
    assert middle.end_hole == middle.holes[-1]
    one, two = fragment(b"<a><b/><c/></a>\n", cut=Subtrees(2))
    assert [part.starts_document and part.ends_document for part in (one, two)] == [False, True]
    assert not one.is_span
    assert not two.is_span


def test_ids() -> None:
    """A fragment's number and an element's number make one integer; 0 is the document."""
    id = node_id(7, 2)
    assert (fragment_number(id), number_in_fragment(id)) == (7, 2)
    assert node_id(0, 0) == DOCUMENT_NODE
    assert id < 1 << 63


def test_fragments_are_values(parts: list[Fragment]) -> None:
    """They can be compared, hashed, sent to another process; the digest is part of that."""
    again = list(fragment(THESIS, doc_id="d", cut=SEPARATORS))
    assert again == parts
    assert pickle.loads(pickle.dumps(parts)) == parts
    assert len({part.digest for part in [*parts, *again]}) == 7
    assert len({*parts, *again}) == 7
