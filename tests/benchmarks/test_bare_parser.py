"""The baseline of the benchmarks."""

from __future__ import annotations

from array import array

from benchmarks.bare_parser import BareParser


def test_the_bare_parser_counts_good_documents() -> None:
    """It really parses: in one call or block by block, it counts the well-formed documents."""
    data = b"<a/><b></a>"
    extents = array("q", [0, 4]), array("q", [4, 11])
    assert BareParser().parse_batch(*extents, data) == 1
    assert BareParser().parse_batch(*extents, data, 1) == 1
