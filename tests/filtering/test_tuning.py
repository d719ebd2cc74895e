"""Tuning changes the cost of a match, never its answer."""

from __future__ import annotations

import random
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.document.projection.documents import generated
from twigcast import Index, Match, Tuning

TEXTS = (
    "/a/b",
    "//b[c]/a",
    "//a[@x = '1>2']",
    "//c[@d]",
    "//*[text() = 'é text']",
    "//b[contains(., 'xxxx')]",
    "//Q{u}a[Q{w}b]",
    "//a[string-length() > 60]",
    "//b[2]",
    "//*[count(*) = 3]",
    "//comment()",
    "//c/following::b",
)
ENCODINGS = ["utf-8", "ISO-8859-1", "windows-1252", "UTF-16"]


def index(**tuning: int) -> Index:
    made = Index(tuning=Tuning(**tuning))
    for number, text in enumerate(TEXTS):
        made.add(number, text)
    return made


WHOLE = index()
IN_BLOCKS = {size: index(block_bytes=size) for size in (1, 2, 3, 7, 20)}


def answer(match: Match) -> tuple[object, ...]:
    return list(match.positions), match.error, match.figures


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 1 << 32), st.sampled_from([*IN_BLOCKS]), st.sampled_from(ENCODINGS))
def test_blocks_change_no_answer_and_no_error(seed: int, size: int, encoding: str) -> None:
    """Tokens and characters across the ends of blocks, and what is broken in a later block."""
    source = random.Random(seed)
    whole = generated(source, encoding=encoding)
    at = source.randrange(len(whole))
    broken = [whole[:at], whole[:at] + source.choice([b"\xff", b"<", b"&", b"\0"]) + whole[at + 1 :]]
    documents = [whole, *broken, whole + b"<b/>"]
    found = [answer(IN_BLOCKS[size].match(each)) for each in documents]
    assert found == [answer(WHOLE.match(each)) for each in documents]
    assert found[0][1] is None
    assert IN_BLOCKS[size].match_batch(pa.array(documents)).errors == [error for _, error, _ in found]


@pytest.mark.parametrize("token", ["<!--", "<![CDATA[", "<?b ", '<b x="', ""])
def test_a_token_may_be_longer_than_many_blocks(token: str) -> None:
    """The parser gathers it; the error after it has the same line, column and offset."""
    close = {"<!--": "-->", "<![CDATA[": "]]>", "<?b ": "?>", '<b x="': '"/>', "": ""}[token]
    inside = "\n".join(["some text"] * 400)
    for end in ("</a>", "</b>", "", "\r", "]]>"):
        body = f"<a>\n{token}{inside}{close}{end}".encode()
        assert answer(IN_BLOCKS[7].match(body)) == answer(WHOLE.match(body))


def test_selected_ranges_are_the_same(tmp_path: Path) -> None:
    """Also in a mapped file, which is matched without a copy."""
    file = tmp_path / "document.xml"
    file.write_bytes(generated(random.Random(5)) + b"\n" * 400)
    with file.open("rb") as opened, mmap(opened.fileno(), 0, access=ACCESS_READ) as body:
        matched = IN_BLOCKS[3].match(body)  # type: ignore[arg-type]
        assert matched.ids == WHOLE.match(file.read_bytes()).ids
    for each in matched.ids:
        ranges = IN_BLOCKS[3].select(file.read_bytes(), each)
        assert ranges == WHOLE.select(file.read_bytes(), each)


@pytest.mark.parametrize("size", [0, 1 << 62])
def test_any_size_of_a_block_is_taken(size: int) -> None:
    """What cannot be a size of a block is brought into its bounds."""
    assert (
        index(block_bytes=size).match(b"<a>" + b"<b/>" * 30 + b"</a>").ids
        == WHOLE.match(b"<a>" + b"<b/>" * 30 + b"</a>").ids
    )
