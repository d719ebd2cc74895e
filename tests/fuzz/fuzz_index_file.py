"""Forged index files: a valid file with altered fields, whose checksum was made to fit.

    python tests/fuzz/fuzz_index_file.py --seconds 600 --seed 1
    python tests/fuzz/fuzz_index_file.py --files 400

Fields of the table of contents, of the kernel's header and of its tables are altered, and blocks of
expressions are replaced by bombs.  What must hold: a file is refused with ``IndexFileError``, or it opens and
can be used, with answers that may be wrong; nothing else is raised, and the process neither crashes nor takes
more memory than ``MEMORY``.  Exit status: 0 if all held; a crash is known by the file ``--trail``.
"""

from __future__ import annotations

import argparse
import bz2
import faulthandler
import json
import random
import resource
import struct
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twigcast import Index, IndexFileError, Subscription, TwigcastError
from twigcast.analysis import schema_automaton
from twigcast.filtering.segment_file import _HEAD, MAGIC, VERSION
from twigcast.schema import read_dtd

MEMORY = 1 << 30
HANGING = 300.0  # seconds for one file
HEADER = 8 + 4 * 8  # of a kernel segment: magic and eight words; the offsets and counts of sections follow
SECTIONS = 15
EXPRESSIONS = [
    "/a/b", "//a//b", "//*", "/a/b[c/d][.//e]/f", "//p[person='Ada']", "//p[@x > 3]", "//p[@x != 3]",
    "//*[@id > 3 or not(b)]", "//p[contains(., 'da')]", "//p[starts-with(text(), 'A')]", "//p[text()='Ada']",
    "//p[string-length(.) < 9]", "//p[count(q) = 2]", "/a | /b/c | //d[e]", "//p[not(q)][not(r/s)]", "//@id",
    "//p[q[r[s]]]", "//Q{urn:u}p[@Q{urn:u}x]", "//*:p", "//Q{urn:u}*", "//p[1]", "/a[b]/c[d]", "//e/text()",
]  # fmt: skip
DOCUMENTS = [
    b"<a><b><c><d/></c><e/><f/></b></a>",
    b"<a id='5'><p x='4'>Ada<q/><q/></p><p x='3'><person>Ada</person></p></a>",
    b"<p xmlns='urn:u' x='1'><q xmlns=''><r><s/></r></q>Ada<!-- -->Bob</p>",
    b"<b><c/><d><e>text</e></d></b>",
    b"<list><item/><item><list/></item></list>",
]
WORDS = [0, 1, 2, 3, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, 1 << 28, 1 << 30]
VALUES: list[Any] = [
    0, 1, -1, 7, 1 << 20, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 62, 1 << 63, 1 << 64, -(1 << 63), 1e308,
    float("nan"), float("inf"), 0.5, True, None, "", "int", "packed", "x", [], [[]], [0], [0, 0, 0],
    {}, "9" * 5000,
]  # fmt: skip


def main() -> int:
    """Forge files until the time or the number of files is over."""
    arguments = _arguments()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    faulthandler.enable()
    chance = random.Random(arguments.seed)
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "forged.tci")
        originals = _originals(path)
        deadline = time.monotonic() + arguments.seconds
        made = 0
        while made < arguments.files and time.monotonic() < deadline:
            forged = _forged(chance.choice(originals), chance)
            path.unlink(missing_ok=True)
            path.write_bytes(forged)
            if arguments.trail:
                arguments.trail.write_bytes(forged)
            faulthandler.dump_traceback_later(HANGING, exit=True)
            outcomes[_used(path)] += 1
            made += 1
        faulthandler.cancel_dump_traceback_later()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{made} files, {peak:.0f} MB at most:",
        ", ".join(f"{n} {what}" for what, n in outcomes.most_common()),
    )
    return 0


def _used(path: Path) -> str:
    """Open a file and use all of it; returns what became of it."""
    try:
        index = Index.open(path)
    except IndexFileError as error:
        return f"refused ({error.code})"
    outcome = "used"
    for use in _uses(index):
        try:
            use()
        except TwigcastError as error:
            outcome = f"used, with an error ({type(error).__name__})"
    return outcome


def _uses(index: Index) -> list[Callable[[], object]]:
    uses: list[Callable[[], object]] = []
    for _ in range(6):  # rows are compiled to programs after some uses
        uses += [lambda body=body: index.match(body).ids for body in DOCUMENTS]  # type: ignore[misc]
    uses += [lambda: index.ids, index.rows, index.stats, lambda: "ada" in index, lambda: 7 in index]
    uses += [lambda: [index.select(body, id) for id in index.ids[-2:] for body in DOCUMENTS]]
    uses += [lambda: index.add("new", "//a[b]"), lambda: [index.remove(id) for id in index.ids[:1]]]
    uses += [lambda: [index.pattern(id) for id in index.ids[:50]]]
    return uses


def _originals(path: Path) -> list[bytes]:
    """Valid files: ids that are text, numbers or other values; several levels; schemas; subscribers."""
    schema = schema_automaton(read_dtd(b"<!ELEMENT list (item*)><!ELEMENT item (#PCDATA|list)*>"))
    several = Index([(f"id-{n}", text) for n, text in enumerate(EXPRESSIONS)])
    several.add("schema", schema)
    numbers = Index(enumerate(EXPRESSIONS))
    packed = Index([((n, "x", b"y"), text) for n, text in enumerate(EXPRESSIONS)])
    named = Index([Subscription(str(n), text, "desk", "part") for n, text in enumerate(EXPRESSIONS)])
    many = Index([(f"n{n}", f"//a[@x={n}]/b{n % 7}") for n in range(1500)])
    made = []
    for index in (several, numbers, packed, named, many, Index()):
        index.save(path)
        made.append(path.read_bytes())
    named.remove("3")
    with tempfile.TemporaryDirectory() as folder:
        made += [Path(folder, name).read_bytes() for name in named.save_segments(Path(folder))]
    return made


def _forged(original: bytes, chance: random.Random) -> bytes:
    *_, at, length = _HEAD.unpack(original[: _HEAD.size])
    content, contents = bytearray(original[:at]), json.loads(original[at : at + length])
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        chance.choice((_alter_contents, _alter_kernel, _alter_kernel, _alter_rows, _plant_bomb))(
            content, contents, chance
        )
    table = json.dumps(contents).encode()
    head = [MAGIC, VERSION, 0, len(content) + len(table), len(content), len(table)]
    if chance.random() < 0.05:
        head[chance.randrange(3, 6)] = chance.choice((0, 1, 64, 1 << 31, 1 << 63, (1 << 64) - 1))
    content[: _HEAD.size] = _HEAD.pack(*head)
    head[2] = zlib.crc32(table, zlib.crc32(content))
    content[: _HEAD.size] = _HEAD.pack(*head)
    return bytes(content + table)


def _alter_contents(content: bytearray, contents: dict[str, Any], chance: random.Random) -> None:
    """Change a value of the table of contents, at any depth."""
    key = chance.choice(list(contents))
    value = contents[key]
    if chance.random() < 0.1:
        del contents[key]
    elif isinstance(value, list) and value and chance.random() < 0.8:
        part = chance.randrange(len(value))
        if isinstance(value[part], list) and value[part] and chance.random() < 0.8:
            value[part][chance.randrange(len(value[part]))] = _value(value[part][-1], chance)
        elif chance.random() < 0.3:
            value += [value[part]] * chance.choice((1, 2, 100_000))
        else:
            value[part] = _value(value[part], chance)
    else:
        contents[key] = _value(value, chance)


def _value(value: Any, chance: random.Random) -> Any:
    if isinstance(value, int) and chance.random() < 0.4:
        return value + chance.choice((-8, -1, 1, 8))
    return chance.choice(VALUES)


def _alter_kernel(content: bytearray, contents: dict[str, Any], chance: random.Random) -> None:
    """Change a word of the kernel's segment: a number of its header, or one in a section."""
    start, length = _extent(contents, "segment", 0, len(content))
    if length < HEADER + 16 * SECTIONS:
        return
    what = chance.random()
    if what < 0.25:
        struct.pack_into("<I", content, start + 8 + 4 * chance.randrange(8), chance.choice(WORDS))
        return
    section = chance.randrange(SECTIONS)
    offset, count = (
        struct.unpack_from("<Q", content, start + HEADER + 8 * (section + SECTIONS * second))[0]
        for second in (0, 1)
    )
    if what < 0.4:
        number = chance.choice((*WORDS, 1 << 32, 1 << 61, 1 << 63, count + 1, max(0, count - 1), offset + 8))
        struct.pack_into(
            "<Q", content, start + HEADER + 8 * (section + SECTIONS * chance.randrange(2)), number % (1 << 64)
        )
        return
    section_bytes = length - offset
    if section_bytes < 8 or offset >= length or not count:
        return
    at = start + offset + 4 * chance.randrange(max(1, min(section_bytes, 4 * count) // 4))
    if at + 8 > len(content):
        return
    if what < 0.5:
        struct.pack_into("<d", content, at, chance.choice((float("nan"), float("inf"), -1.0, 1e308)))
        return
    (word,) = struct.unpack_from("<I", content, at)
    near = (word + chance.choice((-1, 1))) % (1 << 32)
    struct.pack_into("<I", content, at, chance.choice((*WORDS, near, near, word ^ 1 << chance.randrange(32))))


def _alter_rows(content: bytearray, contents: dict[str, Any], chance: random.Random) -> None:
    """Change a few bytes of ids, subscribers, holes or expressions."""
    group = chance.choice(("ids", "subscribers", "holes", "texts"))
    extents = contents.get(group)
    if not isinstance(extents, list) or not extents:
        return
    start, length = _extent(contents, group, chance.randrange(len(extents)), len(content))
    for _ in range(chance.randrange(1, 5)):
        if length:
            content[start + chance.randrange(length)] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, 0x5B, 0x22))


def _plant_bomb(content: bytearray, contents: dict[str, Any], chance: random.Random) -> None:
    """Replace a block of expressions by a short one that expands to gigabytes, or to something else."""
    extents, sizes = contents.get("texts"), contents.get("text_bytes")
    if not isinstance(extents, list) or not extents or not isinstance(sizes, list) or not sizes:
        return
    number = chance.randrange(len(extents))
    block = chance.choice((_bomb(), bz2.compress(b"\xff" * 9000), b"BZh9", b""))
    extents[number] = [len(content), len(block)]
    content += block + bytes(-len(block) % 8)
    if chance.random() < 0.7 and number < len(sizes):
        sizes[number] = chance.choice((0, 9000, 1 << 20, 128 << 20, (128 << 20) + 1, 9 << 30, 1 << 63))


_BOMB: list[bytes] = []


def _bomb() -> bytes:
    """Zeros, more than a block may have, in a few hundred bytes."""
    if not _BOMB:
        compressor = bz2.BZ2Compressor()
        zeros = bytes(1 << 20)
        _BOMB.append(b"".join([*(compressor.compress(zeros) for _ in range(160)), compressor.flush()]))
    return _BOMB[0]


def _extent(contents: dict[str, Any], group: str, number: int, end: int) -> tuple[int, int]:
    """The extent of a part, if an earlier change has left one that lies in the file."""
    try:
        start, length = contents[group][number]
        if type(start) is type(length) is int and 0 <= start <= start + length <= end:
            return start, length
    except (KeyError, TypeError, ValueError, IndexError):
        pass
    return 0, 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--files", type=int, default=1 << 60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trail", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
