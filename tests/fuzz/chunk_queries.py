"""What must hold for queries of any kind on the chunks of a document.

* A plan and a run raise nothing: a bad query is refused, a costly one fails, and the others are answered.
* The answers of the evaluator, of lxml in its place, and of parts of any size are what the evaluator finds in
  the whole document; the number of nodes or the value that lxml finds for its own queries is that of lxml.
* Work is bounded: by the steps of the evaluator, and by a bound that is found before lxml is asked.
"""

from __future__ import annotations

import contextlib
import random
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from lxml import etree

from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import expect
from tests.fuzz.documents import well_formed
from tests.fuzz.subscriptions import NAMESPACES, broken_expression, expression
from twigcast.chunking import Answer, ChunkQuery, plan, profile, run_queries
from twigcast.chunking.answers import kind_of
from twigcast.chunking.evaluation.part_trees import PartTrees
from twigcast.document import DocumentLimits, read
from twigcast.errors import DocumentError, EvaluationError
from twigcast.pattern import evaluate, select

LIMITS = DocumentLimits(
    bytes=1 << 20,
    depth=200,
    attributes=100,
    amplification_threshold=1 << 16,
    work_threshold=100_000,
    part_threshold=16 << 20,
)
REFUSALS = {"query", "syntax", "unsupported", "unbound-prefix", "too-complex", "character", "looks-outside"}
FAILURES = {"too-costly", "query-failed", "parts-too-large"}
SIGNS = [
    "(",
    ")",
    "[",
    "]",
    "'",
    '"',
    "-",
    "|",
    "/",
    "//",
    "$",
    "@",
    "::",
    "..",
    "*",
    " and ",
    ",",
    "\0",
    "é",
]


@dataclass(frozen=True, slots=True)
class ChunkCase:
    """Queries with their engines, a document, and the bytes of a part."""

    queries: list[tuple[str, str]]
    body: bytes
    part_bytes: int


def chunk_case(seed: int) -> ChunkCase:
    """The case of a seed."""
    chance = random.Random(seed)
    queries = [(query(chance), chance.choice(["auto", "auto", "select", "lxml"])) for _ in range(12)]
    body = well_formed(chance, chance.choice([1, 5, 20, 100]))
    return ChunkCase(queries, body, chance.choice([1, 60, 1 << 20]))


def query(chance: random.Random) -> str:
    """A subscription, a value, or what is left of one after something happened to it."""
    kind = chance.random()
    text = expression(chance)
    if kind < 0.15:
        return f"{chance.choice(['count', 'not', 'string', 'boolean', 'sum'])}({text})"
    if kind < 0.2:
        return broken_expression(chance)
    if kind < 0.35:
        at = chance.randrange(len(text) + 1)
        return text[:at] + chance.choice(SIGNS) * chance.choice([1, 1, 2, 50, 5000]) + text[at:]
    return text


def check_chunks(case: ChunkCase, meter: Unmetered, done: Counter[str]) -> None:
    """All that must hold for a case; raises ``Mismatch``."""
    queries = [
        ChunkQuery(id, text or " ", NAMESPACES, engine=engine)  # type: ignore[arg-type]
        for id, (text, engine) in enumerate(case.queries)
    ]
    size = len(case.body)
    with meter.bounded("other", size + sum(len(query.text) for query in queries)):
        scheme = plan(queries, profile=profile([case.body]))
    for id, error in scheme.refused:
        expect(
            "code of a refusal", error.code in REFUSALS, True, f"{queries[int(str(id))].text!r}: {error!r}"
        )
        done["queries refused"] += 1
    work = size + LIMITS.steps(size) * len(queries)
    with meter.bounded("evaluate", work):
        cut = run_queries(case.body, scheme, part_bytes=case.part_bytes, limits=LIMITS)
        answers: dict[Hashable, list[Answer]] = {}
        for answer in cut:
            answers.setdefault(answer.query, []).append(answer)
    try:
        whole = read(case.body, LIMITS)
    except DocumentError:
        return
    if cut.error is not None:
        return
    done["documents in chunks"] += 1
    refused = {id for id, _ in scheme.refused}
    for query in queries:
        failure = cut.failures.get(query.id)
        if failure is not None:
            expect("code of a failure", failure.code in FAILURES, True, f"{query.text!r}: {failure!r}")
            done[f"queries {failure.code}"] += 1
        elif query.id not in refused:
            check_answers(query, answers.get(query.id, []), whole, meter, done)


def check_answers(
    query: ChunkQuery, found: list[Answer], whole: Any, meter: Unmetered, done: Counter[str]
) -> None:
    """Compare the answers of a query with those on the whole document."""
    if query.runs_on_lxml:
        check_lxml(query, found, whole.body, done)
        return
    with contextlib.suppress(EvaluationError), meter.bounded("evaluate", LIMITS.steps(len(whole.body))):
        steps = LIMITS.steps(len(whole.body))
        if query.value is not None:
            value = repr(evaluate(query.value, whole, steps))
            expect("value", [repr(each.content) for each in found], [value], query.text)
        else:
            assert query.pattern is not None
            nodes = select(query.pattern, whole, steps)
            wanted = Counter(_place(kind_of(node), node.start, node.end) for node in nodes)
            own = Counter(_place(each.kind, each.start, each.end) for each in found)
            expect("answers of chunks", own, wanted, f"{query.text!r}: {own} instead of {wanted}")
        done["queries answered"] += 1


def _place(kind: str, start: int, end: int) -> tuple[str, int, int]:
    """What is compared of an answer; a chunk has nothing after the root element."""
    return (kind, start, 0 if kind == "document" else end)


def check_lxml(query: ChunkQuery, found: list[Answer], body: bytes, done: Counter[str]) -> None:
    """Compare what lxml finds in the parts with what it finds in the whole document, if it could be asked."""
    trees = PartTrees(body, LIMITS)
    with contextlib.suppress(etree.LxmlError, UnicodeError):
        wanted = etree.XPath(query.text, namespaces=NAMESPACES, regexp=False)(trees.lxml)
        count = len(wanted) if isinstance(wanted, list) else 1
        expect("number of answers of lxml", len(found), count, query.text)
        done["queries answered by lxml"] += 1
