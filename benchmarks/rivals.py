"""Measures the alternatives to twigcast on the same documents in the same run, and compares their answers.

lxml and the reference engines evaluate 1,000 subscriptions.  A figure for more is scaled and marked as
scaled: lxml evaluates each expression by itself, so its time is proportional to their number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import TypeVar
from xml.parsers import expat

from lxml import etree

from benchmarks.bare_parser import BareParser
from benchmarks.files import built
from benchmarks.matching import Part, cpu_seconds, in_parts
from benchmarks.processes import apart
from benchmarks.results import Outcome, Progress
from benchmarks.workloads import workload
from experiments.engines.filtering import OneByOne, XTrie, YFilter
from experiments.engines.filtering.engine import Engine
from twigcast import Index
from twigcast.pattern import parse

WORKLOAD = "nitf-branching-1k"
LARGER = 10
"""The factor by which the figure of lxml is scaled."""
DOCUMENTS = 40
REPEATS = 5

T = TypeVar("T")


@cache
def rivals(progress: Progress) -> dict[str, Outcome]:
    """Every rival by name: its ratio to a bare parse, and whether its answers were those of lxml."""
    progress("rivals: drawing documents and subscriptions")
    load = workload(WORKLOAD)
    progress("rivals: building the index")
    path = built(WORKLOAD).path
    progress("rivals: all rivals on the same documents")
    return apart(compare, path, load.feed.warm, load.feed.unseen[:DOCUMENTS], load.subscriptions)


def compare(
    path: Path, warm: Sequence[bytes], documents: Sequence[bytes], subscriptions: Sequence[str]
) -> dict[str, Outcome]:
    """All rivals, one after the other, each between two bare parses."""
    part = in_parts(documents, count=1)[0]
    expressions = [etree.XPath(f"boolean({text})") for text in subscriptions]
    references: dict[str, Engine] = {"one-by-one": OneByOne(), "xtrie": XTrie(), "yfilter": YFilter()}
    for engine in references.values():
        for id, text in enumerate(subscriptions):
            engine.add(id, parse(text))
    index = Index.open(path)
    for each in in_parts(warm):
        index.match_batch(each.array)
    index.match_batch(part.array)

    lxml_parse = beside(part, lambda: _parsed_by_lxml(documents), REPEATS)
    lxml, truth = beside(part, lambda: [_by_lxml(body, expressions) for body in documents], 1)
    found = {"index": beside(part, lambda: _by_engine(index, documents), REPEATS)} | {
        name: beside(part, lambda engine=engine: _by_engine(engine, documents), 1)  # type: ignore[misc]
        for name, engine in references.items()
    }
    ratios = {
        "pyexpat": beside(part, lambda: [_by_pyexpat(body) for body in documents], REPEATS)[0],
        "lxml-parse": lxml_parse[0],
        "lxml": lxml,
        "lxml-scaled": lxml_parse[0] + LARGER * (lxml - lxml_parse[0]),
    } | {name: ratio for name, (ratio, _) in found.items()}
    wrong = {name: _differences(name, answers, truth) for name, (_, answers) in found.items()}
    bare = median(bare_seconds(part) for _ in range(REPEATS)) / len(documents)
    return {
        name: Outcome({"ratio": ratio, "microseconds_per_document": ratio * bare * 1e6}, wrong.get(name, ()))
        for name, ratio in ratios.items()
    }


def beside(part: Part, action: Callable[[], T], times: int) -> tuple[float, T]:
    """The median ratio of the action to a bare parse measured next to it, and the value of the action."""
    ratios = []
    for _ in range(times):
        before = bare_seconds(part)
        seconds, value = cpu_seconds(action)
        ratios.append(2 * seconds / (before + bare_seconds(part)))
    return median(ratios), value


def bare_seconds(part: Part) -> float:
    """CPU seconds that expat takes with empty handlers."""
    return cpu_seconds(lambda: BareParser().parse_batch(*part.extents))[0]


def _by_lxml(body: bytes, expressions: Sequence[etree.XPath]) -> list[int]:
    document = etree.ElementTree(etree.fromstring(body))
    return [id for id, expression in enumerate(expressions) if expression(document)]


def _parsed_by_lxml(documents: Sequence[bytes]) -> int:
    """The number of well-formed documents; each tree is freed at once."""
    return sum(etree.fromstring(body) is not None for body in documents)


def _by_engine(engine: Engine | Index, documents: Sequence[bytes]) -> list[list[Hashable]]:
    return [engine.match(body).ids for body in documents]


def _by_pyexpat(body: bytes) -> int:
    """A parse with Python callbacks that do nothing."""
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, attributes: None
    parser.EndElementHandler = lambda name: None
    parser.CharacterDataHandler = lambda text: None
    return parser.Parse(body, True)


def _differences(
    name: str, answers: Sequence[Sequence[Hashable]], truth: Sequence[Sequence[int]]
) -> tuple[str, ...]:
    return tuple(
        f"{name}: document {row}: {len(answer)} matches, lxml has {len(right)}"
        for row, (answer, right) in enumerate(zip(answers, truth, strict=True))
        if list(answer) != list(right)
    )
