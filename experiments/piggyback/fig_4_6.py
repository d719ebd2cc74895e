"""Figure 4.6: what L+s-sd saves against ES, by f and bandwidth, and by f and the number of subscriptions."""

from __future__ import annotations

from experiments.findings import Experiment, Findings, Watch
from experiments.piggyback.comparing import Variant, charts, comparison, found, said, simulate_all
from experiments.piggyback.networks import LOAD, MODEL, ROWS, USUAL, setting

BANDWIDTHS = {
    "1 MBps": (1e6, {0.25: "15", 1.0: "over 30"}),
    "10 MBps": (1e7, {0.25: "22", 1.0: "42"}),
    "100 MBps": (1e8, {0.25: "like 10 MBps", 1.0: "like 10 MBps"}),
}
SUBSCRIPTIONS = {
    2_500: {1.0: "35"},
    ROWS: {0.5: "28", 1.0: "42"},
    50_000: {0.25: "below 0", 0.5: "11", 1.0: "41"},
}


def run(scale: float, watch: Watch) -> Findings:
    """Simulate three bandwidths, then three numbers of subscriptions."""
    by_bandwidth = [
        Variant(label, setting(scale), bandwidth, printed)
        for label, (bandwidth, printed) in BANDWIDTHS.items()
    ]
    by_rows = [
        Variant(f"{rows:,} subscriptions", setting(scale, rows), printed=printed)
        for rows, printed in SUBSCRIPTIONS.items()
    ]
    first = simulate_all(by_bandwidth, watch)
    second = simulate_all(by_rows, watch)
    slow, usual, fast = (said(first, label, 0.25) for label in BANDWIDTHS)
    few, many, most = (by_rows[0].label, by_rows[1].label, by_rows[2].label)
    return found(
        [
            comparison(
                "By bandwidth",
                by_bandwidth,
                first,
                (
                    LOAD,
                    MODEL,
                    f"At f = 0.25 PAPER saves {slow}, {usual} and {fast} % at 1, 10 and 100 MBps: more "
                    "bandwidth leaves more to save, and 100 MBps is like 10, as the papers say.",
                    "The level is above the papers' everywhere, since our annotations refute more rows.",
                ),
            ),
            comparison(
                "By subscriptions at each router",
                by_rows,
                second,
                (
                    LOAD,
                    MODEL,
                    f"At f = 1 PAPER saves {said(second, few, 1.0)}, {said(second, many, 1.0)} and "
                    f"{said(second, most, 1.0)} %; the papers print 35, 42 and 41.",
                    f"At f = 0.25 and 50,000 the papers have ES ahead and PAPER saves "
                    f"{said(second, most, 0.25)} %: the model fails there.  The time to the first match "
                    "depends on the rows in a way that the text does not tell.",
                    "In a smaller run the numbers of subscriptions are smaller in the same proportion, and "
                    "each row is charged for several.",
                ),
            ),
        ],
        [
            *charts("Figure 4.6: bandwidth", by_bandwidth, first),
            *charts("Figure 4.6: subscriptions", by_rows, second),
        ],
        [*first.values(), *second.values()],
    )


EXPERIMENT = Experiment(
    "piggyback/fig-4-6", "ES and L+s-sd by bandwidth and by subscriptions", run, minutes=6, usual=USUAL
)
