"""Which predicates cannot hold where there is nothing."""

from __future__ import annotations

import pytest

from twigcast.pattern import parse
from twigcast.pattern.demanding import demands_a_node


@pytest.mark.parametrize(
    ("condition", "demands"),
    [
        ("b", True),
        ("b != 'x'", True),
        ("contains(b, 'x')", True),
        ("count(b) > 1", True),
        ("count(b) < 2", False),
        ("string-length(b) >= 3", True),
        ("string-length(b) < 3", False),
        ("not(b)", False),
        ("b or c", False),
    ],
)
def test_a_predicate_demands_a_node_or_holds_without(condition: str, demands: bool) -> None:
    """It demands one where nothing would not satisfy it; of alternatives, none is demanded for sure."""
    (predicate,) = parse(f"/a[{condition}]").alternatives[0].steps[0].predicates
    assert demands_a_node(predicate) is demands
