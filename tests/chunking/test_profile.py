"""The profile of a document is what a parse in Python counts."""

from __future__ import annotations

import random
from collections.abc import Iterable
from xml.parsers import expat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.document.projection.documents import generated
from twigcast.chunking import Profile, profile
from twigcast.chunking.profile import PathFigures
from twigcast.document import DocumentLimits, LabelPath
from twigcast.errors import DocumentError


def counted(body: bytes, most_bytes: int) -> Profile | tuple[int, int, int]:
    """The definition, with dictionaries; line, column and offset of the error if there is one."""
    found = Profile()
    open_elements: list[tuple[LabelPath, int, dict[str, int]]] = [((), 0, {})]
    parser = expat.ParserCreate(namespace_separator="\x01")

    def start(name: str, _attributes: object) -> None:
        parent, _, counts = open_elements[-1]
        namespace, _, local = name.rpartition("\x01")
        path = (*parent, (namespace, local))
        figures = found.paths.setdefault(path, PathFigures())
        figures.count += 1
        counts[name] = counts.get(name, 0) + 1
        figures.repeats = figures.repeats or counts[name] > 1
        open_elements.append((path, parser.CurrentByteIndex, {}))

    def end(_name: str) -> None:
        path, begin, _ = open_elements.pop()
        found.paths[path].bytes += parser.CurrentByteIndex - begin

    parser.StartElementHandler, parser.EndElementHandler = start, end
    found.is_complete = len(body) < most_bytes
    found.bytes = min(len(body), most_bytes)
    try:
        parser.Parse(body[:most_bytes], False)
        if found.is_complete:
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        return error.lineno, error.offset + 1, max(parser.ErrorByteIndex, 0)
    return found


def profiled(blocks: Iterable[bytes], most_bytes: int) -> Profile | tuple[int | None, int | None, int | None]:
    try:
        return profile(blocks, most_bytes)
    except DocumentError as error:
        return error.line, error.column, error.offset


@settings(deadline=None, max_examples=80)
@given(
    st.integers(0, 1 << 32), st.integers(1, 40), st.sampled_from(["utf-8", "ISO-8859-1", "cp1252", "UTF-16"])
)
def test_paths_counts_bytes_and_errors_are_those_of_a_parse_in_python(
    seed: int, step: int, encoding: str
) -> None:
    """For any blocks, samples that end anywhere, and broken documents; the paths are in the same order."""
    source = random.Random(seed)
    body = generated(source, encoding=encoding)
    at = source.randrange(len(body))
    for each in (body, body[:at], body[:at] + b"<" + body[at + 1 :]):
        most = source.choice([1 << 20, len(each), source.randrange(1, len(body) + 9)])
        blocks = [each[start : start + step] for start in range(0, len(each), step)]
        expected = counted(each, most)
        assert profiled(blocks, most) == expected
        if isinstance(expected, Profile):
            assert [*profile(blocks, most).paths] == [*expected.paths]


def test_a_sample_ends_early_and_is_scaled() -> None:
    """Repetition is within one parent."""
    body = b"<r>" + b"<k><b/><b/><d/></k>" * 3 + b"</r>"
    found = profile([body])
    k = (("", "r"), ("", "k"))
    assert found.paths[k] == PathFigures(3, 3 * len(b"<k><b/><b/><d/>"), repeats=True)
    assert found.paths[(*k, ("", "b"))].repeats
    assert not found.paths[(*k, ("", "d"))].repeats
    beginning = profile([memoryview(body)], 40)  # type: ignore[list-item]
    assert (beginning.bytes, beginning.is_complete, beginning.scaled(10, 400)) == (40, False, 100)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"<a><b></a>", "malformed"),
        (b"", "truncated"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "encoding"),
        (b"<a>" * 11, "too-deep"),
    ],
)
def test_what_cannot_be_read_is_an_error(body: bytes, code: str) -> None:
    """Each with its code."""
    with pytest.raises(DocumentError) as raised:
        profile([body], limits=DocumentLimits(depth=10))
    assert raised.value.code == code


def test_many_paths_and_names_are_counted() -> None:
    """The tables of paths and of names grow."""
    body = b"<r>" + b"".join(b"<a%d><b%d/></a%d>" % (n, n % 7, n) for n in range(3000)) + b"</r>"
    assert profile([body]) == counted(body, 1 << 20)
