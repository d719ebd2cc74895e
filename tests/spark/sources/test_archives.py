"""Archives that are broken or too large are errors; their readable members are documents."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from twigcast.spark.sources.archives import members


def found(
    path: Path, *, pattern: str = "*", limit: int = 1 << 20
) -> list[tuple[str, bytes | None, str | None]]:
    rows = members(str(path), pattern, limit)
    return [
        (doc_id.removeprefix(f"{path}"), body, error and error["code"]) for doc_id, body, _, error in rows
    ]


def test_no_archive_at_all(tmp_path: Path) -> None:
    """A file that only has the name of an archive is one error."""
    for name in ("a.zip", "a.tar.gz", "a.gz", "a.tar"):
        (tmp_path / name).write_bytes(b"this is none, and long enough to be read as one " * 20)
        assert found(tmp_path / name) == [("", None, "archive")]
    assert found(tmp_path / "missing.zip") == [("", None, "archive")]


def test_a_truncated_archive(tmp_path: Path) -> None:
    """Members before the break are documents."""
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=0) as archive:
        for number in range(3):
            info = tarfile.TarInfo(f"{number}.xml")
            info.size = 5000
            archive.addfile(info, io.BytesIO(b"x" * 5000))
    path.write_bytes(path.read_bytes()[:9000])
    first, *rest = found(path)
    assert first == ("!0.xml", b"x" * 5000, None)
    assert [row[2] for row in rest] == ["archive"]


def test_a_broken_member(tmp_path: Path) -> None:
    """A member with a wrong checksum is an error; the other members are documents."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}.xml", b"<a>%d</a>" % number)
    path.write_bytes(path.read_bytes().replace(b"<a>1</a>", b"<a>9</a>"))
    assert found(path) == [
        ("!0.xml", b"<a>0</a>", None),
        ("!1.xml", None, "archive"),
        ("!2.xml", b"<a>2</a>", None),
    ]


def test_a_bomb(tmp_path: Path) -> None:
    """A member beyond the limit is an error; no more than the limit is unpacked."""
    (tmp_path / "a.xml.gz").write_bytes(gzip.compress(b" " * (4 << 20)))
    assert found(tmp_path / "a.xml.gz") == [("!a.xml", None, "too-large")]


def test_members_may_be_chosen(tmp_path: Path) -> None:
    """A pattern selects members by their name, or by their name with its folders."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("x/1.xml", "y/2.xml", "x/3.txt"):
            archive.writestr(name, b"<a/>")
    assert [row[0] for row in found(path, pattern="*.xml")] == ["!x/1.xml", "!y/2.xml"]
    assert [row[0] for row in found(path, pattern="x/*")] == ["!x/1.xml", "!x/3.txt"]
