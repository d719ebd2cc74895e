"""Chooses what a router asks its neighbour to say about documents: the annotation plan.

    rows ──► chains that they demand ──┐
    rows behind forwarded patterns ────┼──► candidates ──► selection under a size limit ──► AnnotationPlan
    sample of documents ───────────────┘

The selection is one of four.  ``marginal``, the default, takes the absences that refute most pairs of a
sample document and a row that are not refuted yet, then the wishes with the most rows for each bit.
``knapsack`` and ``greedy`` choose among all kinds by values that are assumed to add up, as the thesis does;
``printed`` takes each kind in the order of its printed benefit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from twigcast.document import Name
from twigcast.pattern import NameTest, Pattern
from twigcast.routing.piggyback.choice.selecting import choose_questions, greedy, highest, knapsack
from twigcast.routing.piggyback.choice.values import (
    Rates,
    nd_benefit,
    nd_value,
    pd_value,
    ps_benefit,
    ps_value,
)
from twigcast.routing.piggyback.plan import AnnotationPlan, Wish
from twigcast.routing.piggyback.protocols import Protocol
from twigcast.routing.piggyback.questions.data_patterns import Chain
from twigcast.routing.piggyback.questions.ranges import RangeQuestion
from twigcast.routing.piggyback.verdict import known_chains, known_closing, known_demands, known_pieces

MOST_CANDIDATES = 20_000
"""How many chains are compared on the sample: those with the highest printed benefit."""

MOST_ABSENCES = 160
"""How many absences are asked for at most, by marginal gain: more refute hardly a row.

On NITF documents and 5,000 rows, 160 refute 90 % of the pairs; 451, after which nothing is left to gain,
refute 91 %.
"""

FEW_DOCUMENTS = 16
"""As long as the sample is smaller, chains that it has are asked for as well, by printed benefit."""

UNKNOWN = 0.5
"""The assumed share of documents with a chain, or matching a pattern, as long as there is no sample."""

RATES = Rates(2e-6, 1e-3, 2e-7, 2e-7, 2e-8, 2e-8)
"""What annotations save and cost in the thesis: 2 µs for a row, 1 ms for sending on at once."""

POSITION_BITS = 24
"""The size of one positive data annotation: the number of a chain and that of an end tag."""


@dataclass(frozen=True, slots=True)
class Chooser:
    """What a choice is made from: the rows by number, and the rows behind each forwarded subscription."""

    rows: Mapping[int, Pattern]
    covered: Mapping[Pattern, Sequence[int]]
    sample: Sequence[frozenset[Chain]]
    """The chains that occur in each document of the sample."""
    bits: int
    """The limit on the size of all chosen annotations together."""
    selection: str


def make_plan(
    protocol: Protocol, chooser: Chooser, others: Iterable[AnnotationPlan], saving: float
) -> AnnotationPlan:
    """Make the plan for one neighbour; ``others`` are the plans of the other neighbours.

    What those ask for is asked on their behalf where it cannot be derived from anything else.
    """
    absences = _by_chain(chooser.rows, known_chains) if "d" in protocol.negative else {}
    closing = _by_chain(chooser.rows, known_closing) if "d" in protocol.positive else {}
    wishes = _wishes(chooser) if "s" in protocol.positive else []
    chosen = _CHOICES[chooser.selection](chooser, absences, wishes, closing)
    others = list(others)
    ranges: dict[RangeQuestion, None] = {}
    if "r" in protocol.negative:
        ranges = {each.question: None for row in chooser.rows.values() for each in known_demands(row)}
        ranges |= {each: None for plan in others for each in plan.ranges}
    answers: dict[Pattern, None] = {}
    if "a" in protocol.positive:
        answers = dict.fromkeys(chooser.rows.values())
    positions = dict.fromkeys([*chosen.positions, *(each for plan in others for each in plan.positions)])
    names = {name for wish in chosen.wishes for name in _names_behind(wish, chooser)}
    return AnnotationPlan(
        tuple(chosen.absences),
        tuple(chosen.wishes),
        tuple(positions) if "d" in protocol.positive else (),
        tuple(answers),
        tuple(ranges),
        tuple(sorted(names)),
        saving,
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    absences: Sequence[Chain]
    wishes: Sequence[Wish]
    positions: Sequence[Chain]


def _by_marginal_gain(
    chooser: Chooser, absences: dict[Chain, list[int]], wishes: list[Wish], closing: dict[Chain, list[int]]
) -> _Chosen:
    chains = sorted(absences, key=lambda chain: (-nd_benefit(len(absences[chain]), len(chain)), chain))
    del chains[MOST_CANDIDATES:]
    priorities = [nd_benefit(len(absences[chain]), len(chain)) for chain in chains]
    most = min(chooser.bits, MOST_ABSENCES)
    if chooser.sample and chains:
        numbers = {number: row for row, number in enumerate(chooser.rows)}
        rows_of = [np.array([numbers[each] for each in absences[chain]], dtype=np.int64) for chain in chains]
        absent = np.array(
            [[chain not in each for each in chooser.sample] for chain in chains], dtype=np.bool_
        )
        refuted = np.zeros((len(chooser.sample), len(numbers)), dtype=np.bool_)
        asked = list(choose_questions(absent, rows_of, refuted, priorities, most))
    else:
        asked = []
    if len(chooser.sample) < FEW_DOCUMENTS:
        known = set(asked)
        others = [each for each in highest(priorities, len(chains)) if each not in known]
        asked += others[: most - len(asked)]
    left = chooser.bits - len(asked)
    taken = _while_it_fits([(ps_benefit(each.rows, [_bits(each)]), _bits(each)) for each in wishes], left)
    left -= sum(_bits(wishes[each]) for each in taken)
    last = highest(
        [nd_benefit(len(rows), len(chain)) for chain, rows in closing.items()], left // POSITION_BITS
    )
    chains_closing = list(closing)
    return _Chosen(
        [chains[each] for each in asked],
        [wishes[each] for each in taken],
        [chains_closing[each] for each in last],
    )


def _by_printed_benefit(
    chooser: Chooser, absences: dict[Chain, list[int]], wishes: list[Wish], closing: dict[Chain, list[int]]
) -> _Chosen:
    """Each kind that is switched on gets the same share of the bits, and takes its highest benefits."""
    kinds = sum(map(bool, (absences, wishes, closing)))
    share = chooser.bits // max(1, kinds)
    chains, closed = list(absences), list(closing)
    asked = highest([nd_benefit(len(rows), len(chain)) for chain, rows in absences.items()], share)
    taken = _while_it_fits([(ps_benefit(each.rows, [_bits(each)]), _bits(each)) for each in wishes], share)
    last = highest(
        [nd_benefit(len(rows), len(chain)) for chain, rows in closing.items()], share // POSITION_BITS
    )
    return _Chosen(
        [chains[each] for each in asked], [wishes[each] for each in taken], [closed[each] for each in last]
    )


def _by_value(
    chooser: Chooser, absences: dict[Chain, list[int]], wishes: list[Wish], closing: dict[Chain, list[int]]
) -> _Chosen:
    """Choose among all kinds together, by values that are assumed to add up."""
    found = _share_with(chooser.sample)
    values = [nd_value(found(chain), len(rows), RATES) for chain, rows in absences.items()]
    sizes = [1] * len(absences)
    values += [ps_value(UNKNOWN, [UNKNOWN] * wish.rows, [], RATES) for wish in wishes]
    sizes += [_bits(wish) for wish in wishes]
    values += [pd_value(UNKNOWN, len(rows), RATES) for rows in closing.values()]
    sizes += [POSITION_BITS] * len(closing)
    choose = knapsack if chooser.selection == "knapsack" else greedy
    chosen = choose(values, sizes, chooser.bits)
    things: list[Any] = [*absences, *wishes, *closing]
    first, second = len(absences), len(absences) + len(wishes)
    return _Chosen(
        [things[each] for each in chosen if each < first],
        [things[each] for each in chosen if first <= each < second],
        [things[each] for each in chosen if each >= second],
    )


_CHOICES = {
    "marginal": _by_marginal_gain,
    "printed": _by_printed_benefit,
    "knapsack": _by_value,
    "greedy": _by_value,
}


def _by_chain(rows: Mapping[int, Pattern], demanded: Any) -> dict[Chain, list[int]]:
    found: dict[Chain, list[int]] = {}
    for number, row in rows.items():
        for chain in demanded(row):
            found.setdefault(chain, []).append(number)
    return dict(sorted(found.items()))  # the order of a set changes from process to process


def _wishes(chooser: Chooser) -> list[Wish]:
    """Return a wish for each forwarded pattern of which a row comes by replacing wildcards by names."""
    found = []
    for pattern, numbers in chooser.covered.items():
        simple = [known_pieces(pattern, chooser.rows[each]) for each in numbers if each in chooser.rows]
        pieces = [each for each in simple if each is not None]
        if pieces:
            used = sorted({number for each in pieces for number in each.numbers})
            found.append(Wish(pattern, tuple(used), len(pieces)))
    return found


def _bits(wish: Wish) -> int:
    """The size of a granted wish: its number, the number of bindings, and two bytes for each wildcard."""
    return 8 * (2 + 2 * len(wish.numbers))


def _while_it_fits(candidates: Sequence[tuple[float, int]], bits: int) -> list[int]:
    """Return candidates, given as value and size, in the order of their values as long as they fit."""
    taken = []
    for each in highest([value for value, _ in candidates], len(candidates)):
        if candidates[each][1] <= bits:
            taken.append(each)
            bits -= candidates[each][1]
    return taken


def _share_with(sample: Sequence[frozenset[Chain]]) -> Any:
    if not sample:
        return lambda chain: UNKNOWN
    return lambda chain: sum(chain in each for each in sample) / len(sample)


def _names_behind(wish: Wish, chooser: Chooser) -> set[Name]:
    names: set[Name] = set()
    for number in chooser.covered[wish.pattern]:
        if number in chooser.rows:
            _collect_names(chooser.rows[number], names)
    return names


def _collect_names(value: object, names: set[Name]) -> None:
    """Add all full names of a pattern, or of a part of one."""
    if isinstance(value, NameTest):
        if value.namespace is not None and value.local is not None:
            names.add((value.namespace, value.local))
    elif isinstance(value, tuple):
        for each in value:
            _collect_names(each, names)
    elif is_dataclass(value):
        for each in fields(value):
            _collect_names(getattr(value, each.name), names)
