"""When a run says that the documents of a publisher have changed."""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.cli.strangers import StrangerShares


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one mapping in a batch."""

    mapping: str | None
    documents: int
    documents_with_strangers: int


def lines(shares: StrangerShares, *batches: tuple[int, int], mapping: str | None = "cmu@1#0a") -> list[str]:
    return [
        line for documents, strange in batches for line in shares.add([Figures(mapping, documents, strange)])
    ]


def test_a_share_that_rises_is_said_once() -> None:
    """A share that stays where it is, or varies a little, is not said again."""
    shares = StrangerShares()
    said = lines(shares, (1000, 0), (1000, 200), (1000, 210), (1000, 290), (1000, 500))
    sentence = "of the documents have elements that its source schema does not have"
    assert said == [
        f"mapping cmu@1: 20% {sentence} (before: 0%)",
        f"mapping cmu@1: 50% {sentence} (before: 20%)",
    ]
    assert shares.summary() == [f"mapping cmu@1: 24% {sentence} (1,200 of 5,000)"]


def test_small_batches_count_together() -> None:
    """A stream with one document a batch does not say something for each of them."""
    shares = StrangerShares()
    assert len(lines(shares, *[(1, number % 2) for number in range(400)])) == 1


def test_documents_without_a_mapping_have_no_share() -> None:
    """There is no schema that could have changed."""
    shares = StrangerShares()
    assert lines(shares, (1000, 0), mapping=None) == []
    assert shares.summary() == []
