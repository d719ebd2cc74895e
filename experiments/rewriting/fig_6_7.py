"""Figures 6.7(a), 6.7(b) and H 5(a): response time by bandwidth."""

from __future__ import annotations

from experiments.findings import Bar, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.feeds import OF_DIALECTS, feed
from experiments.rewriting.networks import (
    DOCUMENTS,
    MBPS,
    PATTERNS,
    ROUTERS,
    SIZE,
    Outcome,
    Setting,
    gain,
    responses,
    table,
)
from twigcast.simulator import line

PAPER = {"10 Mbps": "41", "50 Mbps": "20 to 25", "100 Mbps": "12"}
BARS = {"10 Mbps": 41.0, "50 Mbps": 25.0, "100 Mbps": 12.0}


def run_router_or_data(scale: float, watch: Watch) -> Findings:
    """Mappings known to the routers, and mappings in headers."""
    found = _measured(scale, watch)
    rows = tuple(
        (
            name,
            each["NDDR"].total,
            each["NDDR_data"].total,
            100 * (each["NDDR_data"].total / each["NDDR"].total - 1),
            None,
        )
        for name, each in found.items()
    )
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    headers = [len(each.dialect.mapping.canonical.encode()) + 60 for each in documents]
    share = [100 * size / len(each.body) for size, each in zip(headers, documents, strict=True)]
    worst = max(each["NDDR_data"].transmission / each["NDDR"].transmission for each in found.values())
    return Findings(
        (
            Table(
                f"A line of {ROUTERS} routers, documents of 20 KB: {OF_DIALECTS}",
                ("bandwidth", "NDDR_router ms", "NDDR_data ms", "more %", "paper"),
                rows,
                (
                    'The text has no numbers of this figure; both are "similar" at each bandwidth.',
                    f"The rules of a mapping take {min(headers):,} to {max(headers):,} bytes with their "
                    f"name, {max(share):.1f} % of a document at most; each mapping is compiled once.",
                ),
            ),
        ),
        (_chart("Figure 6.7(a)", found, ("NDDR", "NDDR_data")),),
        (
            Bar("largest header, bytes", max(headers), "≤", 1024),
            Bar("largest header, % of its document", max(share), "≤", 3),
            Bar("transmission with NDDR_data over NDDR_router, %", 100 * (worst - 1), "≤", 2),
            Bar("deliveries unlike flooding's", _wrong(found), "=", 0),
        ),
        _wrongs(found),
    )


def run_approaches(scale: float, watch: Watch) -> Findings:
    """All approaches."""
    found = _measured(scale, watch)
    twice = found["10 Mbps"]["SDR"].bytes / found["10 Mbps"]["NDDR"].bytes
    share = 100 * found["10 Mbps"]["SDR"].transmission / found["10 Mbps"]["SDR"].total
    at_50 = found["50 Mbps"]
    behind = max(at_50["NDDR"].total, at_50["SDR"].total) < min(at_50["EDRR"].total, at_50["LDRR"].total)
    return Findings(
        (
            table(
                f"A line of {ROUTERS} routers, documents of 20 KB: {OF_DIALECTS}", "bandwidth", found, PAPER
            ),
            Table(
                "Beside the text",
                ("what", "ours", "paper"),
                (
                    ("bytes of SDR, of NDDR's", twice, "about 2"),
                    ("T_t of SDR at 10 Mbps, % of its T", share, "about 78"),
                ),
            ),
        ),
        (_chart("Figure 6.7(b)", found, ("SDR", "NDDR", "EDRR", "LDRR")),),
        (
            *(
                Bar(f"NDDR better than SDR at {name}, %", gain(found[name]), "≥", BARS[name])
                for name in found
            ),
            Bar("EDRR and LDRR behind both at 50 Mbps (1: yes)", float(behind), "=", 1),
            Bar("deliveries unlike flooding's", _wrong(found), "=", 0),
        ),
        _wrongs(found),
    )


def _measured(scale: float, watch: Watch) -> dict[str, dict[str, Outcome]]:
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    patterns = scaled(PATTERNS, scale)
    return {
        f"{mbps} Mbps": responses(Setting(line(ROUTERS), mbps, patterns), documents)
        for mbps in watch("bandwidths", MBPS, len(MBPS))
    }


def _chart(title: str, found: dict[str, dict[str, Outcome]], names: tuple[str, ...]) -> Chart:
    series: dict[str, tuple[tuple[float | str, float], ...]] = {
        name: tuple((point, each[name].total) for point, each in found.items()) for name in names
    }
    return Chart(f"{title}: response time by bandwidth", "bandwidth", "ms", series)


def _wrong(found: dict[str, dict[str, Outcome]]) -> int:
    return sum(outcome.wrong for each in found.values() for outcome in each.values())


def _wrongs(found: dict[str, dict[str, Outcome]]) -> tuple[str, ...]:
    return tuple(
        f"{point}, {name}: {outcome.wrong} deliveries are not those of flooding on images"
        for point, each in found.items()
        for name, outcome in each.items()
        if outcome.wrong
    )


A = Experiment(
    "rewriting/fig-6-7a", "Mappings at the routers or in headers, by bandwidth", run_router_or_data, minutes=2
)
B = Experiment("rewriting/fig-6-7b", "Response time by bandwidth, all approaches", run_approaches, minutes=2)
EXPERIMENTS = (A, B)
