"""The compiled scanner: stops, what it notes between them, and bytes that are no document."""

from __future__ import annotations

from random import Random
from xml.parsers import expat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fragmenting.documents import hard_document
from twigcast.document import PathNumbers, TagScanner, line_breaks
from twigcast.errors import DocumentError
from twigcast.fragmenting import Spans, assemble, fragment

BODY = b'<a xmlns:p="u"><p:b><c/>x</p:b><c d="1"><e/></c></a>'


def test_a_stop_says_what_came_since_the_last() -> None:
    """Offset, elements, closed and open elements, roots, label paths."""
    paths = PathNumbers()
    scanner = TagScanner(elements=2, roots=True, paths=paths)
    assert scanner.scan(BODY, 0, True) == [
        (20, 2, 0, [(1, b"a", b' xmlns:p="u"'), (2, b"p:b", b"")], [(b"a", 0, 1, 1)], [1, 2], []),
        (40, 4, 1, [(4, b"c", b"")], [(b"c", 2, 1, 0), (b"c", 1, 1, 0)], [3, 4], []),
        (len(BODY), 5, 2, [], [(b"e", 2, 1, 0)], [5], []),
    ]
    assert scanner.fault == 0
    assert [paths[number] for number in range(1, len(paths) + 1)] == [
        (0, b"a", b' xmlns:p="u"'),
        (1, b"p:b", b""),
        (2, b"c", b""),
        (1, b"c", b""),
        (4, b"e", b""),
    ]
    with pytest.raises(IndexError):
        paths[6]
    with pytest.raises(ValueError, match="path"):
        TagScanner(paths=paths, path=9)


def test_runs_of_subtrees() -> None:
    """At a separator: depth, byte range, first and last element of each run that is taken."""
    scanner = TagScanner(numbers=[5], subtrees=True)
    (stop, _) = scanner.scan(BODY, 0, True)
    assert stop[6] == [(1, 15, 31, 2, 4)]


def test_content_without_a_root() -> None:
    """Any number of elements and text between them."""
    scanner = TagScanner(content=True, roots=True)
    (stop,) = scanner.scan(b"x<a/>y<b><c/></b><![CDATA[<]]>", 0, True)
    assert stop[4] == [(b"a", 0, 1, 0), (b"b", 0, 1, 1)]
    scanner = TagScanner(content=True)
    scanner.scan(b"<a><b x='", 0, False)
    assert [name for _, name, _ in scanner.open()] == [b"a"]
    assert scanner.at == 3


def test_a_scan_continues_where_it_was() -> None:
    """Bytes that were passed need not be given again; others are refused."""
    scanner = TagScanner(elements=1)
    assert scanner.scan(BODY[:30], 0, False)
    at = scanner.at
    with pytest.raises(ValueError, match="elsewhere"):
        scanner.scan(BODY, at + 1, True)
    assert scanner.scan(BODY[at:], at, True)[-1][0] == len(BODY)


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 255 * 16, 70_000])
def test_line_breaks_are_counted(size: int) -> None:
    """At any length."""
    data = bytes(Random(size).choices(b"\na", k=size))
    assert line_breaks(data) == data.count(b"\n")


@given(st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_altered_documents_are_cut_right_or_refused(random: Random) -> None:
    """Where expat accepts the bytes, so does the cutter; what it accepts, it puts together again."""
    body = bytearray(hard_document(random))
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(body))
        size = random.choice([0, 1, 1, 3])
        body[at : at + size] = random.choice(
            [b"", b"<", b">", b"/", b"'", b'"', b"-", b"]]>", b"\0", b"<a>", b"?"]
        )
    altered = bytes(body)
    try:
        parts = list(fragment(altered, cut=Spans(elements=random.randint(1, 3)), header="prefix+paths"))
    except DocumentError:
        with pytest.raises((expat.ExpatError, LookupError, ValueError)):
            expat.ParserCreate().Parse(altered, True)
    else:
        assert assemble(parts) == altered
