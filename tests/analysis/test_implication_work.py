"""The work of one proof of covering is bounded, whatever the patterns."""

from __future__ import annotations

import pytest

from twigcast.analysis import covering, implication
from twigcast.analysis.covering import covers
from twigcast.pattern import parse

PAIRS = {
    "nested negations": tuple(f"//a[{'not(b and ' * n}c{')' * n}]" for n in (31, 30)),
    "many alternatives": tuple(f"//a[{' or '.join(f'@b{i}' for i in range(n))}]" for n in (900, 899)),
    "alternatives of pairs": tuple(
        f"//a[{' or '.join(f'(@b{i} and @c{i})' for i in range(n))}]" for n in (400, 399)
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_no_pair_takes_more_than_the_bound(pair: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The facts that are looked at are counted: not many more than the bound, in either direction."""
    spent = 0

    def counted(units: int) -> None:
        nonlocal spent
        spent += units
        implication.spend(units)

    monkeypatch.setattr(covering, "spend", counted)
    one, other = map(parse, PAIRS[pair])
    for p, q in ((one, other), (other, one)):
        spent = 0
        assert covers(p, q) in (True, False)
        assert spent <= 2 * implication.MOST_WORK


def test_a_proof_after_one_that_was_given_up_has_all_its_work() -> None:
    """The bound is for each proof."""
    one, other = map(parse, PAIRS["nested negations"])
    for _ in range(3):
        covers(one, other)
        assert covers(parse("//a[b or c]"), parse("//a[b][d]"))
