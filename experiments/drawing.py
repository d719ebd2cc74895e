"""Draws charts as PNG and SVG: lines over numbers, bars over names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.findings import Chart
from twigcast.errors import ExtraError


def draw(charts: Sequence[Chart], path: Path) -> tuple[Path, ...]:
    """Draw charts side by side, as PNG and SVG; returns the paths of the files."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ExtraError("matplotlib", extra="simulator") from error
    figure = Figure(figsize=(6.5 * len(charts), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, chart in zip(figure.subplots(1, len(charts), squeeze=False)[0], charts, strict=True):
        _draw(axes, chart)
    written = tuple(path.with_suffix(suffix) for suffix in (".png", ".svg"))
    for each in written:
        figure.savefig(each, metadata={"Date": None} if each.suffix == ".svg" else None)
    return written


def _draw(axes: Any, chart: Chart) -> None:
    names = [x for x, _ in next(iter(chart.series.values()))]
    if all(isinstance(name, str) for name in names):
        height = 0.8 / len(chart.series)
        for number, (series, points) in enumerate(chart.series.items()):
            places = [place + number * height for place in range(len(points))]
            axes.barh(places, [y for _, y in points], height, label=series)
        axes.set_yticks([place + 0.4 - height / 2 for place in range(len(names))], names)
        axes.invert_yaxis()
        axes.set_xlabel(chart.up)
    else:
        for series, points in chart.series.items():
            axes.plot([x for x, _ in points], [y for _, y in points], marker="o", label=series)
        axes.set_xlabel(chart.across)
        axes.set_ylabel(chart.up)
        axes.set_ylim(bottom=0)
    axes.set_title(chart.title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize="small", frameon=False)
