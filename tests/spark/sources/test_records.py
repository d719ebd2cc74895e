"""Files of records are cut into pieces that give the same records."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from twigcast.spark.sources.records import RecordCut, pieces, rows_of

BODIES = [b"<r>%d</r>" % number for number in range(1000)]


def file_of(folder: Path, content: bytes, name: str = "f.xml") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


@pytest.mark.parametrize("size", [1, 100, 5000, 1 << 20])
def test_pieces_give_what_the_file_gives(tmp_path: Path, size: int) -> None:
    """The pieces are adjacent, and together they have the records of the file."""
    head = b'<f xmlns="u"><g xmlns="v">'
    path = file_of(tmp_path, head + b"\n".join(BODIES) + b"</g><g>" + b"".join(BODIES) + b"</g></f>")
    cut = RecordCut("r", 1 << 20, size)
    found = list(pieces(str(path), path.stat().st_size, cut))
    assert [end for _, end, _ in found[:-1]] == [start for start, _, _ in found[1:]]
    assert (found[0][0], found[-1][1]) == (0, None)
    rows = [row for piece in found for row in rows_of(str(path), *piece, cut)]
    assert rows == list(rows_of(str(path), 0, None, b"", cut))
    assert [body for _, body, _, _ in rows] == BODIES * 2
    assert [prolog for _, _, prolog, _ in rows] == [b'<r xmlns="v"'] * 1000 + [b'<r xmlns="u"'] * 1000
    if size < 5000:
        assert len(found) > 10


def test_a_compressed_file_is_one_piece(tmp_path: Path) -> None:
    """Offsets count bytes of the decompressed content."""
    path = file_of(tmp_path, gzip.compress(b"<f>" + b"".join(BODIES) + b"</f>"), "f.xml.gz")
    cut = RecordCut("r", 1 << 20, 10)
    (piece,) = pieces(str(path), path.stat().st_size, cut)
    rows = list(rows_of(str(path), *piece, cut))
    assert [body for _, body, _, _ in rows] == BODIES
    assert rows[1][0] == f"{path}#{3 + len(BODIES[0])}"


def test_a_file_that_cannot_be_read_is_one_error(tmp_path: Path) -> None:
    """A missing file and a truncated compressed file are errors; records before the break are documents."""
    cut = RecordCut("r", 1 << 20, 10)
    gone = str(tmp_path / "gone.xml")
    (piece,) = pieces(gone, 1000, cut)
    ((doc_id, body, _, error),) = rows_of(gone, *piece, cut)
    assert (doc_id, body, error and error["code"]) == (gone, None, "archive")
    content = b"<f>" + b"".join(b"<r>%d</r>" % (number**9) for number in range(200_000)) + b"</f>"
    torn = file_of(tmp_path, gzip.compress(content, 1)[:-5000], "torn.xml.gz")
    *rows, last = rows_of(str(torn), 0, None, b"", cut)
    assert len(rows) > 1000
    assert last[3] is not None
    assert last[3]["code"] == "archive"


def test_the_limit_is_kept(tmp_path: Path) -> None:
    """A larger record is an error without a body."""
    path = file_of(tmp_path, b"<f><r>" + b"x" * 1000 + b"</r><r/></f>")
    first, second = rows_of(str(path), 0, None, b"", RecordCut("r", 100, 1 << 20))
    assert (first[1], first[3] and first[3]["code"], second[1]) == (None, "too-large", b"<r/>")
