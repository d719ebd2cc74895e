"""Plots reports as bar charts of messages by kind, table rows and delay, with one bar for each strategy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twigcast.errors import ExtraError
from twigcast.simulator.report import Report

KINDS = {
    "advertisement": "#999999",
    "unadvertisement": "#666666",
    "subscription": "#1f77b4",
    "unsubscription": "#aec7e8",
    "publication": "#2ca02c",
    "plan": "#d62728",
}


def plot(reports: Sequence[Report], path: Path, title: str = "") -> tuple[Path, ...]:
    """Write the plot as a PNG and an SVG file, and return both paths; needs matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ExtraError("matplotlib", extra="simulator") from error
    figure = Figure(figsize=(12, 0.5 * len(reports) + 2), layout="constrained")
    FigureCanvasAgg(figure)
    messages, rows, delay = figure.subplots(1, 3, sharey=True)
    figure.suptitle(title)
    names = [report.name for report in reports]
    _stacked(messages, names, reports)
    messages.set_title("messages received by routers")
    rows.barh(names, [report.rows for report in reports], color="#9467bd")
    rows.set_title("table rows, all routers")
    delay.barh(names, [1000 * report.delay.mean for report in reports], color="#ff7f0e")
    delay.set_title("mean delay (ms)")
    for axes in (messages, rows, delay):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(axis="x", labelrotation=30)
    messages.invert_yaxis()
    written = tuple(path.with_suffix(suffix) for suffix in (".png", ".svg"))
    for each in written:
        figure.savefig(each, metadata={"Date": None} if each.suffix == ".svg" else None)
    return written


def _stacked(axes: Any, names: list[str], reports: Sequence[Report]) -> None:
    left = [0] * len(reports)
    for kind, colour in KINDS.items():
        counts = [report.messages.get(kind, 0) for report in reports]
        if any(counts):
            axes.barh(names, counts, left=left, color=colour, label=kind)
            left = [before + count for before, count in zip(left, counts, strict=True)]
    axes.legend(fontsize="small", frameon=False)
