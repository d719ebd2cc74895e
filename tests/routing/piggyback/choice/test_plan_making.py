"""How a router chooses what it asks a neighbour."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.routing.piggyback.link import patterns
from tests.routing.piggyback.running_example import chain
from twigcast.pattern import parse
from twigcast.routing.piggyback import AnnotationPlan, Wish, protocol
from twigcast.routing.piggyback.choice.plan_making import FEW_DOCUMENTS, Chooser, make_plan
from twigcast.routing.piggyback.questions import Chain, RangeQuestion

ROWS = dict(enumerate(patterns(s="//a/y", t="//a/z", u="//b[@n < 3]").values()))
TOLD = {parse("//a/*"): [0, 1], ROWS[2]: [2]}
EVERYTHING = "L+sdta-sdr"
SELECTIONS = ("marginal", "printed", "knapsack", "greedy")


def chooser(
    selection: str = "marginal", bits: int = 1024, sample: tuple[frozenset[Chain], ...] = ()
) -> Chooser:
    """A choice for three rows, two of them behind one forwarded pattern."""
    return Chooser(ROWS, TOLD, sample, bits, selection)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_only_kinds_of_the_protocol_are_asked_for(selection: str) -> None:
    """A plan for ``L`` is empty."""
    assert make_plan(protocol("L"), chooser(selection), (), 0.0) == AnnotationPlan()
    plan = make_plan(protocol(EVERYTHING), chooser(selection), (), 1.5)
    assert set(plan.absences) >= {chain("a/y"), chain("a/z"), chain("b")}
    assert Wish(parse("//a/*"), (2,), 2) in plan.wishes
    assert chain("b") in plan.positions
    assert set(plan.answers) == set(ROWS.values())
    assert plan.ranges == (RangeQuestion(("", "b"), ("", "n")),)
    assert set(chain("a/y/z")) <= set(plan.names)
    assert plan.saving == 1.5
    plan.check()


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("bits", [0, 1, 7, 40])
def test_the_chosen_annotations_fit(selection: str, bits: int) -> None:
    """An absence takes a bit, a position 24, a wish 16 and 16 for each wildcard."""
    plan = make_plan(protocol("L+sd-sd"), chooser(selection, bits), (), 0.0)
    size = (
        len(plan.absences)
        + 24 * len(plan.positions)
        + sum(16 + 16 * len(each.numbers) for each in plan.wishes)
    )
    assert size <= bits


def test_marginal_gain_asks_for_what_is_absent_in_the_sample() -> None:
    """A chain that all documents have refutes nothing, and one that refutes the same rows adds nothing."""
    sample = (frozenset([chain("a"), chain("a/y"), chain("y")]),) * FEW_DOCUMENTS
    plan = make_plan(protocol("L-d"), chooser(sample=sample), (), 0.0)
    assert set(plan.absences) <= {chain("a/z"), chain("z"), chain("b")}
    assert len(plan.absences) == 2


def test_a_small_sample_excludes_nothing() -> None:
    """The first document says little about the next ones; its own choice comes first."""
    sample = (frozenset([chain("a"), chain("a/y"), chain("y")]),)
    plan = make_plan(protocol("L-d"), chooser(sample=sample), (), 0.0)
    assert set(plan.absences[:2]) <= {chain("a/z"), chain("z"), chain("b")}
    assert set(plan.absences) == set(make_plan(protocol("L-d"), chooser(), (), 0.0).absences)


def test_what_other_neighbours_ask_is_asked_for_them() -> None:
    """Positions and ranges cannot be derived from anything else."""
    other = AnnotationPlan(positions=(chain("q"),), ranges=(RangeQuestion(("", "q")),))
    plan = make_plan(protocol("L+d-r"), chooser(), (other,), 0.0)
    assert chain("q") in plan.positions
    assert RangeQuestion(("", "q")) in plan.ranges
    assert chain("q") not in make_plan(protocol("L+s"), chooser(), (other,), 0.0).positions


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_plan_is_the_same_in_each_process(selection: str) -> None:
    """Sets of names have another order in each process; the epoch must not depend on it."""
    code = (
        "from tests.routing.piggyback.choice.test_plan_making import *;"
        f"print(make_plan(protocol('L+sd-sd'), chooser({selection!r}, 60), (), 0.0).epoch)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
