"""Draws charts as PNG and SVG: lines over numbers, bars over names, and the paper's own points beside ours.

Each series has a colour and a marker of its own.  What the paper prints is hollow: an unfilled marker on a
dashed line, or a hatched bar; it has the colour of the series with the same name, or is black.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from experiments.findings import Chart
from twigcast.errors import ExtraError

DPI = 200
COLUMNS = 2
WIDTH = 7.5
"""The width of a chart, in inches."""
LINE = 76
"""So many characters of a remark are as wide as a chart."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#6a3d9a", "#7f7f7f")
"""Colours that people with a colour vision deficiency can tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
PAPER_COLOUR = "#222222"
SCALED_COLOUR = "#b3261e"
BAR = 0.21
"""The height of a bar, in inches."""


class Look(NamedTuple):
    """How a series is drawn."""

    label: str
    colour: str
    marker: str
    of_paper: bool


def draw(
    charts: Sequence[Chart], path: Path, citation: str = "", scaled: str | None = None
) -> tuple[Path, ...]:
    """Draw charts as PNG and SVG; returns the paths of the files.

    The citation is printed below the charts, and the remark on a scaled run above them.
    """
    figure = picture(charts, citation, scaled)
    written = tuple(path.with_suffix(suffix) for suffix in (".png", ".svg"))
    for each in written:
        figure.savefig(each, dpi=DPI, metadata={"Date": None} if each.suffix == ".svg" else None)
    return written


def picture(charts: Sequence[Chart], citation: str = "", scaled: str | None = None) -> Any:
    """The charts as a figure of matplotlib, at most two in a row."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ExtraError("matplotlib", extra="simulator") from error
    columns = min(COLUMNS, len(charts))
    rows = ceil(len(charts) / columns)
    height = max(4.5, *(1.2 + BAR * _bars(chart) for chart in charts))
    figure = Figure(figsize=(WIDTH * columns, height * rows + 0.4), layout="constrained")
    FigureCanvasAgg(figure)
    places = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, chart in zip(places, charts, strict=False):
        _draw(axes, chart)
    for axes in places[len(charts) :]:
        axes.remove()
    if scaled:
        figure.suptitle(
            fill(scaled, LINE * columns), color=SCALED_COLOUR, fontsize="medium", fontweight="bold"
        )
    if citation:
        figure.supxlabel(fill(citation, LINE * columns), fontsize="small")
    return figure


def number_text(value: float, _place: int | None = None) -> str:
    """A number at an axis, with separators between thousands."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


def _draw(axes: Any, chart: Chart) -> None:
    if _names(chart):
        _draw_bars(axes, chart)
    else:
        _draw_lines(axes, chart)
    axes.set_title(chart.title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _draw_lines(axes: Any, chart: Chart) -> None:
    for look, points in _looks(chart):
        axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            color=look.colour,
            label=look.label,
            linestyle=("--" if len(points) > 1 else "") if look.of_paper else "-",
            marker=look.marker,
            markersize=8 if look.of_paper else 6,
            markerfacecolor="white" if look.of_paper else look.colour,
            markeredgewidth=1.5,
            zorder=3 if look.of_paper else 2,
        )
    axes.set_xlabel(chart.across)
    axes.set_ylabel(chart.up)
    if axes.get_ylim()[0] > 0 or all(y >= 0 for _, points in _looks(chart) for _, y in points):
        axes.set_ylim(bottom=0)
    else:
        axes.axhline(0, color=PAPER_COLOUR, linewidth=0.6)
    if all(float(x).is_integer() for _, points in _looks(chart) for x, _ in points):
        axes.xaxis.get_major_locator().set_params(integer=True)
    axes.xaxis.set_major_formatter(number_text)
    axes.yaxis.set_major_formatter(number_text)


def _draw_bars(axes: Any, chart: Chart) -> None:
    names = _names(chart)
    looks = list(_looks(chart))
    height = 0.8 / len(looks)
    for number, (look, points) in enumerate(looks):
        axes.barh(
            [names.index(str(name)) + number * height for name, _ in points],
            [value for _, value in points],
            height,
            label=look.label,
            color="white" if look.of_paper else look.colour,
            edgecolor=look.colour,
            hatch="////" if look.of_paper else None,
        )
    axes.set_yticks([place + 0.4 - height / 2 for place in range(len(names))], names)
    axes.invert_yaxis()
    axes.set_xlabel(chart.up)
    axes.xaxis.set_major_formatter(number_text)


def _looks(chart: Chart) -> Iterator[tuple[Look, Sequence[tuple[Any, float]]]]:
    """Each series with its look; the paper's come after ours with the same name, or last."""
    ours = {
        name: Look(name, colour, marker, of_paper=False)
        for name, colour, marker in zip(chart.series, cycle(COLOURS), cycle(MARKERS), strict=False)
    }
    for name, points in chart.series.items():
        yield ours[name], points
        if name in chart.paper:
            yield ours[name]._replace(label=f"paper: {name}", of_paper=True), chart.paper[name]
    others = {name: points for name, points in chart.paper.items() if name not in ours}
    for marker, (name, points) in zip(reversed(MARKERS), others.items(), strict=False):
        yield Look(name, PAPER_COLOUR, marker, of_paper=True), points


def _names(chart: Chart) -> list[str]:
    """The names below which bars stand; none if the chart has lines."""
    found: Mapping[Any, None] = dict.fromkeys(
        x for series in (chart.series, chart.paper) for points in series.values() for x, _ in points
    )
    return [str(name) for name in found] if all(isinstance(name, str) for name in found) else []


def _bars(chart: Chart) -> int:
    return len(_names(chart)) * (len(chart.series) + len(chart.paper) + 1)
