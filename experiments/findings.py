"""What an experiment is, and what comes of it: tables with the paper's figures, charts, bars.

A cell is a number, a text, or None where there is nothing to say.  A table says itself ``why`` its figures
are not the paper's.  A bar is judged in a full run only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

Cell: TypeAlias = int | float | str | None
Item = TypeVar("Item")


class Watch(Protocol):
    """Lets someone see how far a loop has come: its items, one by one, under a name."""

    def __call__(self, what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]: ...


def unwatched(what: str, items: Iterable[Item], total: int | None = None) -> Iterator[Item]:
    """The items, with nobody looking on."""
    return iter(items)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under the names of their columns; ``why`` says in sentences what differs and why."""

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
    series: Mapping[str, tuple[tuple[float | str, float], ...]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure and what it was asked to be."""

    what: str
    value: float
    relation: Literal["≤", "≥", "<", "="]
    limit: float

    @property
    def met(self) -> bool:
        """Whether it is what it was asked to be."""
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
    """What an experiment found; ``wrong`` are answers that must not be, each as a sentence."""

    tables: tuple[Table, ...]
    charts: tuple[Chart, ...] = ()
    bars: tuple[Bar, ...] = ()
    wrong: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The findings as JSON can hold them, rows by the names of their columns."""
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
    """An experiment as a function: ``scale`` 1 is the paper's size, less is a part of it."""

    def __call__(self, scale: float, watch: Watch) -> Findings: ...


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure or table of a paper, by name."""

    name: str
    title: str
    measurement: Measurement
    minutes: float
    """About how long a full run takes."""

    def run(self, scale: float = 1.0, watch: Watch = unwatched) -> Findings:
        """Make it again, whole or to a part of its size."""
        return self.measurement(scale, watch)


def scaled(size: int, scale: float) -> int:
    """A part of a size, at least 1."""
    return max(1, round(size * scale))
