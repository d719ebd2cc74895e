"""The two networks of the paper, seven and 127 routers in a binary tree, with a subscriber at each leaf.

They are the simulator's scenarios ``seven`` and ``hundred-and-twenty-seven`` with the paper's schema and
sizes: documents travel as paths, each a message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from benchmarks.workloads import data
from experiments.findings import Bar, Cell, Chart, Findings, Table, Watch, scaled
from experiments.routing.schemas import NITF_DOCUMENTS, PSD_DOCUMENTS, PSD_SUBSCRIPTIONS
from experiments.routing.sets import SET_A
from twigcast.errors import ExtraError

if TYPE_CHECKING:
    from twigcast.simulator import Report, Scenario

SEVEN = "seven"
LARGE = "hundred-and-twenty-seven"
XPES = 1000
DOCUMENTS = 50
DELAY = (
    "The delay is that of the simulator's stated cost model, not of the paper's machines; it begins at the "
    "publisher and ends when the whole document has reached a subscriber."
)


def of_psd(name: str, scale: float, xpes: int = XPES) -> Scenario:
    """A network with this many XPEs of PSD for each subscriber."""
    scenario = _named(name)
    return replace(
        scenario,
        dtd=data("psd/psd7003-reconstructed.dtd"),
        subscribers=replace(scenario.subscribers, count=scaled(xpes, scale), options=PSD_SUBSCRIPTIONS),
        publishers=replace(scenario.publishers, documents=scaled(DOCUMENTS, scale), options=PSD_DOCUMENTS),
    )


def of_nitf(name: str, scale: float, xpes: int = XPES) -> Scenario:
    """A network with this many XPEs of NITF, as those of set A, for each subscriber."""
    scenario = of_psd(name, scale, xpes)
    return replace(
        scenario,
        dtd=data("nitf/nitf-2-5.dtd"),
        subscribers=replace(scenario.subscribers, options=SET_A),
        publishers=replace(scenario.publishers, options=NITF_DOCUMENTS),
    )


def run_all(scenario: Scenario, watch: Watch) -> list[Report]:
    """The reports of a scenario's strategies, one after the other, each let go of before the next."""
    reports = []
    simulations = scenario.simulations()
    while simulations:
        simulation = simulations.pop(0)
        what = f"{len(scenario.network.routers)} routers, {simulation.name}"
        for _ in watch(what, simulation.steps(), simulation.length):
            pass
        reports.append(simulation.report())
    return reports


def traffic(
    title: str, reports: Sequence[Report], paper: Mapping[str, tuple[int, float]], why: Sequence[str]
) -> Table:
    """Messages and delay by strategy, beside the paper's."""
    first = reports[0].total
    first_of_paper = next(iter(paper.values()))[0]
    rows: list[tuple[Cell, ...]] = []
    for report in reports:
        messages, delay = paper[report.name]
        published = report.messages.get("publication", 0)
        rows.append(
            (
                report.name,
                report.total,
                report.total / first,
                messages,
                messages / first_of_paper,
                report.total - published,
                published,
                100 * report.false_positive_rate,
                report.rows,
                1000 * report.delay.mean,
                delay,
                report.wall,
            )
        )
    return Table(
        title,
        (
            "method",
            "messages",
            "of the first",
            "paper",
            "paper, of the first",
            "controls",
            "publications",
            "false positives %",
            "rows",
            "delay ms",
            "paper ms",
            "took s",
        ),
        tuple(rows),
        tuple(why),
    )


def chart(title: str, reports: Sequence[Report], paper: Mapping[str, tuple[int, float]]) -> Chart:
    """Messages by strategy, as parts of those without any technique."""
    first = reports[0].total
    most = next(iter(paper.values()))[0]
    return Chart(
        title,
        "",
        "messages, of those without any technique",
        {"ours": tuple((report.name, report.total / first) for report in reports)},
        {"paper": tuple((name, messages / most) for name, (messages, _) in paper.items())},
    )


def bars(reports: Sequence[Report]) -> tuple[Bar, ...]:
    """What is asked of the six strategies together."""
    by_name = {report.name: report for report in reports}
    return (
        Bar(
            "messages with-Adv-with-CovPM, of no-Adv-no-Cov",
            by_name["with-Adv-with-CovPM"].total / by_name["no-Adv-no-Cov"].total,
            "≤",
            0.40,
        ),
        Bar("minutes for all six strategies", sum(report.wall for report in reports) / 60, "≤", 10),
        Bar(
            "false positives at D ≤ 0.1, %",
            100 * by_name["with-Adv-with-CovIPM"].false_positive_rate,
            "<",
            2,
        ),
        Bar("deliveries unlike flooding's", sum(each.missing + each.extra for each in reports), "=", 0),
    )


def found(tables: Sequence[Table], charts: Sequence[Chart], reports: Sequence[Report]) -> Findings:
    """The findings of a network; deliveries that are not those of flooding are wrong."""
    wrong = tuple(
        f"{report.name}: {report.missing:,} deliveries are missing, {report.extra:,} too many"
        for report in reports
        if not report.correct
    )
    return Findings(tuple(tables), tuple(charts), wrong=wrong)


def _named(name: str) -> Scenario:
    if find_spec("simpy") is None:
        raise ExtraError("simpy", extra="simulator")
    from twigcast.simulator import named_scenario

    return named_scenario(name)
