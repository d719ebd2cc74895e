"""Tests of chunks as files, of profiles and of the picture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from twigcast.chunking import ChunkQuery, chunk, draw, plan, printed_bytes, profile
from twigcast.document import SourceMap, read
from twigcast.errors import ChunkingError

BODY = b"<r><k>" + b"".join(b"<b><c>%d</c></b>" % n for n in range(20)) + b"</k><d>x</d></r>"
QUERIES = [ChunkQuery("b", "/r/k/b"), ChunkQuery("first", "/r/k/b[1]/c"), ChunkQuery("d", "/r/d")]


def test_parts_have_maps_and_the_scheme_names_them(tmp_path: Path) -> None:
    """A map leads each element of a part to equal bytes of the document."""
    cut = chunk(BODY, plan(QUERIES, profile=profile([BODY])), tmp_path / "out", part_bytes=100)
    assert cut.error is None
    scheme = json.loads((tmp_path / "out" / "scheme.json").read_text())
    names = [part for each in scheme["chunks"] for part in each["parts"]]
    assert sorted(names) == sorted(
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.xml")
    )
    for name in names:
        part = tmp_path / "out" / name
        source_map = SourceMap.of_bytes(part.with_suffix(".map").read_bytes())
        body = part.read_bytes()
        for element in read(body).root.children:
            assert BODY[source_map.start(element.start)] == body[element.start]


def test_a_broken_document_leaves_whole_parts(tmp_path: Path) -> None:
    """At every tenth offset: parts are well-formed, and no temporary file is left."""
    scheme = plan(QUERIES, profile=profile([BODY]))
    for end in range(0, len(BODY), 10):
        cut = chunk(iter([BODY[:end]]), scheme, tmp_path / str(end), part_bytes=50)
        assert cut.error is not None
        for each in cut.chunks:
            for part in each.parts:
                read(part.read_bytes())
        assert not list((tmp_path / str(end)).rglob(".*"))
        assert json.loads((tmp_path / str(end) / "scheme.json").read_text())["complete"] is False


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    """Nothing is overwritten."""
    (tmp_path / "x").touch()
    with pytest.raises(ChunkingError):
        chunk(BODY, plan(QUERIES, profile=profile([BODY])), tmp_path)


def test_a_document_that_is_not_of_the_plan_is_noted(tmp_path: Path) -> None:
    """The queries that can select there are unsettled."""
    scheme = plan([ChunkQuery("c", "//c")], profile=profile([b"<r><k><b><c/></b></k></r>"]))
    cut = chunk(b"<r><k><c/></k></r>", scheme, tmp_path / "out")
    assert cut.foreign == [(("", "k"), ("", "c"))]
    assert cut.unsettled == ["c"]


def test_the_picture_has_prefixes_kinds_and_needs() -> None:
    """What a chunk keeps beside its targets is named."""
    queries = [ChunkQuery("n", "/r[d = 'x']/k/b"), ChunkQuery("d", "//c/following::d")]
    picture = draw(plan(queries, profile=profile([BODY])), 10**9)
    assert "1 needs the whole document (d: following::)" in picture
    assert "+ /r/d tree" in picture
    assert "└── the document" in picture


def test_bytes_for_people() -> None:
    """Two digits are enough."""
    assert [printed_bytes(size) for size in (7, 1500, 12_000_000, 5 * 10**9, 12 * 10**12)] == [
        *("7 B", "1.5 KB", "12 MB", "5.0 GB", "12,000 GB"),
    ]
