"""lxml as the oracle that checks the answers of benchmarks and of the agreement run.

Each expression is compiled once and each document parsed once, since a run checks hundreds of thousands of
pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random
from typing import Any, TypeAlias

from lxml import etree

Tree: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many document–expression pairs lxml evaluated, how many matched, and which differed."""

    pairs: int
    matches: int
    wrong: tuple[str, ...]

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(self.pairs + other.pairs, self.matches + other.matches, self.wrong + other.wrong)


NOTHING = Verdict(0, 0, ())


def tree(body: bytes) -> Tree:
    """The document as lxml reads it; nothing external is fetched."""
    parser = etree.XMLParser(no_network=True, load_dtd=False, huge_tree=True)
    return etree.ElementTree(etree.fromstring(body, parser))


@cache
def condition(xpath: str) -> etree.XPath:
    """The expression, compiled as a boolean XPath."""
    return etree.XPath(f"boolean({xpath})")


def judge(
    label: str, document: Tree, expressions: Sequence[str], claimed: Iterable[int], chosen: Iterable[int]
) -> Verdict:
    """Compare the claimed matches of the chosen expressions, given by number, with those of lxml."""
    believed = frozenset(claimed)
    pairs = matches = 0
    wrong: list[str] = []
    for number in chosen:
        truth = bool(condition(expressions[number])(document))
        pairs += 1
        matches += truth
        if truth != (number in believed):
            said = "matches" if truth else "does not match"
            wrong.append(f"{label}: lxml says that {expressions[number]} {said}")
    return Verdict(pairs, matches, tuple(wrong))


def sample(rng: Random, numbers: Sequence[int], claimed: Sequence[int], count: int) -> list[int]:
    """A sample of distinct expressions to check: half of them from the claimed matches, half from all.

    The first half finds false positives, the second half finds missing matches.
    """
    of_claimed = rng.sample(claimed, min(count // 2, len(claimed)))
    taken = frozenset(of_claimed)
    others = (number for number in rng.sample(numbers, min(count, len(numbers))) if number not in taken)
    return of_claimed + list(islice(others, count - len(of_claimed)))
