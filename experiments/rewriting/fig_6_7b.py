"""Figure 6.7(b) and H 5(a): response time by bandwidth, all approaches."""

from __future__ import annotations

from experiments.findings import Bar, Experiment, Findings, Table, Watch
from experiments.rewriting.bandwidths import bandwidth_chart, by_bandwidth, wrong_sentences, wrong_total
from experiments.rewriting.feeds import OF_DIALECTS
from experiments.rewriting.networks import (
    ROUTERS,
    gain,
    gain_chart,
    table,
)

PAPER = {"10 Mbps": "41", "50 Mbps": "20 to 25", "100 Mbps": "12"}
BARS = {"10 Mbps": 41.0, "50 Mbps": 25.0, "100 Mbps": 12.0}


def run(scale: float, watch: Watch) -> Findings:
    """All approaches."""
    found = by_bandwidth(scale, watch)
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
        (
            bandwidth_chart("Figure 6.7(b)", found, ("SDR", "NDDR", "EDRR", "LDRR")),
            gain_chart("Figure 6.7(b)", "bandwidth", found, PAPER),
        ),
        (
            *(
                Bar(f"NDDR better than SDR at {name}, %", gain(found[name]), "≥", BARS[name])
                for name in found
            ),
            Bar("EDRR and LDRR behind both at 50 Mbps (1: yes)", float(behind), "=", 1),
            Bar("deliveries unlike flooding's", wrong_total(found), "=", 0),
        ),
        wrong_sentences(found),
    )


EXPERIMENT = Experiment("rewriting/fig-6-7b", "Response time by bandwidth, all approaches", run, minutes=2)
