"""The documents by which plans are chosen."""

from __future__ import annotations

from tests.routing.piggyback.running_example import chain
from twigcast import Index
from twigcast.document import NameTable
from twigcast.routing.piggyback.choice.document_sample import SAMPLE, SAMPLE_EVERY, DocumentSample


def test_the_sample_fills_and_then_changes_slowly() -> None:
    """All documents are taken until it is full, then one of a few."""
    sample = DocumentSample()
    structure = Index().structure(b"<a/>")
    for _ in range(SAMPLE):
        assert not sample.is_full
        assert sample.takes_next()
        sample.add(structure)
    assert sample.is_full
    assert sum(sample.takes_next() for _ in range(10 * SAMPLE_EVERY)) == 10
    sample.add(structure)
    assert len(sample) == SAMPLE


def test_chains_are_those_of_the_structures() -> None:
    """A structure may have been written with a table of names."""
    names = NameTable((("", "a"),))
    sample = DocumentSample()
    sample.add(Index().structure(b"<a><b/></a>", names), names)
    sample.add(Index().structure(b"<b/>"))
    assert sample.chains() == [{chain("a"), chain("b"), chain("a/b")}, {chain("b")}]
