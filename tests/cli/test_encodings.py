"""Documents in the encodings of the world, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]
TITLES = {
    "GB2312": "中文新闻",
    "GBK": "中文新聞",
    "GB18030": "中文𠀀",
    "Shift_JIS": "日本語ニュース",
    "EUC-JP": "日本語ニュース",
    "Big5": "中文新聞",
    "EUC-KR": "한국어 뉴스",
    "KOI8-R": "Новости",
    "windows-1250": "Příliš žluťoučký",
    "windows-1251": "Новости",
    "windows-1252": "“café”",
    "windows-1253": "Ειδήσεις",
    "windows-1254": "Türkçe ığşş",
    "windows-1256": "أخبار",
    "UTF-16": "é中",
}


def body_of(encoding: str) -> bytes:
    text = f"<?xml version='1.0' encoding='{encoding}'?><doc><t>{TITLES[encoding]}</t><p/></doc>"
    return text.encode(encoding)


def bytes_of(encoding: str) -> tuple[bytes, str]:
    """The selected element in the bytes of the document."""
    codec = "utf-16-le" if encoding == "UTF-16" else encoding
    text = f"<t>{TITLES[encoding]}</t>"
    return text.encode(codec), text


@pytest.mark.parametrize("encoding", TITLES)
def test_a_document_is_matched_and_its_parts_are_text(
    run: RunCommand, write: Write, tmp_path: Path, encoding: str
) -> None:
    """By match, match --select, explain, chunk and in fragments; byte ranges are those of the publisher."""
    document = write("d.xml", body_of(encoding))
    subscriptions = write("s.tsv", f"t\t//t[. = '{TITLES[encoding]}']\n")
    assert run("match", "-s", subscriptions, document).lines == [f"{document}\tt"]
    part, text = bytes_of(encoding)
    start = body_of(encoding).index(part)
    selected = run("match", "-s", subscriptions, "--select", "--parts", "range", document)
    assert selected.lines == [f"{document}\tt\t{start}\t{start + len(part)}\telement\t{text}"]
    assert "1 of 1" in run("explain", "-s", subscriptions, "--id", "t", document).stdout
    cut = run("chunk", document, "--queries", subscriptions, "--sample", "--run")
    assert cut.lines == [f"t\t{start}\t{start + len(part)}\telement\t{text}"]
    (answer,) = map(
        json.loads, run("chunk", document, "--queries", subscriptions, "--sample", "--run", "--json").lines
    )
    assert answer["content"] == text
    run("fragment", document, "--output", tmp_path / "parts")
    assert run("match", "-s", subscriptions, "--fragments", tmp_path / "parts").lines == ["d.xml\tt"]


@pytest.mark.parametrize("mark", [b"", b"\xff\xfe"])
def test_utf_16_needs_no_mark(run: RunCommand, write: Write, mark: bytes) -> None:
    """The first two bytes say what it is."""
    body = mark + "<?xml version='1.0' encoding='UTF-16'?><doc><t>é中</t></doc>".encode("utf-16-le")
    document = write("d.xml", body)
    subscriptions = write("s.tsv", "t\t//t[. = 'é中']\n")
    (line,) = run("match", "-s", subscriptions, "--select", "--parts", "range", document).lines
    _, _, start, end, _, text = line.split("\t")
    assert body[int(start) : int(end)].decode("utf-16-le") == text == "<t>é中</t>"


@pytest.mark.parametrize(
    "command",
    [
        ["match", "-s", "{s}", "{d}"],
        ["match", "-s", "{s}", "--cores", "2", "{d}"],
        ["explain", "-s", "{s}", "--id", "t", "{d}"],
        ["fragment", "{d}", "--output", "{o}"],
        ["chunk", "{d}", "--queries", "{s}", "--sample", "--run"],
    ],
    ids=lambda words: " ".join(words[:1] + [word for word in words if word == "--cores"]),
)
def test_an_unknown_encoding_is_named_with_its_document(
    run: RunCommand, write: Write, tmp_path: Path, command: list[str]
) -> None:
    """By every command that reads a document; the exit code is 1."""
    document = write("d.xml", "<?xml version='1.0' encoding='klingon'?><t/>")
    places = {"{d}": document, "{s}": write("s.tsv", "t\t//t\n"), "{o}": tmp_path / "parts"}
    done = run(*(places.get(word, word) for word in command))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {document}: unknown encoding 'klingon'")
