"""Tests of cut points: where they are, and pieces against the definition on the tree."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.document.projection.documents import decided, generated, read_piece
from tests.oracles.naive_projection import joined_parts, project
from tests.oracles.path_decisions import PathDecisions
from twigcast.document import Document, DocumentPiece, Element, Keep, cut_points, elements, read

SMALL = b"<?xml version='1.0'?><!-- <x> --><a x='>'><b><c/>t</b><!-- <b> --><b>u</b><b/></a><!-- end -->"


def test_a_cut_is_before_a_start_tag_where_few_elements_are_open() -> None:
    """Open start tags by byte range; end tags for what is open at the end."""
    root, first, second, third = (SMALL.index(each) for each in (b"<a", b"<b><c", b"<b>u", b"<b/>"))
    tag = (root, first)
    assert cut_points(SMALL, 1, 2) == [
        DocumentPiece(0, 0, first, False, root, (), b"</a>"),
        DocumentPiece(1, first, second, False, root, (tag,), b"</a>"),
        DocumentPiece(2, second, third, False, root, (tag,), b"</a>"),
        DocumentPiece(3, third, len(SMALL), True, root, (tag,)),
    ]
    assert len(cut_points(SMALL, 1, 3)) == 5
    assert [piece.start for piece in cut_points(SMALL, second, 3)] == [0, second]


def test_the_blocks_of_a_piece_are_a_beginning_of_a_document(tmp_path: Path) -> None:
    """The prolog, the open tags, the bytes of the piece; the same from a file."""
    file = tmp_path / "small.xml"
    file.write_bytes(SMALL)
    pieces = cut_points(file, 1, 2)
    assert pieces == cut_points(SMALL, 1, 2)
    assert pickle.loads(pickle.dumps(pieces)) == pieces
    expected = b"<?xml version='1.0'?><!-- <x> --><a x='>'><b>u</b>"
    assert b"".join(pieces[2].blocks(file, 3)) == b"".join(pieces[2].blocks(SMALL)) == expected
    assert b"".join(pieces[0].blocks(file)) == SMALL[: pieces[0].end]


@pytest.mark.parametrize(
    "body",
    [
        SMALL.decode().encode("utf-16"),
        b"",
        b"<a><b></a>",
        b"<!DOCTYPE a [",
        "<?xml version='1.0' encoding='cp500'?><a><b/><b/></a>".encode("cp500"),
        b"<?xml version='1.0' encoding='none'?><a><b/><b/></a>",
    ],
    ids=["utf-16", "empty", "mismatched", "prolog", "ebcdic", "unknown"],
)
def test_what_cannot_be_scanned_is_one_piece(body: bytes, tmp_path: Path) -> None:
    """Such a document is read in a single pass, which says what is wrong with it."""
    assert cut_points(body, 1) == [DocumentPiece(0, 0, len(body))]
    file = tmp_path / "document.xml"
    file.write_bytes(body)
    assert cut_points(file, 1) == [DocumentPiece(0, 0, len(body))]


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from([1, 2, 7, 1 << 20]),
    st.sampled_from(["utf-8", "ISO-8859-1"]),
    st.sampled_from([1, 100]),
    st.sampled_from([1, 1, 50, 300]),
    st.integers(2, 6),
)
def test_pieces_write_what_the_definition_says(
    seed: int, step: int, encoding: str, part: int, size: int, depth: int
) -> None:
    """The same bytes and source maps, for any cuts, blocks and encoding, with entities and namespaces."""
    body = generated(random.Random(seed), encoding=encoding)
    divided = [False, True, False]
    pieces = cut_points(body, size, depth)
    document, decisions = read(body), decided(seed, divided)
    cuts = [piece.start for piece in pieces[1:]]
    is_cut = is_record_cut(document, decisions, 1, cuts)
    found = []
    for piece in pieces:
        parts, error = read_piece(body, piece, decided(seed, divided), divided, part, step)
        assert error is None or (is_cut and error.code == "cut-in-record")
        if error is not None:
            return
        found.append(parts)
    assert not is_cut
    expected = project(document, decisions, divided, part, cuts)
    for output, is_divided in enumerate(divided):
        parts = [each for one in found for each in one[output]]
        assert (parts if is_divided else [joined_parts(parts)]) == expected[output]


def is_record_cut(document: Document, decisions: PathDecisions, output: int, cuts: list[int]) -> bool:
    """Whether a cut is in a subtree that the output keeps as a whole."""

    def within(element: Element, state: int) -> bool:
        keep = decisions.keeps(state)[output]
        if keep is Keep.TREE:
            return any(element.start < cut < element.end for cut in cuts)
        return any(
            within(child, decisions.step(state, child.namespace, child.local)) for child in elements(element)
        )

    root = document.root
    return within(root, decisions.step(decisions.start, root.namespace, root.local))


def test_a_piece_that_ends_at_another_depth_is_an_error() -> None:
    """The parser checks what the scan found; so does the size of what was read."""
    decisions = PathDecisions(lambda path: [Keep.ABOVE])
    first, second, *_ = cut_points(SMALL, 1, 2)
    for wrong in (
        DocumentPiece(0, 0, first.end, False, first.prolog, (), b"</a></a>"),
        DocumentPiece(0, 0, first.end + 3, False, first.prolog, (), b"</a>"),
        DocumentPiece(1, second.start, second.end - 1, False, second.prolog, second.open_tags, b"</a>"),
        DocumentPiece(1, second.start, len(SMALL), True, second.prolog, ()),
    ):
        _, error = read_piece(SMALL, wrong, decisions, [False], 1, 1 << 20)
        assert error is not None


def test_a_file_that_became_shorter_is_an_error() -> None:
    """A piece must have all its bytes."""
    decisions = PathDecisions(lambda path: [Keep.ABOVE])
    piece = cut_points(SMALL, 1, 2)[1]
    _, error = read_piece(SMALL[: piece.end - 12], piece, decisions, [False], 1, 1 << 20)
    assert error is not None
