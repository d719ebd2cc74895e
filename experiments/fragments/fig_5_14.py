"""Figure 5.14: the size of the scheduling window, and the delay with which fragments arrive.

A fragment arrives after each delay, a part of the mean time to parse one, in the order of their numbers.  A
window is scheduled when its last fragment has arrived and the window before is evaluated; the time of a query
is when it is decided.  There is no manifest: that a query has no match is known with the last fragment.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from math import inf
from statistics import fmean

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch
from experiments.fragments.documents import MADE, Feed, xmark
from experiments.fragments.trials import NF, Method, Trials
from twigcast.fragmenting import Fragment
from twigcast.fragmenting.scheduling.policies import PolicyName

WINDOWS = (1, 5, 10, 20, inf)
POLICIES: tuple[PolicyName, ...] = ("S", "C", "M")
DELAYS = (0, 10, 20, 40)
"""Per cent of the mean time to parse a fragment."""


def run(scale: float, watch: Watch) -> Findings:
    """Match Q1 to Q8 with each window, schedule and delay."""
    trials = Trials()
    feed = xmark(scale)
    parts = feed.parts()
    fragment_time = fmean(
        trials.run(feed, feed.whole(), {name: text}, Method(NF)).milliseconds / len(parts)
        for name, text in feed.queries.items()
    )
    steps = {
        (policy, window): _steps(trials, feed, parts, Method(f"PL_{policy}+-", policy, "+-", window))
        for policy in POLICIES
        for window in watch(f"windows of {policy}", WINDOWS, len(WINDOWS))
    }
    tables = (_windows(steps, feed), _delays(steps, fragment_time))
    at_forty = {window: _mean_end(steps["S", window], 0.4 * fragment_time) for window in WINDOWS}
    at_once = {window: _mean_end(steps["S", window], 0.0) for window in WINDOWS}
    bars = (
        Bar("at 40 % delay: time at w = ∞ against w = 1", at_forty[inf] / at_forty[1], "≥", 1),
        Bar("without delay: time at w = ∞ against w = 1", at_once[inf] / at_once[1], "<", 1),
        Bar("answers unlike the whole document's", len(trials.wrong), "=", 0),
    )
    charts = (
        Chart(
            "Window, Q1 to Q8",
            "",
            "mean CPU ms",
            {
                f"PL_{policy}+-": tuple(
                    (_name(window), _mean_end(steps[policy, window], 0.0)) for window in WINDOWS
                )
                for policy in POLICIES
            },
        ),
        Chart(
            "PL_S+-, by delay",
            "delay, % of the time to parse a fragment",
            "mean ms until decided",
            {
                f"w = {_name(window)}": tuple(
                    (
                        float(delay),
                        _mean_end(steps["S", window], delay / 100 * fragment_time),
                    )
                    for delay in DELAYS
                )
                for window in WINDOWS
            },
        ),
    )
    return Findings(tables, charts, bars, tuple(trials.wrong))


Steps = Mapping[str, tuple[list[float], float]]
"""By query: the milliseconds of work that follow on the arrival of each fragment, and the share parsed."""


def _steps(trials: Trials, feed: Feed, parts: list[Fragment], method: Method) -> Steps:
    found = {}
    for name, text in feed.queries.items():
        best: tuple[list[float], float] | None = None
        for _ in range(trials.rounds):
            matching = method.engine({name: text}).document(clock=time.thread_time)
            spent = []
            for number, part in enumerate(parts, 1):
                before = matching.work.seconds
                matching.add(part)
                if number == len(parts):
                    matching.finish()
                spent.append(1000 * (matching.work.seconds - before))
                if matching.decided:
                    break
            if best is None or sum(spent) < sum(best[0]):
                best = spent, matching.work.elements / feed.elements
            trials.check(feed, {name: text}, matching.answers, method.name)
        assert best is not None
        found[name] = best
    return found


def _end(spent: list[float], delay: float) -> float:
    """When a query is decided, if fragments arrive one delay after the other."""
    end = 0.0
    for number, work in enumerate(spent, 1):
        if work:
            end = max(end, number * delay) + work
    return end


def _mean_end(steps: Steps, delay: float) -> float:
    return fmean(_end(spent, delay) for spent, _ in steps.values())


def _name(window: float) -> str:
    return "∞" if window == inf else f"{window:g}"


def _windows(steps: Mapping[tuple[PolicyName, float], Steps], feed: Feed) -> Table:
    columns = ["w"]
    for policy in POLICIES:
        columns += [f"PL_{policy}+- ms", f"PL_{policy}+- parsed %"]
    rows: list[tuple[Cell, ...]] = []
    for window in WINDOWS:
        row: list[Cell] = [_name(window)]
        for policy in POLICIES:
            found = steps[policy, window].values()
            row += [fmean(sum(spent) for spent, _ in found), 100 * fmean(share for _, share in found)]
        rows.append(tuple(row))
    why = (
        *MADE[:1],
        f"Means over {', '.join(feed.queries)}; the thesis does not say of which queries its bars are.",
        "It says that a larger window takes less time.",
    )
    return Table("Size of the window", tuple(columns), tuple(rows), why)


def _delays(steps: Mapping[tuple[PolicyName, float], Steps], fragment_time: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for delay in DELAYS:
        row: list[Cell] = [delay]
        row += [_mean_end(steps["S", window], delay / 100 * fragment_time) for window in WINDOWS]
        rows.append(tuple(row))
    columns = ("delay %", *(f"w = {_name(window)}: ms" for window in WINDOWS))
    why = (
        f"The time to parse a fragment is {fragment_time:.2f} ms; the time of a query is when it is decided.",
        "The thesis says that at 40 % w = ∞ is worse than w = 1.",
    )
    return Table("PL_S+-, delay of fragments", columns, tuple(rows), why)


EXPERIMENT = Experiment("fragments/fig-5-14", "Scheduling window and delay", run, minutes=3)
