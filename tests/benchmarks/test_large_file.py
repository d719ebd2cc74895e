"""The large file: what is written is what must come out."""

from __future__ import annotations

from pathlib import Path

from benchmarks.large_file import write_records


def test_documents_are_repeated_until_the_file_is_large_enough(tmp_path: Path) -> None:
    """The file is one element around the documents, and it is known how often each is in it."""
    written = write_records(tmp_path / "records.xml", [b"<a/>\n", b"<b/>\n"], 22)
    assert written.path.read_bytes() == b"<records>\n<a/>\n<b/>\n<a/>\n</records>\n"
    assert (written.repeats, written.records, written.bytes) == ([2, 1], 3, 36)
