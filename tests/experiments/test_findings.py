"""Findings: bars, sizes, and what JSON holds."""

from __future__ import annotations

import json

import pytest

from experiments.findings import Bar, Chart, Experiment, Findings, Table, printed_numbers, scaled, unwatched


@pytest.mark.parametrize(
    ("value", "relation", "limit", "met"),
    [(1, "≤", 1, True), (1, "<", 1, False), (1, "≥", 2, False), (0, "=", 0, True)],
)
def test_a_bar_is_met_or_not(value: float, relation: str, limit: float, met: bool) -> None:
    """As its relation says."""
    assert Bar("it", value, relation, limit).met is met  # type: ignore[arg-type]


def test_a_size_is_scaled_to_one_at_least() -> None:
    """A small part of little is still something."""
    assert (scaled(1000, 0.1), scaled(16, 0.01)) == (100, 1)


def test_only_plain_numbers_of_a_paper_are_points() -> None:
    """A chart cannot show "over 30"."""
    assert printed_numbers({0.25: "15", 0.5: "20 to 25", 1.0: "over 30"}) == ((0.25, 15.0),)


def test_rows_have_names_in_json() -> None:
    """A row is an object, by the names of the columns."""
    findings = Findings(
        (Table("t", ("a", "b"), ((1, None),), ("so it is",)),),
        (Chart("c", "x", "y", {"s": ((1, 2.0),)}),),
        (Bar("it", 1.0, "≤", 2.0),),
    )
    read = json.loads(json.dumps(findings.to_json()))
    assert read["tables"] == [{"title": "t", "rows": [{"a": 1, "b": None}], "why": ["so it is"]}]
    assert read["bars"][0]["met"] is True


def test_an_experiment_passes_on_scale_and_watch() -> None:
    """Its function is told how large it is to be and who looks on."""
    told: list[object] = []

    def measure(scale: float, watch: object) -> Findings:
        told.extend((scale, watch))
        return Findings(())

    Experiment("a/b", "it", measure, minutes=1).run(0.5)
    assert told == [0.5, unwatched]
