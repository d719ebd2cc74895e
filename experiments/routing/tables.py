"""Routing tables of a set of XPEs as it grows: with nothing, with covering, and with mergers.

    set ──► SubscriptionTree ──► Merging(0.0)
                        └──────► Merging(0.1)      the stages that a router has

The stages receive the set part by part, so a table at any size is the table that a router would have then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from experiments.findings import Watch
from experiments.routing.sets import subscriptions
from twigcast.pattern import Pattern
from twigcast.routing import Merging, SubscriptionTree
from twigcast.schema import ElementGraph


@dataclass(slots=True)
class Seconds:
    """Measures wall time and CPU time of a ``with`` block."""

    wall: float = 0.0
    cpu: float = 0.0
    _start: tuple[float, float] = (0.0, 0.0)

    def __enter__(self) -> Seconds:
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter() - self._start[0]
        self.cpu += time.process_time() - self._start[1]


@dataclass(slots=True)
class Growing:
    """The tables of one set; ``sizes`` are their rows each time a part of the set has come."""

    name: str
    graph: ElementGraph
    budgets: tuple[float, ...] = ()
    tree: SubscriptionTree = field(default_factory=SubscriptionTree)
    merged: dict[float, Merging] = field(default_factory=dict)
    all: dict[str, Pattern] = field(default_factory=dict)
    sizes: list[tuple[int, int, dict[float, int]]] = field(default_factory=list)
    covering: Seconds = field(default_factory=Seconds)
    merging: dict[float, Seconds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.merged = {budget: Merging(self.graph, budget) for budget in self.budgets}
        self.merging = {budget: Seconds() for budget in self.budgets}

    def add(self, part: list[tuple[str, Pattern]]) -> None:
        """Put in a part of the set."""
        self.all.update(part)
        with self.covering:
            change = self.tree.change(part, ())
        for budget, merging in self.merged.items():
            with self.merging[budget]:
                merging.change(change.forward, change.withdraw)
        rows = {budget: len(merging.patterns) for budget, merging in self.merged.items()}
        self.sizes.append((len(self.tree), len(self.tree.uncovered), rows))


def grow(
    name: str, graph: ElementGraph, size: int, points: int, watch: Watch, budgets: tuple[float, ...] = ()
) -> Growing:
    """The tables of a set of this size, looked at in so many steps."""
    growing = Growing(name, graph, budgets)
    for part in watch(f"set {name}, {size:,} XPEs", _parts(name, graph, size, points), points):
        growing.add(part)
    return growing


def merged(name: str, graph: ElementGraph, size: int, watch: Watch) -> Growing:
    """The tables of a set with perfect and imperfect mergers; the last result is cached."""
    key = name, size
    if key not in _KEPT or _KEPT[key].graph is not graph:
        _KEPT.pop(key, None)
        if len(_KEPT) >= KEPT:
            del _KEPT[next(iter(_KEPT))]
        _KEPT[key] = grow(name, graph, size, POINTS, watch, (0.0, 0.1))
    return _KEPT[key]


POINTS = 5
KEPT = 2
_KEPT: dict[tuple[str, int], Growing] = {}


def _parts(name: str, graph: ElementGraph, size: int, points: int) -> Iterator[list[tuple[str, Pattern]]]:
    drawn = subscriptions(name, graph, size)
    while part := list(islice(drawn, -(-size // points))):
        yield part
