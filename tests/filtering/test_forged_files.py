"""Index files with altered fields and a fitting checksum: refused or harmless, within bounds of memory."""

from __future__ import annotations

import bz2
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from twigcast import Index, IndexFileError
from twigcast.filtering.segment_file import _HEAD, MAGIC, VERSION

FUZZ = Path(__file__).parents[1] / "fuzz" / "fuzz_index_file.py"


def test_forged_files_neither_crash_nor_take_memory() -> None:
    """A process with little memory opens and uses hundreds of forged files."""
    done = subprocess.run(
        [sys.executable, str(FUZZ), "--files", "400", "--seed", "5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("400 files")


def forge(path: Path, change: Any) -> None:
    """Change the table of contents, and the bytes before it, of a file, and make its checksum fit."""
    original = path.read_bytes()
    *_, at, length = _HEAD.unpack(original[: _HEAD.size])
    content, contents = bytearray(original[:at]), json.loads(original[at : at + length])
    change(content, contents)
    table = json.dumps(contents).encode()
    head = [MAGIC, VERSION, 0, len(content) + len(table), len(content), len(table)]
    content[: _HEAD.size] = _HEAD.pack(*head)
    head[2] = zlib.crc32(table, zlib.crc32(content))
    content[: _HEAD.size] = _HEAD.pack(*head)
    path.write_bytes(bytes(content + table))


def bomb(content: bytearray, contents: dict[str, Any]) -> None:
    block = bz2.compress(bytes(4 << 20))
    contents["texts"][0] = [len(content), len(block)]
    content += block


def test_a_block_is_not_decompressed_beyond_its_declared_size(tmp_path: Path) -> None:
    """The error comes when the expressions are first needed, and costs nothing the second time."""
    Index([("a", "//a")]).save(tmp_path / "i")
    forge(tmp_path / "i", bomb)
    index = Index.open(tmp_path / "i")
    assert index.match(b"<a/>").ids == ["a"]
    for _ in range(2):
        with pytest.raises(IndexFileError, match="another size than declared"):
            index.pattern("a")


@pytest.mark.parametrize(
    "change",
    [
        lambda content, contents: contents.update(text_bytes=[9 << 30]),
        lambda content, contents: contents.update(text_bytes=[-1]),
        lambda content, contents: contents.update(first=1000),
        lambda content, contents: contents.update(first=float("inf")),
        lambda content, contents: contents.update(holes=[[0, len(content)]] * 100_000),
        lambda content, contents: contents.update(kind="other"),
        lambda content, contents: contents.update(removed=[1 << 31]),
        lambda content, contents: contents.update(count=2),
    ],
)
def test_numbers_that_do_not_fit_the_file_are_refused(tmp_path: Path, change: Any) -> None:
    """Before memory is allocated for them."""
    Index([("a", "//a")]).save(tmp_path / "i")
    forge(tmp_path / "i", change)
    with pytest.raises(IndexFileError) as error:
        Index.open(tmp_path / "i")
    assert error.value.code == "altered"


@pytest.mark.parametrize(
    ("at", "word"),
    [(20, 1 << 28), (24, 1 << 28), (28, 1 << 28), (32, 5)],
    ids=["atoms", "slots", "positions", "base"],
)
def test_counts_of_the_kernel_are_checked(tmp_path: Path, at: int, word: int) -> None:
    """A matcher would allocate memory for each atom and slot."""
    Index([("a", "//a[b]")]).save(tmp_path / "i")

    def change(content: bytearray, contents: dict[str, Any]) -> None:
        start = contents["segment"][0][0] + at
        content[start : start + 4] = word.to_bytes(4, "little")

    forge(tmp_path / "i", change)
    with pytest.raises(IndexFileError):
        Index.open(tmp_path / "i")


def test_a_threshold_that_is_no_number_is_refused(tmp_path: Path) -> None:
    """Thresholds are sorted, and NaN has no place in an order."""
    Index([("a", "//a[@b > 1234.5]")]).save(tmp_path / "i")

    def change(content: bytearray, contents: dict[str, Any]) -> None:
        import struct

        at = bytes(content).index(struct.pack("<d", 1234.5))
        content[at : at + 8] = struct.pack("<d", float("nan"))

    forge(tmp_path / "i", change)
    with pytest.raises(IndexFileError, match="not finite"):
        Index.open(tmp_path / "i")


@pytest.mark.parametrize("bound", [[], {"p": 1}, "p", None])
def test_prefixes_that_are_not_bound_to_text_are_refused(tmp_path: Path, bound: object) -> None:
    """They would fail later, when a subscription is added."""
    path = tmp_path / "i"
    Index([("a", "//p:a")], namespaces={"p": "urn:p"}).save(path)
    forge(path, lambda content, contents: contents.update(namespaces=bound))
    with pytest.raises(IndexFileError, match="prefixes"):
        Index.open(path)
