"""Replays that were begun: which past batches each of their own batches sends again.

    work/replays/
        -3.json      {"request": …, "version": "7", "chunks": [[0, 1, 2], [3]]}: the batches -3 and -4

A plan is written before the first batch of a replay and removed after the last, so a replay that was
interrupted is finished by the next one.  Replays and retries share the negative numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from twigcast.errors import RunError
from twigcast.spark.runs.journal import Journal
from twigcast.system import write_atomically

FOLDER = "replays"


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """What a replay was asked for: the past batches, the subscriber and the sink, all of them by default.

    ``since`` is a time in ISO format.
    """

    since: str | None = None
    from_batch: int | None = None
    subscriber: str | None = None
    sink: str | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """A replay: its first number, and the past batches of each of its batches, which count downwards.

    A source that cannot be a stream is read as a whole: its one chunk is none.
    """

    first: int
    request: ReplayRequest
    version: str
    chunks: tuple[tuple[int, ...] | None, ...]

    def numbers(self) -> list[int]:
        """The numbers of the batches of the replay."""
        return [self.first - place for place in range(len(self.chunks))]


class ReplayPlans:
    """The plans of replays that are not finished, in the work folder of a pipeline."""

    def __init__(self, work: Path) -> None:
        self._folder = work / FOLDER

    def unfinished(self) -> list[ReplayPlan]:
        """The plans, the oldest first; raises ``RunError`` if one is damaged."""
        return [
            _plan(file) for file in sorted(self._folder.glob("-*.json"), key=lambda file: -int(file.stem))
        ]

    def next_number(self, journal: Journal) -> int:
        """The next negative number that neither a retry nor a replay has."""
        planned = [number for plan in self.unfinished() for number in plan.numbers()]
        return min([0, *journal.batches(), *planned]) - 1

    def begin(
        self, first: int, request: ReplayRequest, version: str, chunks: Iterable[tuple[int, ...] | None]
    ) -> ReplayPlan:
        """Write a plan; from then on the replay is finished sooner or later."""
        plan = ReplayPlan(first, request, version, tuple(chunks))
        self._folder.mkdir(parents=True, exist_ok=True)
        content = {"request": asdict(request), "version": version, "chunks": plan.chunks}
        write_atomically(self._file(plan), json.dumps(content).encode())
        return plan

    def finish(self, plan: ReplayPlan) -> None:
        """Remove the plan of a replay whose batches are all finished."""
        self._file(plan).unlink(missing_ok=True)

    def _file(self, plan: ReplayPlan) -> Path:
        return self._folder / f"{plan.first}.json"


def _plan(file: Path) -> ReplayPlan:
    try:
        found = json.loads(file.read_bytes())
        chunks = tuple(None if chunk is None else tuple(map(int, chunk)) for chunk in found["chunks"])
        return ReplayPlan(int(file.stem), ReplayRequest(**found["request"]), str(found["version"]), chunks)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{file}: the plan of a replay cannot be read ({error}): remove the file, and replay again"
        ) from None
