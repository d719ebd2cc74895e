"""What must hold for a splitter and a hostile file of records.

* Nothing is raised; every record is the bytes of its range, and what records inherit is bounded by the file.
* The pieces in which the file is fed do not matter.
* If the file can be read, the records are its outermost elements of the name, and each of them, read by
  itself with its prolog, is the element that it is in the file.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Mismatch, expect
from tests.fuzz.documents import ELEMENTS, document
from twigcast.document import (
    Document,
    DocumentLimits,
    Element,
    Node,
    Record,
    RecordSplitter,
    descendants,
    joined,
    multibyte_codec,
    read,
    string_value,
)
from twigcast.errors import DocumentError

LIMITS = DocumentLimits(amplification_threshold=1 << 20)
RECORD_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class RecordCase:
    """A file, the name of its records, and the size of the pieces in which it is fed."""

    body: bytes
    name: str
    piece: int


def record_case(seed: int) -> RecordCase:
    """The case of a seed."""
    chance = random.Random(seed)
    body = document(chance, chance.choice([1, 5, 20, 100]))
    return RecordCase(body, chance.choice(ELEMENTS), chance.choice([1, 7, 100, 1 << 16]))


def check_records(case: RecordCase, meter: Unmetered, done: Counter[str]) -> None:
    """All that must hold for a case; raises ``Mismatch``."""
    with meter.bounded("other", len(case.body)):
        records = split(case, len(case.body) or 1)
        in_pieces = split(case, case.piece)
    # where an error outside of records is noticed depends on the pieces
    expect(
        "records fed in pieces", *([each for each in found if each.body] for found in (in_pieces, records))
    )
    for record in records:
        if record.body is not None:
            expect("bytes of a record", record.body, case.body[record.start : record.end])
    inherited = sum(len(record.prolog or b"") for record in records)
    most = max(DocumentLimits().amplification_threshold, 100 * len(case.body))
    expect("inherited bytes", inherited <= most, True, f"{inherited:,} for {len(case.body):,}")
    done["files of records"] += 1
    try:
        with meter.bounded("read", len(case.body)):
            whole = read(case.body, LIMITS)
    except DocumentError:
        return
    if whole.encoding.startswith("utf-16") or multibyte_codec(case.body):
        return  # a splitter refuses the one, and offsets of the other are not those of its characters
    with meter.bounded("other", len(case.body)):
        check_elements(case, whole, records, done)


def check_elements(case: RecordCase, whole: Document, records: list[Record], done: Counter[str]) -> None:
    """Compare the records of a file that can be read with its elements."""
    expect("errors of records", [record.error for record in records if record.error], [])
    found = outermost(whole, case.name)
    ranges = [(record.start, record.end) for record in records]
    expect("ranges of records", ranges, [(each.start, each.end) for each in found])
    for record, element in zip(records, found, strict=True):
        alone = read(joined(record.prolog, record.body or b""), LIMITS).root
        if shape(alone) != shape(element):
            raise Mismatch("record", f"{shape(alone)!r} instead of {shape(element)!r}")
        done["records"] += 1


def split(case: RecordCase, piece: int) -> list[Record]:
    """The records of a file that is fed in pieces."""
    splitter = RecordSplitter(case.name, limit=RECORD_LIMIT)
    found: list[Record] = []
    for start in range(0, len(case.body), piece):
        found += splitter.feed(case.body[start : start + piece])
    return [*found, *splitter.finish()]


def outermost(whole: Document, name: str) -> list[Element]:
    """The elements that are written with this name in the file, and lie in no other of them."""
    found: list[Element] = []
    for each in descendants(whole):
        is_written = not whole.body.startswith(b"&", each.start)
        written = f"{each.prefix}:{each.local}" if each.prefix else each.local
        if is_written and written == name and (not found or each.start >= found[-1].end):
            found.append(each)
    return found


def shape(root: Node) -> list[object]:
    """What a node and all in it say, as a flat list: names, values, and where elements end."""
    found: list[object] = []
    waiting: list[Node | None] = [root]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Element):
            found.append(node and (type(node).__name__, string_value(node)))
            continue
        attributes = [(each.namespace, each.local, each.value) for each in node.attributes]
        found.append((node.namespace, node.local, attributes))
        waiting += [None, *reversed(node.children)]
    return found
