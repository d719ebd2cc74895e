"""Charts: a PNG and an SVG, with lines or bars."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.drawing import draw
from experiments.findings import Chart

pytest.importorskip("matplotlib")

LINES = Chart("Lines", "x", "y", {"one": ((1, 2.0), (2, 3.0))})
BARS = Chart("Bars", "", "y", {"one": (("a", 2.0), ("b", 3.0)), "two": (("a", 1.0), ("b", 1.0))})


def test_charts_stand_side_by_side_in_two_files(tmp_path: Path) -> None:
    """One picture holds all charts of an experiment."""
    png, svg = draw([LINES, BARS], tmp_path / "it.png")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in svg.read_bytes()
