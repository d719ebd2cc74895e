"""Random bytes and random subscriptions through the compiled index, its answers checked.

    python tests/fuzz/fuzz_kernel.py --seconds 30 --seed 1

Every round builds an index, and feeds it documents that are well-formed, broken, hostile or noise; saves it,
opens it, and opens altered copies of the file.  What must hold:

* the process survives, and nothing but the documented errors is raised;
* a document is refused exactly where ``document.read`` refuses it, with the same code; ``truncated``
  counts as ``malformed``, and the place is not compared, as either reader may notice a fault a little sooner;
* the ids are those of the engine that evaluates one pattern after the other, and where lxml can read the
  document and the expression, those of lxml;
* count, batch, selection, and the saved and reopened index agree with them;
* an altered file is refused; one whose checksum was made to fit may be refused or give wrong answers, but
  neither it nor anything else crashes or hangs.

The input at hand is written to ``--trail`` before each step, so that it is known after a crash, and
``--replay`` runs it again.  Exit status: 0 if all held, 1 if not.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import faulthandler
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from unittest.mock import ANY, patch

import pyarrow as pa
from lxml import etree

from twigcast import Index, Tuning
from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError, IndexFileError, PatternError, SubscriptionError
from twigcast.filtering.reference.one_by_one import OneByOne
from twigcast.pattern import parse

HANGING = 120.0  # seconds in one round
NAMESPACES = {"p": "urn:p"}
LIMITS = DocumentLimits(
    bytes=1 << 20, depth=200, attributes=100, amplification=100.0, amplification_threshold=1 << 16
)


def main() -> int:
    arguments = _arguments()
    trail = Trail(arguments.trail)
    if arguments.replay:
        case = Case(*ast.literal_eval(arguments.replay.read_text(encoding="utf-8")))
        return _finish(_checked(lambda: replay(case, trail)), Counter())
    done: Counter[str] = Counter()
    end = time.monotonic() + arguments.seconds
    number = arguments.seed
    while time.monotonic() < end:
        faulthandler.dump_traceback_later(HANGING, exit=True)
        chance = random.Random(number)
        failure = _checked(lambda chance=chance: fuzz_round(chance, done, trail))
        if failure:
            return _finish(f"seed {number}: {failure}\ninput in {trail.path}", done)
        done["rounds"] += 1
        number += 1_000_003
    faulthandler.cancel_dump_traceback_later()
    return _finish(None, done)


class Mismatch(AssertionError):
    """An answer that is not what it must be."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The file that holds the input at hand, as a Python literal."""

    path: Path

    def leave(self, case: Case) -> None:
        self.path.write_text(repr(astuple(case)), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Case:
    """Subscriptions, the documents to match, how much an engine may remember of them, and an altered file."""

    subscriptions: list[str]
    bodies: list[bytes]
    cache_bytes: int
    file: bytes = b""


def fuzz_round(chance: random.Random, done: Counter[str], trail: Trail) -> None:
    """One index, a handful of documents, one file."""
    subscriptions = [expression(chance) for _ in range(chance.randrange(1, 40))]
    subscriptions += [broken_expression(chance) for _ in range(chance.randrange(3))]
    chance.shuffle(subscriptions)
    bodies = [document(chance) for _ in range(chance.randrange(1, 12))]
    case = Case(subscriptions, bodies, chance.choice([1, 1 << 12, 1 << 16, 1 << 20, 64 << 20]))
    check_case(case, done, trail)
    check_changes(chance, case, done, trail)
    check_files(chance, case, done, trail)


def replay(case: Case, trail: Trail) -> None:
    """What was done with a case when it was left."""
    if not case.file:
        return check_case(case, Counter(), trail)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "altered"
        path.write_bytes(case.file)
        return survive_forgery(path, case.bodies, Counter())


# What must hold


def check_case(case: Case, done: Counter[str], trail: Trail) -> None:
    """Every way of asking the index gives the answers of the plain engine and of lxml."""
    index, reference = built(case)
    expect("subscriptions", len(index), len(reference))
    answers = []
    for body in case.bodies:
        trail.leave(replace(case, bodies=[body]))
        answer = expected(reference, body)
        answers.append(answer)
        done["documents"] += 1
        done["well-formed"] += isinstance(answer, list)
        check_document(index, case.subscriptions, body, answer, done)
    trail.leave(case)
    check_batch(index, case.bodies, answers)
    check_threads(index, case.bodies, answers)


def check_document(
    index: Index, subscriptions: list[str], body: bytes, answer: list[int] | DocumentError, done: Counter[str]
) -> None:
    """``match``, ``count``, ``select`` and ``explain`` of one document."""
    match = index.match(body)
    if isinstance(answer, DocumentError):
        expect("error", told(match.error), told(answer))
        expect("error of count", told(raised(lambda: index.count(body))), told(answer))
        expect("error of ids", told(raised(lambda: match.ids)), told(answer))
        return
    expect("no error", match.error, None)
    expect("ids", list(match.ids), answer)
    expect("count", index.count(body), len(answer))
    for id in index.ids:
        selected = index.select(body, id)
        expect(f"selection of {subscriptions[id]}", bool(selected), id in answer)
        expect("ranges", [s for s in selected if not 0 <= s.start <= s.end <= len(body)], [])
        str(index.explain(body, id))
        done["selections"] += 1
    for id, truth in lxml_truths(subscriptions, index, body).items():
        expect(f"lxml on {subscriptions[id]}", id in answer, truth)
        done["lxml pairs"] += 1


def check_batch(index: Index, bodies: list[bytes], answers: list[list[int] | DocumentError]) -> None:
    """A batch with a null in it is the documents one by one."""
    batch = index.match_batch(pa.array([*bodies, None], pa.binary()))
    for row, answer in enumerate(answers):
        error = batch.errors[row]
        if isinstance(answer, DocumentError):
            expect("error in batch", told(error), told(answer))
        else:
            expect("no error in batch", error, None)
            expect("ids in batch", batch.ids(row), answer)
    expect("the null", (batch.matches[len(bodies)].as_py(), batch.errors[len(bodies)]), (None, None))


def check_threads(index: Index, bodies: list[bytes], answers: list[list[int] | DocumentError]) -> None:
    """Two threads do not disturb each other."""
    with ThreadPoolExecutor(2) as threads:
        for found, answer in zip(
            threads.map(lambda body: outcome(index, body), bodies), answers, strict=True
        ):
            expect("ids in a thread", found, told(answer) if isinstance(answer, DocumentError) else answer)


def check_changes(chance: random.Random, case: Case, done: Counter[str], trail: Trail) -> None:
    """After adding and removing, the index answers as one that never knew the others."""
    subscriptions = case.subscriptions
    index, reference = built(case)
    for _ in range(chance.randrange(1, 10)):
        id = chance.randrange(len(subscriptions) + 10)
        text = subscriptions[id] if id < len(subscriptions) else expression(chance)
        if id in index:
            index.remove(id)
            reference.remove(id)
        else:
            try:
                pattern = parse(text, NAMESPACES)
            except PatternError:
                continue
            index.add(id, text, NAMESPACES)
            reference.add(id, pattern)
        done["changes"] += 1
    for body in case.bodies:
        trail.leave(replace(case, bodies=[body]))
        answer = expected(reference, body)
        if isinstance(answer, list):
            expect("ids after changes", list(index.match(body).ids), answer)
        else:
            expect("error after changes", told(index.match(body).error), told(answer))
    try:
        index.remove("nobody")
    except SubscriptionError:
        pass
    else:
        raise Mismatch("an unknown id was removed")


def check_files(chance: random.Random, case: Case, done: Counter[str], trail: Trail) -> None:
    """A saved index answers as before; an altered file is refused."""
    index, _ = built(case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        whole = path.read_bytes()
        again = Index.open(path, limits=LIMITS)
        for body in case.bodies:
            expect("ids of the opened index", outcome(again, body), outcome(index, body))
        for _ in range(10):
            altered = altered_file(chance, whole)
            if altered == whole:
                continue
            trail.leave(replace(case, file=altered))
            other = Path(folder) / "altered"
            other.write_bytes(altered)
            survive_forgery(other, case.bodies, done)
            try:
                Index.open(other, limits=LIMITS)
            except IndexFileError:
                done["files refused"] += 1
                continue
            raise Mismatch("an altered file was opened")


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
            outcome(opened, body)


def expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Mismatch(f"{what}: {found!r} instead of {wanted!r}")


def told(error: BaseException | None) -> tuple[object, ...]:
    """What an error says that must not depend on who says it."""
    if isinstance(error, DocumentError):
        return error.code, error.line, error.column, error.offset
    return (error,)


def raised(call: Callable[[], object]) -> BaseException | None:
    try:
        call()
    except DocumentError as error:
        return error
    return None


def outcome(index: Index, body: bytes) -> object:
    match = index.match(body)
    return told(match.error) if match.error else list(match.ids)


def expected(reference: OneByOne, body: bytes) -> list[int] | DocumentError:
    match = reference.match(body)
    return match.error or [id for id in match.ids if isinstance(id, int)]


def built(case: Case) -> tuple[Index, OneByOne]:
    """The index and the plain engine of the same subscriptions, with their positions as ids."""
    subscriptions = [(id, text, NAMESPACES) for id, text in enumerate(case.subscriptions)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = Index(subscriptions, limits=LIMITS, tuning=Tuning(cache_bytes=case.cache_bytes))
    reference = OneByOne(LIMITS)
    refused = []
    for id, text, namespaces in subscriptions:
        try:
            reference.add(id, parse(text, namespaces))
        except PatternError:
            refused.append(id)
    expect("refused subscriptions", [entry.id for entry in index.refused], refused)
    return index, reference


def lxml_truths(subscriptions: list[str], index: Index, body: bytes) -> dict[int, bool]:
    """What lxml says of a document, where it reads the same document and understands the expression.

    It is not asked about document types: there it differs in defaults of attributes and in text nodes around
    entities, and that is between the two parsers.  Nor about relative paths: for us they start anywhere.
    """
    if b"<!DOCTYPE" in body or b"\0" in body:
        return {}
    try:
        tree = etree.fromstring(body, etree.XMLParser(resolve_entities=False, no_network=True)).getroottree()
    except (etree.XMLSyntaxError, ValueError):
        return {}
    truths = {}
    for id in index.ids:
        if RELATIVE.search(subscriptions[id]):
            continue
        try:
            truths[id] = tree.xpath(f"boolean({subscriptions[id]})", namespaces=NAMESPACES)
        except etree.XPathError:
            continue
    return truths


RELATIVE = re.compile(r"(^|\|)\s*[^/\s]")


# Subscriptions

ELEMENTS = ["a", "b", "c", "d", "p:a", "été", "*", "*"]
ATTRIBUTES = ["k", "l", "p:k", "*"]
WORDS = ["x", "y", "xy", "é", "1", "2.5", "-3", "", " ", "a&b", "long " * 30]


def expression(chance: random.Random) -> str:
    """An absolute XPath 1.0 expression of the language."""
    return "|".join(_absolute(chance) for _ in range(1 if chance.random() < 0.9 else 2))


def broken_expression(chance: random.Random) -> str:
    """An expression that need not be one."""
    text = list(expression(chance))
    for _ in range(chance.randrange(1, 4)):
        text[chance.randrange(len(text))] = chance.choice("/[]()@*'\"=<>|.:x1 é\n")
    return "".join(text)


def _absolute(chance: random.Random) -> str:
    steps = [_step(chance, 2) for _ in range(chance.randrange(1, 6))]
    return "".join(chance.choice(["/", "/", "//"]) + step for step in steps) + _tail(chance, 0.15)


def _relative(chance: random.Random, depth: int) -> str:
    steps = [_step(chance, depth) for _ in range(chance.randrange(1, 4))]
    path = chance.choice(["", "", ".//"]) + steps[0]
    return path + "".join(chance.choice(["/", "//"]) + step for step in steps[1:]) + _tail(chance, 0.2)


def _tail(chance: random.Random, probability: float) -> str:
    if chance.random() >= probability:
        return ""
    return chance.choice(["/text()", "/@" + chance.choice(ATTRIBUTES), "/.."])


def _step(chance: random.Random, depth: int) -> str:
    predicates = ""
    while depth and chance.random() < 0.25:
        predicates += f"[{_condition(chance, depth - 1)}]"
    return chance.choice(ELEMENTS) + predicates


def _condition(chance: random.Random, depth: int) -> str:
    kind = chance.randrange(10)
    if depth and kind == 0:
        operator = chance.choice(["and", "or"])
        return f"({_condition(chance, depth - 1)} {operator} {_condition(chance, depth - 1)})"
    if depth and kind == 1:
        return f"not({_condition(chance, depth - 1)})"
    operand = chance.choice(
        ["@" + chance.choice(ATTRIBUTES), "text()", ".", _relative(chance, depth), _relative(chance, depth)]
    )
    comparison = chance.choice(["=", "!=", "<", "<=", ">", ">="])
    number = chance.choice(["0", "1", "2", "2.5", "-3", "30"])
    match kind:
        case 2:
            return f"contains({operand}, '{chance.choice(WORDS)}')"
        case 3:
            return f"starts-with({operand}, '{chance.choice(WORDS)}')"
        case 4:
            return f"string-length({operand}) {comparison} {number}"
        case 5:
            return f"count({_relative(chance, depth)}) {comparison} {number}"
        case 6:
            return f"{operand} {comparison} {number}"
        case 7:
            return f"'{chance.choice(WORDS)}' {comparison} {operand}"
        case 8:
            return f"{operand} = '{chance.choice(WORDS)}'"
        case _:
            return _relative(chance, depth)


# Documents


def document(chance: random.Random) -> bytes:
    """A document of some kind: as it should be, hostile, altered, or noise."""
    kind = chance.random()
    if kind < 0.35:
        return encoded(chance, well_formed(chance))
    if kind < 0.55:
        return hostile(chance)
    if kind < 0.95:
        body = encoded(chance, well_formed(chance)) if chance.random() < 0.8 else hostile(chance)
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            body = mutated(chance, body)
        return body
    return chance.randbytes(chance.randrange(200))


def well_formed(chance: random.Random) -> str:
    """A well-formed document with everything that can stand between tags."""
    declarations = chance.choice(["", "", " xmlns='urn:q'"]) + " xmlns:p='urn:p'"
    return f"<a{declarations}{_attributes(chance)}>{_content(chance, chance.randrange(1, 7))}</a>"


def _content(chance: random.Random, depth: int) -> str:
    return "".join(_item(chance, depth) for _ in range(chance.randrange(5)))


def _item(chance: random.Random, depth: int) -> str:
    if depth and chance.random() < 0.6:
        name = chance.choice(ELEMENTS[:-2])
        if chance.random() < 0.05:
            return f"<{name} xmlns='urn:p'>{_content(chance, depth - 1)}</{name}>"
        if chance.random() < 0.2:
            return f"<{name}{_attributes(chance)}/>"
        return f"<{name}{_attributes(chance)}>{_content(chance, depth - 1)}</{name}>"
    word = chance.choice(WORDS)
    escaped = word.replace("&", "&amp;")
    return chance.choice(
        [
            escaped,
            escaped,
            f"<![CDATA[{word}]]>",
            "<!-- x -->",
            "<?pi x?>",
            "&#233;",
            "&lt;",
            "\r\n",
            "&#x1F600;",
        ]
    )


def _attributes(chance: random.Random) -> str:
    names = chance.sample(["k", "l", "p:k"], chance.choice([0, 0, 1, 2]))
    return "".join(f' {name}="{chance.choice(WORDS).replace("&", "&amp;")}"' for name in names)


def encoded(chance: random.Random, text: str) -> bytes:
    """The text in one of the encodings a parser knows, or says it does."""
    encoding = chance.choice(
        [None] * 6 + ["utf-8", "utf-8-sig", "utf-16", "latin-1", "us-ascii", "utf-16-le"]
    )
    if encoding is None:
        return text.encode()
    told_encoding = {"utf-8-sig": "utf-8", "latin-1": "iso-8859-1", "utf-16-le": "utf-16"}.get(
        encoding, encoding
    )
    return f"<?xml version='1.0' encoding='{told_encoding}'?>{text}".encode(encoding, "xmlcharrefreplace")


def hostile(chance: random.Random) -> bytes:
    """A document that wants too much of its reader."""
    size = chance.choice([1, 10, 100, 300, 1000])
    entities = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, chance.randrange(2, 9)))
    return chance.choice(
        [
            "<a>" * size + "</a>" * size,
            "<a>" * size * 20,
            "<a><b>" + "<a k='x'>" * size + "x" + "</a>" * size + "</b></a>",
            f"<a k='{'x' * size * 500}'><b>{'y' * size * 500}</b></a>",
            f"<a {' '.join(f'k{n}={{n}}' for n in range(size))}/>",
            f"<{'a' * size * 50}/>",
            f"<a>{'<b/>' * size * 5}{'<c>x</c>' * size}</a>",
            f"<!DOCTYPE a [<!ENTITY e0 'x'>{entities}]><a><b>&e1;</b></a>",
            f"<!DOCTYPE a [<!ENTITY e0 '<b k=\"x\">y</b>'>{entities}]><a>&e1;</a>",
            "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>",
            "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///dev/null'>]><a>&e;</a>",
            "<!DOCTYPE a SYSTEM 'http://localhost:9/none.dtd'><a><b>&e;</b></a>",
            "<!DOCTYPE a [<!ENTITY % p SYSTEM 'http://localhost:9/none'> %p;]><a><b/></a>",
            "<!DOCTYPE a [<!ENTITY % p '<!ENTITY e \"x\">'> %p;]><a>&e;</a>",
            "<!DOCTYPE a [<!ENTITY e '<b>'>]><a>&e;</b></a>",
            "<!DOCTYPE a [<!ATTLIST b k CDATA 'x' l NMTOKEN #IMPLIED>]><a><b l=' y  '/></a>",
            "<!DOCTYPE a [<!ENTITY e 'x'>]><a k='&e;&e;'><b>&e;<c/>&e;</b></a>",
            "<a xmlns:p='urn:p' p:k='x'><p:a xmlns:q='urn:p' q:k='y' p:l='z'/></a>",
            "<a xmlns:p='urn:p' xmlns:q='urn:p'><b p:k='x' q:k='y'/></a>",
            "<a><p:b/></a>",
            "<a xmlns:p=''/>",
            "<a xml:lang='en' xmlns='urn:p'><b xmlns=''/></a>",
            "<a>\ufffe</a>",
            "<a>]]></a>",
            "<a><b></a></b>",
            "<a/><a/>",
            " <?xml version='1.0'?><a/>",
            "<?xml version='1.1'?><a/>",
            "<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>",
            "<?xml version='1.0' encoding='no-such'?><a/>",
            "",
            " ",
        ]
    ).encode("utf-8", "surrogatepass")


def mutated(chance: random.Random, body: bytes) -> bytes:
    """The bytes with one thing done to them."""
    at = chance.randrange(len(body) + 1)
    to = min(len(body), at + chance.choice([1, 1, 2, 8, 64]))
    other = encoded(chance, well_formed(chance))
    return chance.choice(
        [
            lambda: body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :],
            lambda: (
                body[:at] + bytes([body[at] ^ (1 << chance.randrange(8))]) + body[at + 1 :]
                if at < len(body)
                else b""
            ),
            lambda: body[:at],
            lambda: body[at:],
            lambda: body[:at] + body[to:],
            lambda: body[:to] + body[at:],
            lambda: body[:at] + chance.randbytes(chance.randrange(1, 9)) + body[at:],
            lambda: body[:at] + other[chance.randrange(len(other)) :],
            lambda: body[:at] + chance.choice(TOKENS) + body[at:],
            lambda: body[:at] + chance.choice(TOKENS) + body[to:],
            lambda: body.replace(chance.choice(TOKENS), chance.choice(TOKENS), 1),
        ]
    )()


TOKENS = [
    *[
        b"<",
        b">",
        b"/>",
        b"</",
        b"</a>",
        b"<a>",
        b"<b/>",
        b"&",
        b";",
        b"&lt;",
        b"&#0;",
        b"&#x110000;",
        b"&e1;",
    ],
    *[
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?",
        b"?>",
        b"<!DOCTYPE a [",
        b"]>",
        b"'",
        b'"',
        b"=",
        b" k='x'",
    ],
    *[
        b"\0",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\r",
        b"p:",
    ],
    *[b" xmlns='urn:q'", b" xmlns:p=''", b" xmlns:xml='urn:x'", b"<?xml version='1.0'?>", b"a" * 5000],
]


def altered_file(chance: random.Random, whole: bytes) -> bytes:
    """The bytes of an index file after something happened to them."""
    at = chance.randrange(len(whole))
    word = at & ~3
    number = int.from_bytes(whole[word : word + 4], "little") + chance.choice(
        [-1, 1, 2, 1 << 8, 1 << 16, 1 << 31]
    )
    other = chance.choice([number, number, chance.randrange(8), (1 << 32) - 1]) & ((1 << 32) - 1)
    return chance.choice(
        [
            lambda: whole[:word] + other.to_bytes(4, "little") + whole[word + 4 :],
            lambda: whole[:word] + other.to_bytes(4, "little") + whole[word + 4 :],
            lambda: whole[:word] + other.to_bytes(4, "little") + whole[word + 4 :],
            lambda: whole[:at],
            lambda: whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :],
            lambda: whole[:at] + b"\xff" * min(4, len(whole) - at) + whole[at + 4 :],
            lambda: whole[:at] + chance.randbytes(8) + whole[at + 8 :],
            lambda: whole[at:] + whole[:at],
            lambda: whole + chance.randbytes(8),
            lambda: b"",
        ]
    )()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Random bytes and subscriptions through the compiled index.")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=1, help="where randomness starts")
    parser.add_argument(
        "--trail",
        type=Path,
        default=Path(tempfile.gettempdir()) / "twigcast-fuzz-input.txt",
        help="file for the input at hand",
    )
    parser.add_argument("--replay", type=Path, help="run the input of this file, as --trail wrote it")
    return parser.parse_args()


def _checked(run: Callable[[], None]) -> str | None:
    try:
        run()
    except Mismatch as mismatch:
        return str(mismatch)
    except Exception as error:
        import traceback

        traceback.print_exc()
        return f"{type(error).__name__}: {error}"
    return None


def _finish(failure: str | None, done: Counter[str]) -> int:
    print(", ".join(f"{count} {what}" for what, count in sorted(done.items())))
    print(failure or "all held")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
