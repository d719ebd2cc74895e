"""The agreement run, on few pairs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.agreement import LARGE, LARGE_PAIRS, _shares, agree, sets


@pytest.mark.data
def test_a_published_set_agrees_with_lxml(data: Path) -> None:
    """Predicates and nested paths on real descriptors: no pair differs, and no document is unreadable."""
    name = "ejb20-d6-10k"
    done = agree(name, sets()[name], 1000, 1)
    assert (done.refused, done.unreadable, done.verdict.wrong) == ((), (), ())
    assert done.verdict.pairs >= 1000
    assert 0 < done.verdict.matches < done.verdict.pairs


def test_large_documents_get_few_pairs_and_the_rest_the_others() -> None:
    """The pairs asked for are reached although large documents take few."""
    shares = _shares([b"x" * LARGE, b"", b""], 1000)
    assert shares[0] == LARGE_PAIRS
    assert sum(shares) >= 1000
