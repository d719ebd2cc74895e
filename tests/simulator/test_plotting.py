"""Plots of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.routing import FLOODING
from twigcast.simulator import Report
from twigcast.simulator.plotting import plot
from twigcast.simulator.report import Delay


def test_a_picture_is_drawn_as_png_and_as_svg(tmp_path: Path) -> None:
    """Both files are written, whichever extension was given."""
    pytest.importorskip("matplotlib")
    report = Report("flooding", FLOODING, 2, {"subscription": 7}, 100, 4, 3, 0, 0, 1, 0, 0, Delay(0.1))
    written = plot([report], tmp_path / "picture.svg", "title")
    assert [path.name for path in written] == ["picture.png", "picture.svg"]
    assert written[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in written[1].read_bytes()
