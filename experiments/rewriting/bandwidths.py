"""Response times by bandwidth, for the two parts of Figure 6.7."""

from __future__ import annotations

from experiments.findings import Chart, Watch, scaled
from experiments.rewriting.feeds import feed
from experiments.rewriting.networks import (
    DOCUMENTS,
    MBPS,
    PATTERNS,
    ROUTERS,
    SIZE,
    Outcome,
    Setting,
    line,
    responses,
)


def by_bandwidth(scale: float, watch: Watch) -> dict[str, dict[str, Outcome]]:
    """All approaches at 10, 50 and 100 Mbps."""
    documents = feed(SIZE, scaled(DOCUMENTS, scale))
    patterns = scaled(PATTERNS, scale)
    return {
        f"{mbps} Mbps": responses(Setting(line(ROUTERS), mbps, patterns), documents)
        for mbps in watch("bandwidths", MBPS, len(MBPS))
    }


def bandwidth_chart(title: str, found: dict[str, dict[str, Outcome]], names: tuple[str, ...]) -> Chart:
    """The response time of some approaches."""
    series: dict[str, tuple[tuple[float | str, float], ...]] = {
        name: tuple((point, each[name].total) for point, each in found.items()) for name in names
    }
    return Chart(f"{title}: response time by bandwidth", "bandwidth", "ms", series)


def wrong_total(found: dict[str, dict[str, Outcome]]) -> int:
    """How many deliveries are not those of flooding on images."""
    return sum(outcome.wrong for each in found.values() for outcome in each.values())


def wrong_sentences(found: dict[str, dict[str, Outcome]]) -> tuple[str, ...]:
    """A sentence for each approach with such deliveries."""
    return tuple(
        f"{point}, {name}: {outcome.wrong} deliveries are not those of flooding on images"
        for point, each in found.items()
        for name, outcome in each.items()
        if outcome.wrong
    )
