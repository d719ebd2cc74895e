"""Documents in any buffer of bytes: the same answers, and a sentence for what is none."""

from __future__ import annotations

import io
import mmap
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from experiments.engines.filtering.one_by_one import OneByOne
from twigcast import DocumentError, Index, fragment
from twigcast.document import read
from twigcast.fragmenting import Cutter
from twigcast.pattern import parse


def mapped(body: bytes) -> mmap.mmap:
    """The bytes in memory that is mapped."""
    found = mmap.mmap(-1, len(body))
    found.write(body)
    return found


BUFFERS: dict[str, Callable[[bytes], Any]] = {
    "bytearray": bytearray,
    "memoryview": memoryview,
    "of signed bytes": lambda body: memoryview(body).cast("b"),
    "array": lambda body: array("B", body),
    "mmap": mapped,
    "numpy": lambda body: np.frombuffer(body, np.uint8),
    "arrow": pa.py_buffer,
}
GOOD, BAD = b"<a><b x='1'>t</b></a>", b"<a>\n<b>\xff</a>"


@pytest.fixture
def index() -> Index:
    return Index([("b", "//b"), ("first", "//b[1][@x]"), ("c", "//c")])


@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
def test_any_buffer_is_a_document(index: Index, make: Callable[[bytes], Any]) -> None:
    """All that takes a document takes it, and answers as for bytes."""
    given = make(GOOD)
    assert index.match(given).ids == ["b", "first"]
    assert index.count(given) == 2
    assert index.match_batch([given, None, GOOD]).ids(0) == ["b", "first"]
    assert index.select(given, "b") == index.select(GOOD, "b")
    assert list(index.parts(given, "b")) == list(index.parts(GOOD, "b"))
    assert str(index.explain(given, "c")) == str(index.explain(GOOD, "c"))
    structure = index.structure(given)
    assert structure == index.structure(GOOD)
    assert index.match_structure(make(structure)).ids == index.match_structure(structure).ids
    assert index.match_with_structure(given).structure == structure
    assert read(given).body == GOOD
    assert [each.body for each in fragment(given)] == [each.body for each in fragment(GOOD)]
    cutter = Cutter()
    assert [each.body for each in [*cutter.feed(given), *cutter.finish()]] == [GOOD]
    reference = OneByOne()
    reference.add("b", parse("//b"))
    assert reference.match(given).ids == ["b"]


@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
@pytest.mark.parametrize(
    "body", [BAD, b" ", b"<p:a/>", b"\xff\xfe<\x00", b"<?xml version='1.0' encoding='no'?><a/>"]
)
def test_a_malformed_document_in_any_buffer_has_its_error(
    index: Index, make: Callable[[bytes], Any], body: bytes
) -> None:
    """The same as for bytes, and the other documents of a batch are still matched."""
    expected = index.match(body).error
    assert expected is not None
    given = make(body)
    assert index.match(given).error == expected
    assert index.match_batch([given, GOOD]).errors == [expected, None]
    assert index.match_with_structure(given).error == expected
    for method in (index.count, index.structure, read):
        with pytest.raises(DocumentError) as caught:
            method(given)
        assert caught.value == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "got None"),
        ("<a/>", "got str: encode it"),
        (Path("a.xml"), "read_bytes"),
        (io.BytesIO(b"<a/>"), "read\\(\\)"),
        ([b"<a/>"], "match_batch takes several documents"),
        (7, "got int"),
        (memoryview(b"<a/> ")[::2], "gaps"),
        (np.zeros(3), "items of 8 bytes"),
    ],
)
def test_what_is_no_buffer_of_bytes_is_refused_with_a_sentence(
    index: Index, given: object, message: str
) -> None:
    """It says what was given and what to do."""
    structure: Any = index.match_structure
    take: Any
    for take in (index.match, index.count, index.structure, index.match_with_structure, structure, read):
        with pytest.raises(TypeError, match=f"expected the bytes of a document.*{message}"):
            take(given)
    for take in (index.select, index.parts, index.explain):
        with pytest.raises(TypeError, match=message):
            take(given, "b")
    if given is not None and not isinstance(given, str | list):
        with pytest.raises(TypeError, match="document 0: expected the bytes of a document"):
            index.match_batch([given])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "got NoneType"),
        (b"<a/>", "match takes one document"),
        ("<a/>", "match takes one document"),
        (np.frombuffer(GOOD, np.uint8), "match takes one document"),
        ({"a": b"<a/>"}, "one column"),
        ([b"<a/>", 7], "document 1: .* got int"),
    ],
)
def test_what_is_no_batch_is_refused_with_a_sentence(index: Index, given: object, message: str) -> None:
    """Also a single document, and a table."""
    with pytest.raises(TypeError, match=message):
        index.match_batch(given)


def test_a_batch_is_any_iterable(index: Index) -> None:
    """Such as a generator, a column of numpy objects, or one of pandas; of text, too."""
    pandas = pytest.importorskip("pandas")
    for batch in (
        iter([GOOD, None]),
        np.array([GOOD, None], object),
        pandas.Series([GOOD, None], dtype=object),
        pandas.Series([GOOD.decode(), None], dtype=object),
    ):
        found = index.match_batch(batch)
        assert (found.ids(0), found.errors) == (["b", "first"], [None, None])


def test_the_error_of_a_large_mapped_document_copies_no_more_than_a_window(index: Index) -> None:
    """A mapped file need not fit into memory."""
    import tracemalloc

    body = mapped(b"<a>" + b" " * (8 << 20) + b"<p:b/></a>")
    index.match(body)
    tracemalloc.start()
    error = index.match(body).error
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert error is not None
    assert "'p'" in error.message
    assert most < 1 << 20
