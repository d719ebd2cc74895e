"""Runs the reference engine on a document in fragments, and checks its answers against the whole document."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from experiments.engines.fragments import Eliminate, ThesisEngine, ThesisMatching, ThesisOptions
from experiments.findings import Cell, Chart, Table
from experiments.fragments.documents import Feed
from twigcast.filtering import Index
from twigcast.fragmenting import Fragment
from twigcast.fragmenting.scheduling.policies import PolicyName
from twigcast.pattern import parse

ROUNDS = 3
NF = "NF"


@dataclass(frozen=True, slots=True)
class Method:
    """How fragments are matched, by the thesis's notation: PL_S^{+,-} is ``PL_S+-``."""

    name: str
    policy: PolicyName = "R"
    eliminate: Eliminate = ""
    window: float = inf

    def engine(self, queries: Mapping[str, str]) -> ThesisEngine:
        engine = ThesisEngine(ThesisOptions(self.policy, self.window, self.eliminate))
        for name, text in queries.items():
            engine.add(name, parse(text))
        return engine


@dataclass(frozen=True, slots=True)
class Trial:
    """What matching took: CPU milliseconds, of these for headers and scheduling; the elements parsed."""

    milliseconds: float
    headers: float
    scheduling: float
    share: float
    fragments: int


@dataclass(slots=True)
class Trials:
    """The trials of an experiment, and a sentence for each answer that is not that of the whole document."""

    rounds: int = field(default_factory=lambda: ROUNDS)
    """How often each method is run; the fastest run counts."""
    wrong: list[str] = field(default_factory=list)
    _truths: dict[tuple[str, int, str], bool] = field(default_factory=dict)

    def run(self, feed: Feed, parts: Sequence[Fragment], queries: Mapping[str, str], method: Method) -> Trial:
        """Match the fragments, all of them there from the beginning; the fastest of some rounds."""
        best: ThesisMatching | None = None
        for _ in range(self.rounds):
            matching = method.engine(queries).document(clock=time.thread_time)
            gc.disable()
            for part in parts:
                matching.add(part)
            matching.finish()
            gc.enable()
            if best is None or matching.work.seconds < best.work.seconds:
                best = matching
        assert best is not None
        self.check(feed, queries, best.answers, method.name)
        work = best.work
        return Trial(
            1000 * work.seconds,
            1000 * work.headers,
            1000 * work.scheduling,
            work.elements / feed.elements,
            len(work.order),
        )

    def each(self, feed: Feed, parts: Sequence[Fragment], method: Method) -> dict[str, Trial]:
        """Match each query of a document by itself."""
        return {name: self.run(feed, parts, {name: text}, method) for name, text in feed.queries.items()}

    def check(
        self, feed: Feed, queries: Mapping[str, str], answers: Mapping[object, bool], method: str
    ) -> None:
        """Note the answers that are not those of the kernel on the whole document."""
        key = (feed.name, len(feed.body))
        unknown = {text for text in queries.values() if (*key, text) not in self._truths}
        if unknown:
            index = Index()
            index.add_all((text, parse(text)) for text in unknown)
            matched = set(index.match(feed.body).ids)
            self._truths |= {(*key, text): text in matched for text in unknown}
        for name, text in queries.items():
            truth = self._truths[*key, text]
            if answers.get(name) is not truth:
                self.wrong.append(f"{feed.name}, {name}, {method}: {answers.get(name)} and not {truth}")
            if name in feed.queries and truth == name.endswith("−"):
                self.wrong.append(f"{feed.name}: {name} is {truth}, which Table 5.1 contradicts")


def by_query(
    title: str, trials: Mapping[str, Mapping[str, Trial]], why: Sequence[str], base: str | None = None
) -> Table:
    """For each query and method the time and the share of elements; also the time against ``base``."""
    methods = list(trials)
    columns = ["query"]
    for method in methods:
        columns += [f"{method} ms", f"{method} parsed %"]
        if base is not None and method != base:
            columns.append(f"{method} / {base} %")
    rows: list[tuple[Cell, ...]] = []
    for query in trials[methods[0]]:
        row: list[Cell] = [query]
        for method in methods:
            trial = trials[method][query]
            row += [trial.milliseconds, 100 * trial.share]
            if base is not None and method != base:
                row.append(100 * trial.milliseconds / trials[base][query].milliseconds)
        rows.append(tuple(row))
    return Table(title, tuple(columns), tuple(rows), tuple(why))


def chart(title: str, trials: Mapping[str, Mapping[str, Trial]]) -> Chart:
    """The time by query, one series for each method."""
    return Chart(
        title,
        "",
        "CPU ms",
        {
            method: tuple((query, trial.milliseconds) for query, trial in by_name.items())
            for method, by_name in trials.items()
        },
    )
