"""What must hold for an index, some subscriptions and some documents.

* Nothing but the documented errors is raised, and every step stays within its bound (``bounds.py``).
* The index refuses exactly the subscriptions that ``parse`` refuses.
* A document is refused exactly where ``document.read`` refuses it, with the same code at the same place, and
  both give expat's verdict but for the deliberate refusals (``tests/conformance/verdicts.py``).
* The ids are those that the evaluator finds one pattern after the other, and where lxml can read the document
  and the expression, those of lxml.  A subscription is undecided only if the evaluator exceeds its limit too.
* Count, batch, selection, and the index after changes, saved and opened agree with them.
* The structure of a document is that of the definition, and what it tells is true; an altered structure whose
  checksum was made to fit is refused or harmless.
* An altered file is refused; one whose checksum was made to fit may be refused or give wrong answers, but
  neither it nor anything else crashes or hangs.
"""

from __future__ import annotations

import contextlib
import random
import re
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import ANY, patch

import pyarrow as pa
from lxml import etree

from tests.conformance.verdicts import DELIBERATE, judge
from tests.fuzz.bounds import Unmetered
from tests.fuzz.documents import document
from tests.fuzz.subscriptions import NAMESPACES, broken_expression, expression
from twigcast import Index, Tuning
from twigcast.document import AttributeDetail, DocumentLimits, Structure, descendants, read
from twigcast.errors import (
    DocumentError,
    EvaluationError,
    IndexFileError,
    PatternError,
    StructureError,
    SubscriptionError,
)
from twigcast.pattern import Pattern, matches, parse, render

LIMITS = DocumentLimits(
    bytes=1 << 20,
    depth=200,
    attributes=100,
    amplification=100.0,
    amplification_threshold=1 << 16,
    work_threshold=20_000,
)
SELECTIONS = 4  # compared for each document; each one reads it again


class Mismatch(AssertionError):
    """An answer that is not what it must be; ``what`` names the comparison, without its values."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(f"{what}: {detail}")
        self.what = what


@dataclass(frozen=True, slots=True)
class Answer:
    """The ids that match a document, those that the evaluator could not decide in its limit, or an error.

    ``size`` is about the number of bytes of the document with its entities expanded.  ``expands`` says that
    it is not far from the limit on expansion, which the kernel may then apply although ``read`` does not: in
    the kernel expat counts the texts of entities, and ``read`` counts what comes out of them.
    """

    ids: list[int]
    unknown: frozenset[int]
    error: DocumentError | None
    size: int
    expands: bool

    def compare(self, what: str, found: Any) -> None:
        """Raise ``Mismatch`` unless the ids, or what the error says, are those of this answer."""
        if isinstance(found, list):
            found = [id for id in found if id not in self.unknown]
        if self.expands and not isinstance(found, list) and found[0] == "entity-expansion":
            return
        wanted: object = told(self.error) if self.error else self.ids
        if found != wanted:
            kinds = ["ids" if isinstance(each, list) else str(each[0]) for each in (found, wanted)]
            raise Mismatch(f"{what} ({' instead of '.join(kinds)})", f"{found!r} instead of {wanted!r}")


@dataclass(frozen=True, slots=True)
class Case:
    """Subscriptions, the documents to match, how much an engine may cache, and the seed of all changes."""

    subscriptions: list[str]
    bodies: list[bytes]
    cache_bytes: int
    seed: int

    @property
    def length(self) -> int:
        """Characters of all subscriptions."""
        return sum(map(len, self.subscriptions))


def case(seed: int) -> Case:
    """The case of a seed: many subscriptions, or many documents, or few of both and large documents."""
    chance = random.Random(seed)
    kind = chance.random()
    if kind < 0.5:
        scale, most, bodies = chance.choice([1, 5, 10, 20]), 40, chance.randrange(1, 10)
    elif kind < 0.85:
        scale, most, bodies = chance.choice([1, 5, 10]), 5, chance.randrange(20, 80)
    else:
        scale, most, bodies = chance.choice([100, 300, 1000, 3000]), 5, chance.randrange(1, 3)
    subscriptions = [expression(chance) for _ in range(chance.randrange(1, most))]
    subscriptions += [broken_expression(chance) for _ in range(chance.randrange(3))]
    chance.shuffle(subscriptions)
    cache_bytes = chance.choice([1, 1 << 12, 1 << 16, 1 << 20, 64 << 20])
    return Case(subscriptions, [document(chance, scale) for _ in range(bodies)], cache_bytes, seed)


def check(case: Case, meter: Unmetered, done: Counter[str]) -> None:
    """All that must hold for a case; raises ``Mismatch``.  ``done`` counts what was compared."""
    patterns = parsed(case, meter)
    index = built(case, patterns, meter)
    answers = [check_document(case, index, patterns, body, meter, done) for body in case.bodies]
    check_batch(case, index, answers, meter)
    check_changes(case, patterns, meter, done)
    check_files(case, index, meter, done)


# Subscriptions


def parsed(case: Case, meter: Unmetered) -> dict[int, Pattern]:
    """The patterns of all subscriptions that are in the language, by their place in the case."""
    patterns = {}
    for id, text in enumerate(case.subscriptions):
        with meter.bounded("build", len(text)), contextlib.suppress(PatternError):
            patterns[id] = parse(text, NAMESPACES)
            expect("canonical text", parse(render(patterns[id])), patterns[id])
    return patterns


def built(case: Case, patterns: dict[int, Pattern], meter: Unmetered) -> Index:
    """The index of the case, which has refused what ``parse`` has refused."""
    subscriptions = [(id, text, NAMESPACES) for id, text in enumerate(case.subscriptions)]
    with meter.bounded("build", case.length), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = Index(subscriptions, limits=LIMITS, tuning=Tuning(cache_bytes=case.cache_bytes))
    expect("accepted subscriptions", index.ids, list(patterns))
    expect("refused subscriptions", len(index.refused), len(case.subscriptions) - len(patterns))
    return index


# Documents


def check_document(
    case: Case,
    index: Index,
    patterns: dict[int, Pattern],
    body: bytes,
    meter: Unmetered,
    done: Counter[str],
) -> Answer:
    """``match``, ``count``, ``select`` and ``explain`` of one document; returns the answer."""
    answer = expected(patterns, body, meter)
    with matching(case, answer.size, meter):
        match = index.match(body)
        count = outcome(lambda: index.count(body))
    done["documents"] += 1
    done["undecided"] += len(answer.unknown)
    with meter.bounded("other", len(body)):
        check_verdict(body, answer)
    answer.compare("match", told(match.error) if match.error else match.ids)
    if match.error:
        answer.compare("count", count)
        return answer
    done["accepted"] += 1
    expect("count", count, len(match.ids))
    expect("undecided", {each.id for each in match.undecided} - answer.unknown, set())
    check_selections(case, index, body, answer, meter, done)
    check_structure(case, index, body, answer, meter, done)
    with meter.bounded("other", len(body) * len(patterns)):
        for id, truth in lxml_truths(case.subscriptions, patterns, body).items():
            expect("lxml", (case.subscriptions[id], id in match.ids), (case.subscriptions[id], truth))
            done["compared with lxml"] += 1
    return answer


def expected(patterns: dict[int, Pattern], body: bytes, meter: Unmetered) -> Answer:
    """The answer of the evaluator, pattern by pattern."""
    try:
        with meter.bounded("read", len(body)):
            tree = read(body, LIMITS)
    except DocumentError as error:
        return Answer([], frozenset(), error, len(body), error.code == "entity-expansion")
    size = len(body) + 10 * sum(1 for _ in descendants(tree))
    ids, unknown = [], []
    for id, pattern in patterns.items():
        try:
            with meter.bounded("evaluate", size):
                if matches(pattern, tree, LIMITS.steps(len(body))):
                    ids.append(id)
        except EvaluationError:
            unknown.append(id)
    return Answer(ids, frozenset(unknown), None, size, expands(body))


def expands(body: bytes) -> bool:
    """Whether what comes out of the entities of a document is at least a twentieth of the limit."""
    judgement = judge(body)
    return judgement.entities > 0 and 20 * judgement.expanded > LIMITS.amplification_threshold


def check_verdict(body: bytes, answer: Answer) -> None:
    """Expat refuses what is refused and accepts the rest, but for the deliberate refusals."""
    judgement = judge(body)
    if answer.error is None:
        expect("verdict of expat", judgement.error, "")
    elif not judgement.error:
        reasons = [refusal.code for refusal in DELIBERATE if refusal.evidence(judgement, body, LIMITS)]
        code = answer.error.code
        expect("deliberate refusal", code in reasons, True, f"{code} instead of {reasons}")


def check_selections(
    case: Case, index: Index, body: bytes, answer: Answer, meter: Unmetered, done: Counter[str]
) -> None:
    """A subscription selects something if it matches, and what it selects is where it says."""
    plain = b"\0" not in body and b"<!DOCTYPE" not in body
    known = [id for id in index.ids if id not in answer.unknown]
    for id in random.Random(case.seed).sample(known, min(SELECTIONS, len(known))):
        text = case.subscriptions[id]
        try:
            with meter.bounded("evaluate", answer.size):
                selected = index.select(body, id)
                str(index.explain(body, id))
        except EvaluationError:
            continue
        expect("selection", (text, bool(selected)), (text, id in answer.ids))
        for part in selected:
            expect("range", 0 <= part.start <= part.end <= len(body), True, f"{text}: {part}")
            if plain and part.kind == "element":
                inside = body[part.start : part.end]
                expect("element", inside[:1] + inside[-1:], b"<>", f"{text}: {part}")
        done["selections"] += 1


def check_structure(
    case: Case, index: Index, body: bytes, answer: Answer, meter: Unmetered, done: Counter[str]
) -> None:
    """The structure of a document, what it tells of the subscriptions, and a forged one."""
    chance = random.Random(case.seed)
    detail: AttributeDetail = chance.choice(["count", "names"])
    with matching(case, answer.size, meter):
        structure = index.match_with_structure(body, attributes=detail).structure
        told_by_it = index.match_structure(structure or b"")
    with meter.bounded("read", answer.size):
        tree = Structure.of(read(body, LIMITS), detail)
        small = tree.elements <= LIMITS.bytes // 4
        expect("structure", structure, tree.encode() if small else None)
    if structure is None:
        return
    certain, left_open = set(told_by_it.ids), set(told_by_it.open_ids)
    expect("certain by structure", certain - {*answer.ids, *answer.unknown}, set())
    expect("refuted by structure", set(answer.ids) - certain - left_open, set())
    forged = bytearray(structure[:-4])
    for _ in range(chance.randrange(1, 4)):
        forged[chance.randrange(len(forged))] = chance.randrange(256)
    data = bytes(forged) + zlib.crc32(forged).to_bytes(4, "little")
    with matching(case, answer.size, meter):
        error = index.match_structure(data).error
    with meter.bounded("read", answer.size):
        expect("forged structure", error and error.code, decoded(data))
    done["structures"] += 1


def decoded(data: bytes) -> str | None:
    """The code of the error of bytes that are no structure."""
    try:
        Structure.decode(data, limits=LIMITS)
    except StructureError as error:
        return error.code
    return None


def check_batch(case: Case, index: Index, answers: list[Answer], meter: Unmetered) -> None:
    """A batch with a null in it, and two threads, give the answers of the documents one by one."""
    size, rows = sum(answer.size for answer in answers), len(answers)
    with matching(case, size, meter):
        batch = index.match_batch(pa.array([*case.bodies, None], pa.binary()))
    for row, answer in enumerate(answers):
        answer.compare("batch", told(batch.errors[row]) if batch.errors[row] else batch.ids(row))
    expect("null in a batch", (batch.matches[rows].as_py(), batch.errors[rows]), (None, None))
    with meter.bounded("other", size), ThreadPoolExecutor(2) as threads:
        for answer, found in zip(answers, threads.map(partial(matched, index), case.bodies), strict=True):
            answer.compare("threads", found)


# Changes and files


def check_changes(case: Case, patterns: dict[int, Pattern], meter: Unmetered, done: Counter[str]) -> None:
    """After adding and removing, the index answers as one that never knew the others."""
    chance = random.Random(case.seed)
    index, patterns = built(case, patterns, meter), dict(patterns)
    for _ in range(chance.randrange(1, 10)):
        id = chance.randrange(len(case.subscriptions) + 10)
        text = case.subscriptions[id] if id < len(case.subscriptions) else expression(chance)
        if id in index:
            index.remove(id)
            del patterns[id]
        else:
            with contextlib.suppress(PatternError):
                patterns[id] = parse(text, NAMESPACES)
                index.add(id, text, NAMESPACES)
        done["changes"] += 1
    expect("ids after changes", index.ids, list(patterns))
    for body in case.bodies:
        answer = expected(patterns, body, meter)
        with matching(case, answer.size, meter):
            found = matched(index, body)
        answer.compare("match after changes", found)
    expect("removing nobody", outcome(lambda: index.remove("nobody")), ("unknown-id",))


def check_files(case: Case, index: Index, meter: Unmetered, done: Counter[str]) -> None:
    """A saved index answers as before; an altered file is refused."""
    chance = random.Random(case.seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        meter.bounded("other", case.length + sum(map(len, case.bodies))),
    ):
        path, other = Path(folder) / "index", Path(folder) / "altered"
        index.save(path)
        whole = path.read_bytes()
        again = Index.open(path, limits=LIMITS)
        for body in case.bodies:
            expect("opened index", matched(again, body), matched(index, body))
        for _ in range(10):
            altered = altered_file(chance, whole)
            if altered == whole:
                continue
            other.write_bytes(altered)
            survive_forgery(other, case.bodies, done)
            expect("altered file", isinstance(outcome(lambda: Index.open(other, limits=LIMITS)), tuple), True)
            done["files refused"] += 1


def survive_forgery(path: Path, bodies: list[bytes], done: Counter[str]) -> None:
    """Use a file as if its checksum were right: whatever Python raises, the process goes on."""
    try:
        with patch("twigcast.filtering.segment_file.zlib.crc32", return_value=ANY):
            opened = Index.open(path, limits=LIMITS)
    except IndexFileError:
        done["forgeries refused"] += 1
        return
    done["forgeries opened"] += 1
    for body in bodies:
        with contextlib.suppress(Exception):
            matched(opened, body)


def altered_file(chance: random.Random, whole: bytes) -> bytes:
    """The bytes of an index file after something happened to them."""
    at = chance.randrange(len(whole))
    word = at & ~3
    number = int.from_bytes(whole[word : word + 4], "little")
    number += chance.choice([-1, 1, 2, 1 << 8, 1 << 16, 1 << 31])
    other = chance.choice([number, number, chance.randrange(8), (1 << 32) - 1]) & ((1 << 32) - 1)
    match chance.randrange(10):
        case 0:
            return whole[:at]
        case 1:
            return whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :]
        case 2:
            return whole[:at] + b"\xff" * min(4, len(whole) - at) + whole[at + 4 :]
        case 3:
            return whole[:at] + chance.randbytes(8) + whole[at + 8 :]
        case 4:
            return whole[at:] + whole[:at]
        case 5:
            return whole + chance.randbytes(8)
        case 6:
            return b""
        case _:
            return whole[:word] + other.to_bytes(4, "little") + whole[word + 4 :]


# Oracles and comparisons

_RELATIVE = re.compile(r"(^|\|)\s*[^/\s]")
_SECTION = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_NUMBERS_OF_LIBXML2 = re.compile(rb"\d[eE]|\+|\d{15}")


def lxml_truths(texts: list[str], patterns: dict[int, Pattern], body: bytes) -> dict[int, bool]:
    """What lxml says of a document, where it reads the same document and understands the expression.

    It is not asked about document types: there it differs in defaults of attributes and in text nodes around
    entities.  Nor about relative paths, which for us start anywhere, nor about numbers with an exponent or a
    sign, which only libxml2 accepts.  Empty CDATA sections are left out: libxml2 makes empty text nodes.
    """
    if b"<!DOCTYPE" in body or b"\0" in body or _NUMBERS_OF_LIBXML2.search(body):
        return {}
    body = _SECTION.sub(lambda section: b"" if section[1] == b"" else section[0], body)
    try:
        tree = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True)).getroottree()
    except (etree.XMLSyntaxError, ValueError):
        return {}
    truths = {}
    for id in patterns:
        if id < len(texts) and not _RELATIVE.search(texts[id]):
            with contextlib.suppress(etree.XPathError):
                truths[id] = tree.xpath(f"boolean({texts[id]})", namespaces=NAMESPACES)
    return truths


@contextlib.contextmanager
def matching(case: Case, size: int, meter: Unmetered) -> Iterator[None]:
    """The bound of one match: each byte may be looked at, and the evaluator used, for each subscription."""
    work = size * max(1.0, case.length / 100) + LIMITS.steps(size) * len(case.subscriptions)
    with meter.bounded("match", work, memory=8 * case.cache_bytes):
        yield


def expect(what: str, found: object, wanted: object, detail: str = "") -> None:
    if found != wanted:
        raise Mismatch(what, detail or f"{found!r} instead of {wanted!r}")


def told(error: BaseException | None) -> tuple[object, ...]:
    """What an error says that must not depend on who says it."""
    if isinstance(error, DocumentError):
        return error.code, error.line, error.column, error.offset
    return (error,)


def matched(index: Index, body: bytes) -> list[object] | tuple[object, ...]:
    match = index.match(body)
    return told(match.error) if match.error else match.ids


def outcome(call: Callable[[], object]) -> object:
    """What a call returns, or what its documented error says."""
    try:
        return call()
    except DocumentError as error:
        return told(error)
    except (SubscriptionError, IndexFileError) as error:
        return (error.code,)
