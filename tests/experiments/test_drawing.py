"""Charts: a PNG and an SVG, with lines or bars, and the paper's points beside ours."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from experiments.drawing import MARKERS, draw, number_text, picture
from experiments.findings import Chart

pytest.importorskip("matplotlib")

LINES = Chart("Lines", "x", "y", {"one": ((1, 2.0), (2000, 3.0)), "two": ((1, 1.0), (2000, 9000.0))})
BARS = Chart("Bars", "", "y", {"one": (("a", 2.0), ("b", 3.0)), "two": (("a", 1.0), ("b", 1.0))})


def test_all_charts_are_in_two_files(tmp_path: Path) -> None:
    """One picture holds all charts of an experiment."""
    png, svg = draw([LINES, BARS, BARS], tmp_path / "it.png")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in svg.read_bytes()


def test_a_png_has_200_dots_per_inch(tmp_path: Path) -> None:
    """Pictures are sharp in print."""
    content = draw([LINES], tmp_path / "it.png")[0].read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert (width, height) == (1500, 980)


def test_each_line_has_a_marker_and_a_colour_of_its_own() -> None:
    """Lines can be told apart without colours, too."""
    names = [str(number) for number in range(8)]
    [axes] = picture([Chart("", "x", "y", dict.fromkeys(names, ((1, 1.0), (2, 2.0))))]).axes
    assert len({line.get_marker() for line in axes.lines}) == len(names)
    assert len({line.get_color() for line in axes.lines}) == len(names)
    assert len(set(MARKERS)) == len(MARKERS)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(100_000, "100,000"), (-2500.0, "-2,500"), (999, "999"), (0.30000000000000004, "0.3"), (0, "0")],
)
def test_thousands_are_separated(value: float, shown: str) -> None:
    """Large numbers at an axis can be read at a glance."""
    assert number_text(value) == shown


def test_a_number_of_things_has_no_halves() -> None:
    """Below whole numbers stand whole numbers: there is no run with 2.5 chunks."""
    points = tuple((float(chunks), 1.0) for chunks in range(2, 7))
    [axes] = picture([Chart("", "chunks", "y", {"one": points})]).axes
    assert all(tick.is_integer() for tick in axes.get_xticks())


@pytest.mark.parametrize("chart", [LINES, BARS])
def test_the_axes_use_separators(chart: Chart) -> None:
    """Both kinds of charts have them."""
    [axes] = picture([chart]).axes
    assert axes.xaxis.get_major_formatter()(12345.0, 0) == "12,345"


def test_points_of_the_paper_are_hollow_and_have_the_colour_of_their_series() -> None:
    """A reader sees what is ours, what is the paper's, and which belong together."""
    chart = Chart("", "x", "y", LINES.series, {"two": ((2000, 8000.0),), "paper: at most": ((1, 5.0),)})
    [axes] = picture([chart]).axes
    _, ours, twin, other = axes.lines
    assert (twin.get_color(), twin.get_marker()) == (ours.get_color(), ours.get_marker())
    assert twin.get_markerfacecolor() == other.get_markerfacecolor() == "white"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["one", "two", "paper: two", "paper: at most"]


def test_bars_of_the_paper_are_hatched_and_may_be_few() -> None:
    """The paper may print a number for some names only, or for one of its own."""
    chart = Chart("", "", "y", BARS.series, {"one": (("b", 4.0), ("paper", 5.0))})
    [axes] = picture([chart]).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "paper"]
    hatched = [bar for bar in axes.patches if bar.get_hatch()]
    assert [bar.get_width() for bar in hatched] == [4.0, 5.0]


def test_a_place_without_a_chart_is_empty() -> None:
    """Three charts have no empty axes beside them."""
    assert len(picture([LINES, LINES, BARS]).axes) == 3


def test_values_below_zero_are_shown() -> None:
    """An axis begins at zero only if nothing is below it."""
    below = picture([Chart("", "x", "y", {"one": ((1, -5.0), (2, 5.0))})]).axes[0]
    above = picture([LINES]).axes[0]
    assert below.get_ylim()[0] < -5
    assert above.get_ylim()[0] == 0


def test_a_picture_cites_the_paper_and_marks_a_scaled_run() -> None:
    """A picture that is passed on without its page still says what it is."""
    figure = picture([LINES], "Figure 6 of it", "A run at 0.1 of the paper's size")
    assert figure.get_supxlabel() == "Figure 6 of it"
    assert figure.get_suptitle() == "A run at 0.1 of the paper's size"
    assert picture([LINES]).get_suptitle() == ""
