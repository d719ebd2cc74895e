"""The judge: lxml's word on pairs of documents and expressions."""

from __future__ import annotations

from random import Random

from benchmarks.oracle import judge, sample, tree

EXPRESSIONS = ["/a", "//b", "//c"]


def test_a_true_claim_is_accepted() -> None:
    """Where the claims are lxml's own answers, nothing is wrong."""
    verdict = judge("here", tree(b"<a><b/></a>"), EXPRESSIONS, [0, 1], range(3))
    assert (verdict.pairs, verdict.matches, verdict.wrong) == (3, 2, ())


def test_a_false_claim_and_a_missing_one_are_told_apart() -> None:
    """A match that is none, and one that is missing, are each a sentence."""
    verdict = judge("here", tree(b"<a><b/></a>"), EXPRESSIONS, [0, 2], range(3))
    assert verdict.wrong == (
        "here: lxml says that //b matches",
        "here: lxml says that //c does not match",
    )


def test_a_sample_has_different_numbers_half_of_them_claimed() -> None:
    """No pair is counted twice, and claimed matches, which are few, are not left to chance."""
    chosen = sample(Random(1), range(1000), range(500, 520), 20)
    assert len(set(chosen)) == 20
    assert sum(number in range(500, 520) for number in chosen) >= 10


def test_a_sample_takes_all_where_there_are_few() -> None:
    """No more pairs are asked for than there are."""
    assert sorted(sample(Random(1), range(3), [1], 20)) == [0, 1, 2]
