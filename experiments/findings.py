"""Experiments and their findings: tables beside the paper's figures, charts, and bars.

A cell is a number, a text, or None.  The field ``why`` of a table explains why its figures differ from the
paper's.  A bar, the required value of a figure, is judged only in a run at the usual scale or above.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

Cell: TypeAlias = int | float | str | None
Points: TypeAlias = tuple[tuple[float | str, float], ...]
Item = TypeVar("Item")


class Watch(Protocol):
    """A function that yields the items of a loop and shows its progress under a name."""

    def __call__(self, what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]: ...


def unwatched(what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """The items, without showing progress."""
    return iter(items)


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of cells; ``why`` explains the differences from the paper in sentences."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over a number, or bars over names, one series for each name."""

    title: str
    across: str
    up: str
    series: Mapping[str, Points]
    paper: Mapping[str, Points] = field(default_factory=dict)
    """The points that the text of the paper gives, under the name of the series that they belong to."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and its required value."""

    what: str
    value: float
    relation: Literal["≤", "≥", "<", "="]
    limit: float

    @property
    def met(self) -> bool:
        """Whether the figure has its required value."""
        match self.relation:
            case "≤":
                return self.value <= self.limit
            case "≥":
                return self.value >= self.limit
            case "<":
                return self.value < self.limit
            case "=":
                return self.value == self.limit


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of an experiment; ``wrong`` has a sentence for each wrong answer."""

    tables: tuple[Table, ...]
    charts: tuple[Chart, ...] = ()
    bars: tuple[Bar, ...] = ()
    wrong: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The findings as a JSON object; each row is an object by column names."""
        return {
            "tables": [
                {
                    "title": table.title,
                    "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
                    "why": list(table.why),
                }
                for table in self.tables
            ],
            "charts": [asdict(chart) for chart in self.charts],
            "bars": [asdict(bar) | {"met": bar.met} for bar in self.bars],
            "wrong": list(self.wrong),
        }


class Measurement(Protocol):
    """The function of an experiment; ``scale`` is a fraction of the paper's size."""

    def __call__(self, scale: float, watch: Watch) -> Findings: ...


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure or table of a paper, by name."""

    name: str
    title: str
    measurement: Measurement
    minutes: float
    """About how many minutes a run at the usual scale takes."""
    usual: float = 1.0
    """The scale of a run for which no other is asked; 1 is the paper's size."""

    def run(self, scale: float | None = None, watch: Watch = unwatched) -> Findings:
        """Run the experiment, at its usual scale or another."""
        return self.measurement(self.usual if scale is None else scale, watch)

    def judges(self, scale: float) -> bool:
        """Whether a run at this scale is large enough for bars to be judged."""
        return scale >= self.usual


def printed_numbers(printed: Mapping[Item, str]) -> tuple[tuple[Item, float], ...]:
    """The points of a paper for a chart: cells of a table that are a number, not "over 30" or "none"."""
    return tuple((x, float(text)) for x, text in printed.items() if text.isdecimal())


def scaled(size: int, scale: float) -> int:
    """A fraction of a size, at least 1."""
    return max(1, round(size * scale))
