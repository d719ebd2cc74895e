"""The proofs of covering among many patterns have a common bound, which counts work and not time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from twigcast.analysis import covering, implication, proof_budget
from twigcast.analysis.covering import covers
from twigcast.pattern import Pattern, parse
from twigcast.routing.stages import SubscriptionTree


def hostile(number: int) -> Pattern:
    """A short pattern; a proof about two of them takes all the work that a proof may take."""
    return parse(f"//a[{'not(b and ' * 14}c{number}{')' * 14}]")


def work_of(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The facts that are looked at when so many hostile patterns come in one change."""
    spent = 0

    def counted(units: int) -> None:
        nonlocal spent
        spent += units
        implication.spend(units)

    monkeypatch.setattr(covering, "spend", counted)
    SubscriptionTree((str(number), hostile(number)) for number in range(count))
    return spent


def test_the_work_of_a_change_grows_with_its_patterns_not_with_their_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One proof may go beyond the bound, and no more."""
    for count in (8, 16, 32):
        bound = implication.WORK_TOGETHER + count * implication.WORK_OF_EACH + implication.MOST_WORK
        assert work_of(count, monkeypatch) <= bound


def test_a_verdict_from_the_cache_costs_what_it_cost_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """So what is proved does not depend on what others have asked before."""
    monkeypatch.setattr(implication, "WORK_OF_EACH", 0)
    monkeypatch.setattr(implication, "WORK_TOGETHER", 10)
    pairs = [(parse(f"//a[b or c{i}]"), parse(f"//a[b][d{i}]")) for i in range(9)]
    with proof_budget(9):
        first = [covers(p, q) for p, q in pairs]
    with proof_budget(9):
        again = [covers(p, q) for p, q in pairs]
    assert first == again
    assert first[0]
    assert not first[-1]
    assert all(covers(p, q) for p, q in pairs)


def test_a_budget_within_another_one_is_a_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage that calls another one has one budget with it."""
    monkeypatch.setattr(implication, "WORK_TOGETHER", 3)
    monkeypatch.setattr(implication, "WORK_OF_EACH", 0)
    p, q = parse("//a[b or c]"), parse("//a[b][d]")
    with proof_budget(1):
        with proof_budget(1):
            assert covers(p, q)
        with proof_budget(1):
            assert not covers(p, q)
    assert covers(p, q)


PROGRAM = """
from twigcast.analysis import implication
from twigcast.pattern import parse
from twigcast.routing.stages import SubscriptionTree
from twigcast.workload import SubscriptionOptions, generate_subscriptions, news
implication.WORK_TOGETHER, implication.WORK_OF_EACH = 60, 0
options = SubscriptionOptions(nested=0.4, value=0.4, min_steps=1, max_steps=5, wildcard=0.3, descendant=0.3)
patterns = map(parse, generate_subscriptions(news(), 1000, options))
tree = SubscriptionTree()
for message in range(20):
    tree.change([(f"{message}-{i}", next(patterns)) for i in range(50)], ())
print(sorted(tree.uncovered))
"""


def test_every_process_proves_the_same() -> None:
    """Whatever hashes its texts have."""
    found = set()
    for seed in "123":
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM]
        found.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    assert len(found) == 1
