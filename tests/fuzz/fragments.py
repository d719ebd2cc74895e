"""Fragments with altered and forged headers through every receiver, their answers compared and cost bounded.

* Bytes of a ``.tcf`` file give a fragment or a ``FragmentError``, however they were changed.
* A receiver ends a document with an outcome, raises nothing but the errors of fragments and documents, and
  takes time and memory in proportion to the bytes of headers and bodies.
* If it says ``complete``, its answers are those of the whole document.
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from random import Random
from typing import Any

from tests.fragmenting.forged_headers import altered, fields_of
from tests.fragmenting.strategies import any_document
from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Mismatch
from twigcast import Index
from twigcast.errors import DocumentError, FragmentError
from twigcast.fragmenting import (
    DocumentJoin,
    Fragment,
    FragmentIndex,
    Outcome,
    Spans,
    Subtrees,
    decode,
    encode,
    evaluate_fragment,
    fragment,
)
from twigcast.fragmenting.fragments import HEADER_KINDS
from twigcast.fragmenting.scheduling import POLICIES

QUERIES = (
    *("//a", "//b", "//c", "/a/b", "//a[b]//c", "//b[not(a)]", "//a[.='5']", "//c[text()='x']"),
    *("/*[count(.//b) = 2]", "//a/*[2]", "//*[contains(., 'x')]", "//b[@x='5']", "//Q{u}a"),
)
LARGE = (0, 1, 999, 1 << 16, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, 1 << 60, 1 << 64, -1)
TRUSTED = {"roots", "paths", "entries"}


@dataclass(frozen=True, slots=True)
class FragmentRound:
    """One document in fragments, one of which is altered or forged; all of it follows from the seed."""

    seed: int


def check_fragments(job: FragmentRound, meter: Unmetered, done: Counter[str]) -> None:
    """Check one round; raises ``Mismatch``."""
    random = Random(job.seed)
    index = Index((text, text) for text in random.sample(QUERIES, 6))
    body = any_document(random)
    whole = index.match(body)
    cut = random.choice([Spans(elements=random.randint(1, 4)), Subtrees(random.randint(1, 4))])
    kind = random.choice(HEADER_KINDS)
    try:
        parts = list(fragment(body, doc_id="d", cut=cut, header=kind))
    except DocumentError:
        return
    at = random.randrange(len(parts))
    place: tuple[str | int, ...] = ()
    match random.randrange(3):
        case 0:
            _check_bytes(random, parts[at], meter)
            done["fragment files"] += 1
            return
        case 1:
            forgery = altered(random, parts[at])
            if forgery is None:
                return
            place, parts[at] = forgery
        case _:
            forged = _forged(random, parts[at], meter)
            if forged is None:
                return
            parts[at], place = forged, ("entries",)
    order = random.sample(parts, len(parts))
    size = sum(len(encode(part)) for part in parts)
    checked = random.random() < 0.7 or not TRUSTED.isdisjoint(place)
    with meter.bounded("other", size):
        found = _outcome(random, index, order, checked=checked)
        joined = _joined(index, order, checked=checked)
    for what, ids in (("FragmentIndex", found), ("DocumentJoin", joined)):
        if ids is not None and (whole.error is not None or ids != list(whole.ids)):
            raise Mismatch(f"answers of {what}", f"{ids} of {body!r} at {place}, expected {whole.ids}")
    done["altered headers"] += 1


def _outcome(random: Random, index: Index, parts: list[Fragment], *, checked: bool) -> list[Any] | None:
    """The answers of a document, if it is complete."""
    feed = FragmentIndex(
        index,
        schedule=random.choice([None, *POLICIES]),
        window=random.choice([1, 2, inf]),
        early=random.random() < 0.5,
        checked=checked,
    )
    outcome: Outcome | None = None
    for part in parts:
        with suppress(FragmentError):  # late
            for news in feed.add(part):
                outcome = news if isinstance(news, Outcome) and news.doc_id == "d" else outcome
    for doc_id in feed.open_documents():
        ended = feed.finish(doc_id)
        outcome = ended if doc_id == "d" else outcome
    return None if outcome is None or outcome.match is None else list(outcome.match.ids)


def _joined(index: Index, parts: list[Fragment], *, checked: bool) -> list[Any] | None:
    """The answers of a document whose fragments are evaluated one by one, if it is complete."""
    matcher, join = index.partials(), DocumentJoin("d", index, checked=checked)
    for part in parts:
        if part.doc_id == "d":
            try:
                join.add(evaluate_fragment(index, matcher, part, checked=checked))
            except (DocumentError, FragmentError) as error:
                join.fail(error)
    if join.status() != "complete" or len(matcher.candidates(join.partial)):
        return None
    return list(matcher.match(join.partial).ids)


def _check_bytes(random: Random, part: Fragment, meter: Unmetered) -> None:
    """Bytes that were changed at random are a fragment or refused."""
    data = bytearray(encode(part))
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(data))
        match random.randrange(3):
            case 0:
                data[at] = random.randrange(256)
            case 1:
                del data[at : at + random.randint(1, 9)]
            case _:
                data[at:at] = random.randbytes(random.randint(1, 9))
        if not data:
            return
    with meter.bounded("other", len(data)), suppress(FragmentError):
        decode(bytes(data))


def _forged(random: Random, part: Fragment, meter: Unmetered) -> Fragment | None:
    """A fragment whose header has other numbers and lists, with a digest that fits; ``None`` if refused."""
    fields = fields_of(part.header)
    for _ in range(random.randint(1, 3)):
        _forge(random, fields)
    data = _packed(fields, part.body)
    with meter.bounded("other", len(data)):
        try:
            return decode(data)
        except FragmentError:
            return None


def _forge(random: Random, fields: dict[str, Any]) -> None:
    match random.randrange(4):
        case 0:
            fields["number"] = random.choice(LARGE)
            fields["last"] = True
        case 1:
            digits = random.choice([10, 1000, 50_000])
            fields |= {"kind": "prefix+paths", "paths": "f" * digits + "e"}
            fields["entries"] = [[number, number - 1, "a"] for number in range(1, random.choice([2, 2000]))]
        case 2:
            depth = random.choice([1, 100, 3000])
            for run in fields["runs"]:
                run["context"] = [0, *([f"1.{number}", "a"] for number in range(1, depth))]
        case _:
            run = random.choice(fields["runs"])
            run[random.choice(["end", "place", "depth", "closes", "first"])] = random.choice(LARGE)


def _packed(fields: dict[str, Any], body: bytes) -> bytes:
    text = _json(fields)
    text = _json(fields | {"digest": blake2b(text + body, digest_size=16).hexdigest()})
    return b"TCF1" + len(text).to_bytes(4, "big") + text + body


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
