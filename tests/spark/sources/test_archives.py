"""Archives that are broken, hostile or too large are errors; their readable members are documents."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import twigcast
from twigcast.spark.sources.archive_limits import ArchiveLimits
from twigcast.spark.sources.archives import Unpacking, members
from twigcast.system import name_text
from twigcast.system.name_text import name_bytes

Found = list[tuple[str, bytes | None, str | None]]


def found(path: Path, *, pattern: str = "*", limit: int = 1 << 20, **limits: int) -> Found:
    rows = members(name_text(str(path)), Unpacking(pattern, limit, ArchiveLimits(**limits)))
    return [
        (doc_id.removeprefix(f"{path}"), body, error and error["code"]) for doc_id, body, _, error in rows
    ]


def tar_of(
    path: Path, *files: tuple[bytes, bytes], mode: str = "w", format: int = tarfile.PAX_FORMAT
) -> Path:
    """A tar archive of names, as bytes, and contents."""
    with tarfile.open(path, mode, format=format, encoding="utf-8", errors="surrogateescape") as archive:  # type: ignore[call-overload]
        for name, body in files:
            info = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return path


def zip_of(path: Path, *files: tuple[bytes, bytes], utf8: bool = True) -> Path:
    """A zip archive of names, as bytes, and contents."""
    content, directory = b"", b""
    for name, body in files:
        fields = (0x800 if utf8 else 0, 0, 0, 0, zlib.crc32(body), len(body), len(body), len(name), 0)
        directory += struct.pack("<4sHHHHHHLLLHHHHHLL", b"PK\1\2", 20, 20, *fields, 0, 0, 0, 0, len(content))
        directory += name
        content += struct.pack("<4sHHHHHLLLHH", b"PK\3\4", 20, *fields) + name + body
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(files), len(files), len(directory), len(content), 0)
    path.write_bytes(content + directory + end)
    return path


def test_no_archive_at_all(tmp_path: Path) -> None:
    """A file that only has the name of an archive is one error."""
    for name in ("a.zip", "a.tar.gz", "a.gz", "a.tar"):
        (tmp_path / name).write_bytes(b"this is none, and long enough to be read as one " * 20)
        assert found(tmp_path / name) == [("", None, "archive")]
        (tmp_path / name).write_bytes(b"")
        assert [(row[1], row[2]) for row in found(tmp_path / name)] in ([(None, "archive")], [(b"", None)])
    assert found(tmp_path / "missing.zip") == [("", None, "archive")]


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize(
    ("suffix", "mode"), [(".tar", "w"), (".tgz", "w:gz"), (".tar.bz2", "w:bz2"), (".txz", "w:xz")]
)
def test_every_format_of_tar(tmp_path: Path, suffix: str, mode: str, format: int) -> None:
    """Names and contents are those that ``tarfile`` wrote; folders and links are no documents."""
    path = tmp_path / f"a{suffix}"
    files = [("1.xml", b"<a/>"), ("d/" + "x" * 90 + "/é.xml", b""), ("3", os.urandom(70_000))]
    if format != tarfile.USTAR_FORMAT:
        files.append(("y" * 3000, b"<long/>"))
    with tarfile.open(path, mode, format=format) as archive:  # type: ignore[call-overload]
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE):
            info = tarfile.TarInfo("other")
            info.type, info.linkname = kind, "z" * 90
            archive.addfile(info)
        for name, body in files:
            info = tarfile.TarInfo(name)
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    assert found(path) == [(f"!{name}", body, None) for name, body in files]


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
@pytest.mark.parametrize("size", [0, 10, 300_000])
def test_every_method_of_zip(tmp_path: Path, method: int, size: int) -> None:
    """Contents are those that ``zipfile`` wrote, to a file or to a stream, whatever is before and after."""
    body = os.urandom(size // 2) + b"x" * (size - size // 2)
    for number, target in enumerate((io.BytesIO(), _Unseekable())):
        with zipfile.ZipFile(target, "w", method) as archive:  # type: ignore[arg-type]
            archive.writestr("é.xml", body)
            with archive.open("64.xml", "w", force_zip64=True) as member:
                member.write(body)
            archive.writestr("folder/", b"")
            archive.comment = b"a comment"
        path = tmp_path / f"{number}.zip"
        path.write_bytes(b"before" * (1 - number) + target.getvalue())
        assert found(path) == [("!é.xml", body, None), ("!64.xml", body, None)]


class _Unseekable(io.RawIOBase):
    def __init__(self) -> None:
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.content += bytes(data)
        return len(data)

    def getvalue(self) -> bytes:
        return self.content


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


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A member beyond the limit is an error; no more than the limit is unpacked."""
    suffix = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]
    path = tmp_path / f"a.xml.{suffix}"
    path.write_bytes(pack(b" " * (4 << 20)))
    assert found(path) == [("!a.xml", None, "too-large")]
    path.write_bytes(pack(b"<a/>") + pack(b"<!-- two -->"))
    assert found(path) == [("!a.xml", b"<a/><!-- two -->", None)]


def test_members_may_be_chosen(tmp_path: Path) -> None:
    """A pattern selects members by their name, or by their name with its folders."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("x/1.xml", "y/2.xml", "x/3.txt"):
            archive.writestr(name, b"<a/>")
    assert [row[0] for row in found(path, pattern="*.xml")] == ["!x/1.xml", "!y/2.xml"]
    assert [row[0] for row in found(path, pattern="x/*")] == ["!x/1.xml", "!x/3.txt"]


STRANGE = [
    b"caf\xe9.xml",
    b"two\nlines\t\x1b[2J.xml",
    b"back\\slash",
    b"a!b",
    "\u2028\x85".encode(),
    b"\xed\xa0\x80",
]


@pytest.mark.parametrize("make", [tar_of, zip_of, lambda *files: tar_of(*files, format=tarfile.GNU_FORMAT)])
def test_names_may_be_any_bytes(tmp_path: Path, make: Callable[..., Path]) -> None:
    """Each member is a document whose id is text that leads back to the name."""
    rows = found(
        make(tmp_path / ("a.zip" if make is zip_of else "a.tar"), *[(name, b"<a/>") for name in STRANGE])
    )
    assert [(name_bytes(doc_id[1:]), body) for doc_id, body, _ in rows] == [
        (name, b"<a/>") for name in STRANGE
    ]
    for doc_id, _, _ in rows:
        assert doc_id.encode("utf-8").isascii() or doc_id.isprintable()
        assert doc_id.count("!") == 1


def test_names_of_a_zip_may_be_of_an_old_encoding(tmp_path: Path) -> None:
    """A name that is not marked as UTF-8 is code page 437; NUL and control characters are escaped."""
    rows = found(zip_of(tmp_path / "a.zip", (b"caf\x82\x00\n", b"<a/>"), utf8=False))
    assert rows == [("!café\\x00\\x0a", b"<a/>", None)]


@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_members_of_one_name_are_documents_of_their_own(tmp_path: Path, make: Callable[..., Path]) -> None:
    """They are numbered, and no other name can be taken for a numbered one."""
    names = [b"a", b"a", b"b", b"a", b"a#2", b"a\\#2"]
    rows = found(
        make(tmp_path / ("a.zip" if make is zip_of else "a.tar"), *[(name, b"<a/>") for name in names])
    )
    assert [row[0] for row in rows] == ["!a", "!a\\#2", "!b", "!a\\#3", "!a#2", "!a\\\\#2"]


def test_an_archive_and_a_member_are_told_apart(tmp_path: Path) -> None:
    """Whatever the names are, an id is that of one member of one archive."""
    one = zip_of(tmp_path / "a.zip", (b"b.zip!c", b"<a/>"))
    other = zip_of(tmp_path / "a.zip!b.zip", (b"c", b"<a/>"))
    ids = [next(members(str(path), Unpacking()))[0].removeprefix(str(tmp_path)) for path in (one, other)]
    assert ids == ["/a.zip!b.zip\\x21c", "/a.zip\\x21b.zip!c"]


# Limits


def test_too_many_members(tmp_path: Path) -> None:
    """The members up to the limit are documents; those of a zip are counted before the first is read."""
    files = [(b"%d" % number, b"<a/>") for number in range(5)]
    rows = found(tar_of(tmp_path / "a.tar", *files), members=3)
    assert [row[0] for row in rows] == ["!0", "!1", "!2", ""]
    assert rows[-1] == ("", None, "archive-limit")
    assert found(zip_of(tmp_path / "a.zip", *files), members=3) == [("", None, "archive-limit")]
    row = next(members(str(tmp_path / "a.zip"), Unpacking(limits=ArchiveLimits(members=3))))
    assert row[3] is not None
    assert row[3]["message"] == (
        "the archive has more than 3 members: archives.members (the option maxMembers) sets this limit"
    )


def test_too_much_content(tmp_path: Path) -> None:
    """Documents before the limit are delivered, also if what exceeds it is not selected as a document."""
    files = [(b"1.xml", b"<a/>"), (b"2.bin", b"x" * 100_000), (b"3.xml", b"<a/>")]
    for path in (tar_of(tmp_path / "a.tgz", *files, mode="w:gz"), zip_of(tmp_path / "a.zip", *files)):
        rows = found(path, bytes=50_000)
        assert rows[0] == ("!1.xml", b"<a/>", None)
        assert rows[1:] == [("", None, "archive-limit")]
    assert found(tmp_path / "a.tgz", bytes=50_000, pattern="*.xml")[1:] == [("", None, "archive-limit")]


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_a_name_that_is_too_long(tmp_path: Path, format: int) -> None:
    """Members before it are documents, and the archive is one error."""
    path = tar_of(tmp_path / "a.tar", (b"1", b"<a/>"), (b"n" * 5000, b"<a/>"), (b"3", b"<a/>"), format=format)
    assert [(row[0], row[2]) for row in found(path, header_bytes=1000)] == [
        ("!1", None),
        ("", "archive-limit"),
    ]
    assert len(found(path)) == 3


def test_overlapping_members(tmp_path: Path) -> None:
    """A zip whose members share bytes, as bombs do, is refused."""
    path = zip_of(tmp_path / "a.zip", (b"1", b"<a/>"), (b"2", b"<a/>"))
    content = bytearray(path.read_bytes())
    second = content.rindex(b"PK\1\2")
    content[second + 42 : second + 46] = bytes(4)  # the offset of the first
    path.write_bytes(content)
    assert found(path) == [("", None, "archive")]


HOSTILE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from twigcast.spark.sources.archives import Unpacking, members
for doc_id, body, _, error in members(sys.argv[1], Unpacking()):
    print(doc_id.rpartition("/")[2], body, error and error["code"])
"""


@pytest.mark.parametrize("pack", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("kind", [b"x", b"L"], ids=["pax", "gnu"])
def test_a_header_of_gigabytes_costs_no_memory(tmp_path: Path, kind: bytes, pack: str) -> None:
    """A small compressed file whose header says 3 GB is refused within the memory of a small process."""
    good = tar_of(tmp_path / "good", (b"1.xml", b"<a/>")).read_bytes()[:1024]
    info = tarfile.TarInfo("long")
    info.type, info.size = kind, 3 << 30
    open_it: Any = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}[pack]
    path = tmp_path / f"a.tar.{pack}"
    with open_it(path, "wb") as file:
        file.write(good + info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(64):  # the rest of the 3 GB need not be there
            file.write(bytes(1 << 20))
    assert path.stat().st_size < 100_000
    environment = {**os.environ, "PYTHONPATH": str(Path(twigcast.__file__).parent.parent)}
    answer = subprocess.run(
        [sys.executable, "-c", HOSTILE, str(path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    name = path.name
    assert answer.stdout.splitlines() == [f"{name}!1.xml b'<a/>' None", f"{name} None archive-limit"], (
        answer.stderr
    )
