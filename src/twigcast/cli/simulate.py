"""``twigcast simulate`` compares routing strategies on a network of routers in virtual time."""

from __future__ import annotations

import json as json_text
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options import AsJson, examples
from twigcast.cli.tables import Column, ColumnKind, figures, print_table
from twigcast.cli.terminal import complain, escaped, plural, progress
from twigcast.errors import ExtraError, RoutingError

if TYPE_CHECKING:
    from twigcast.routing import Strategy
    from twigcast.simulator import Report, Scenario

EXAMPLES = examples(
    "twigcast simulate seven",
    "twigcast simulate seven --strategy with-Adv-with-Cov --json",
    "twigcast simulate line --subscriptions 1000 --plot line.png",
    "twigcast simulate fifteen",
    "twigcast simulate fifteen --strategy ES --strategy adaptive",
    "twigcast simulate four-links",
    "twigcast simulate my-network.toml",
)
WRONG_DELIVERY = 1


def command(
    scenario: Annotated[
        str | None, typer.Argument(metavar="[NAME|FILE]", help="A scenario by name, or its file (TOML).")
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            metavar="NAME",
            help="Run only this strategy; repeatable. A name such as L+s-sd or L+t is the scenario's first "
            "strategy with these annotations.",
        ),
    ] = None,
    dtd: Annotated[
        Path | None, typer.Option("--dtd", metavar="FILE", help="A DTD that replaces that of the scenario.")
    ] = None,
    root: Annotated[str | None, typer.Option("--root", metavar="NAME", help="The root element.")] = None,
    subscriptions: Annotated[
        int | None, typer.Option("--subscriptions", min=0, help="The number of subscriptions per subscriber.")
    ] = None,
    documents: Annotated[
        int | None, typer.Option("--documents", min=0, help="The number of documents to publish.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="The seed that places the publishers.")] = None,
    measured: Annotated[
        bool, typer.Option("--measured", help="Measure the time of the routers instead of modelling it.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the results as PNG and SVG.")
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the scenarios and exit.")] = False,
    json: AsJson = False,
) -> None:
    """Run a network of routers in virtual time and compare the costs of routing strategies.

    The messages that routers receive are counted; a document that travels as paths or in fragments counts
    once for each of them.
    A false positive is a publication that a router received although no subscriber behind it receives it.
    Delays come from a cost model, so that the same scenario gives the same figures on any machine.
    Strategies with annotations have a second table: bytes of annotations for each document that was sent to
    another router, and in % of the document; bytes of the plans that ask for them; documents from another
    router that had to be parsed, and rows of the table that annotations proved, refuted or left open, in %;
    processing time for each router that a document passed; and the part of the mean delay of the first
    strategy that is saved.
    Strategies with fragments have a table with the time until the first fragment is at the subscriber's
    router, until the match is certain there, and until the subscriber has the document; the share of the
    document that had come when it was certain; the most bytes that a router held; fragments received, those
    that were parsed, in %, and those that were lost and sent again.
    The exit code is 1 if the deliveries of a strategy differ from those of flooding.
    """
    for library in ("simpy", "pydantic") if plot is None else ("simpy", "pydantic", "matplotlib"):
        if find_spec(library) is None:
            raise ExtraError(library, extra="simulator")
    if list_names:
        _list()
        return
    if scenario is None:
        raise typer.BadParameter("give a scenario by name or file, or --list", param_hint="NAME|FILE")
    chosen = _chosen(_found(scenario), strategy or [], dtd, root, subscriptions, documents, seed)
    if measured:
        chosen = replace(chosen, cost=None)
    reports = _run(chosen)
    if json:
        fields = {"scenario": chosen.name, "results": [report.to_json() for report in reports]}
        typer.echo(json_text.dumps(fields, ensure_ascii=False, indent=2))
    else:
        _show(chosen, reports)
    if plot is not None:
        from twigcast.simulator import plot as draw

        for path in draw(reports, plot, chosen.name):
            complain(f"{path}: drawn")
    wrong = [report for report in reports if not report.correct]
    for report in wrong:
        complain(f"{report.name}: {report.missing:,} missing and {report.extra:,} superfluous deliveries")
    if wrong:
        raise typer.Exit(WRONG_DELIVERY)


def _found(scenario: str) -> Scenario:
    from twigcast.simulator import load_scenario, named_scenario

    path = Path(scenario)
    return load_scenario(path) if path.suffix == ".toml" or path.is_file() else named_scenario(scenario)


def _chosen(
    scenario: Scenario,
    names: list[str],
    dtd: Path | None,
    root: str | None,
    subscriptions: int | None,
    documents: int | None,
    seed: int | None,
) -> Scenario:
    """The scenario with the options of the command line."""
    if names:
        scenario = replace(scenario, strategies={name: _strategy(scenario, name) for name in names})
    if dtd is not None:
        scenario = replace(scenario, dtd=dtd, root=None)
    if root is not None:
        scenario = replace(scenario, root=root)
    if subscriptions is not None:
        scenario = replace(scenario, subscribers=replace(scenario.subscribers, count=subscriptions))
    if documents is not None:
        scenario = replace(scenario, publishers=replace(scenario.publishers, documents=documents))
    if seed is not None:
        scenario = replace(scenario, seed=seed)
    return scenario


def _strategy(scenario: Scenario, name: str) -> Strategy:
    """A strategy of the scenario, or its first one with this piggyback."""
    from twigcast.routing import protocol

    if name in scenario.strategies:
        return scenario.strategies[name]
    try:
        protocol(name)
    except RoutingError as error:
        names = ", ".join(scenario.strategies)
        hint = f" ({error.message})" if name.startswith(("ES", "L")) else ""
        raise typer.BadParameter(
            f"choose one of {names}, or a name such as L+s-sd{hint}", param_hint="--strategy"
        ) from None
    return scenario.with_piggyback(name)


def _run(scenario: Scenario) -> list[Report]:
    simulations = scenario.simulations()
    reports = []
    for simulation in simulations:
        with progress(simulation.name, simulation.steps(), simulation.length) as steps:
            for _ in steps:
                pass
        report = simulation.report()
        reports.append(report)
        complain(f"{report.name}: {plural(report.total, 'message')} ({report.wall:.1f} s)")
    return reports


def _show(scenario: Scenario, reports: list[Report]) -> None:
    title = f"{escaped(scenario.name)}: {plural(len(scenario.network.routers), 'router')}"
    print_table(_COSTS, list(map(_costs, reports)), title=title)
    for columns, rows in (
        (_MEDIATION, [] if scenario.mediation is None else list(map(_mediation, reports))),
        (_PIGGYBACK, _piggyback(reports) if any(each.strategy.piggyback for each in reports) else []),
        (_FRAGMENTS, [row for each in reports for row in _fragments(each)]),
    ):
        if rows:
            typer.echo("")
            print_table(columns, rows)


_STRATEGY = Column("strategy", ColumnKind.WORD)
_COSTS = [
    _STRATEGY,
    *figures(
        "messages", "advertised", "subscribed", "withdrawn", "published", "false +", "MB", "rows",
        "deliveries", "mean ms", "p50", "p99",
    ),
]  # fmt: skip
_MEDIATION = [_STRATEGY, *figures("documents/user", "recall", "images MB", "headers MB")]
_PIGGYBACK = [
    _STRATEGY,
    *figures("notes B", "%", "plan B", "parsed", "proven", "refuted", "open", "µs/hop", "saved"),
]
_FRAGMENTS = [
    _STRATEGY,
    *figures("first ms", "certain ms", "end ms", "earliness", "held KB", "fragments", "parsed", "resent"),
]


def _costs(report: Report) -> list[str]:
    kinds = report.messages
    return [
        report.name,
        f"{report.total:,}",
        f"{kinds.get('advertisement', 0) + kinds.get('unadvertisement', 0):,}",
        f"{kinds.get('subscription', 0):,}",
        f"{kinds.get('unsubscription', 0):,}",
        f"{kinds.get('publication', 0):,}",
        f"{100 * report.false_positive_rate:.2f} %",
        f"{report.bytes / 1e6:,.1f}",
        f"{report.rows:,}",
        f"{report.deliveries:,}" + ("" if report.correct else " WRONG"),
        *(f"{1000 * each:,.1f}" for each in (report.delay.mean, report.delay.p50, report.delay.p99)),
    ]


def _mediation(report: Report) -> list[str]:
    return [
        report.name,
        f"{report.documents_per_user:,.2f}",
        f"{report.recall:.3f}",
        f"{report.image_bytes / 1e6:,.2f}",
        f"{report.header_bytes / 1e6:,.2f}",
    ]


def _piggyback(reports: list[Report]) -> list[list[str]]:
    rows = []
    for report in reports:
        total, downstream = report.work.total.to_json(), report.work.downstream.to_json()
        rows.append(
            [
                report.name,
                f"{total['annotation_bytes_per_document']:,.0f}",
                f"{100 * total['annotation_share']:.1f}",
                f"{total['plan_bytes']:,}",
                *(
                    f"{100 * downstream[f'{part}_share']:.1f}"
                    for part in ("parsed", "proven", "refuted", "open")
                ),
                f"{1e6 * total['seconds_per_document']:,.0f}",
                f"{100 * report.saved(reports[0]):.1f}",
            ]
        )
    return rows


def _fragments(report: Report) -> list[list[str]]:
    """The row of a strategy with fragments; none for another strategy."""
    found = report.fragments
    if found is None:
        return []
    delays = found.first.mean, found.certain.mean, report.delay.mean
    row = [
        report.name,
        *(f"{1000 * each:,.1f}" for each in delays),
        f"{found.earliness:.3f}",
        f"{found.held_bytes / 1000:,.0f}",
        f"{found.received:,}",
        f"{100 * found.parsed / found.received if found.received else 0.0:.1f}",
        f"{found.resent:,}",
    ]
    return [row]


def _list() -> None:
    from twigcast.simulator import SCENARIOS

    rows = [
        [
            name,
            plural(len(scenario.network.routers), "router"),
            f"{plural(scenario.subscribers.count, 'subscription')} each",
            plural(scenario.publishers.documents, "document"),
        ]
        for name, scenario in SCENARIOS.items()
    ]
    if sys.stdout.isatty():
        print_table(
            [Column("scenario", ColumnKind.WORD), *figures("routers", "subscriptions", "documents")],
            rows,
        )
        return
    for row in rows:
        typer.echo("\t".join(row))
