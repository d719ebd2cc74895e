"""How early matches are known: the order of fragments, and what their headers say.

Spans of 64 KB arrive in document order, in random order, or by novelty: each has the most label paths that
none before it had, so that the sender needs the headers and no subscriptions.  The schedule N, which counts
subscriptions in place of label paths, is a little better (0.014 and not 0.016 for 10,000 linear ones), and
takes 50 s of CPU time to order these fragments, so it is not part of the usual run.
For each match, the share of the bytes that had arrived when it became certain is measured.  The thesis does
not measure this.
"""

from __future__ import annotations

from random import Random

from benchmarks.workloads import subscriptions
from experiments.engines.fragments.earliness import SHARES, Earliness, earliness
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.fragments.documents import MADE, xmark
from twigcast.filtering import Index
from twigcast.fragmenting import Fragment, Manifest, Spans, fragment

SUBSCRIPTIONS = 10_000
BYTES = 64_000
KINDS = ("linear", "branching")
IN_ORDER, RANDOM, NOVELTY, AHEAD = "in order", "random order", "novelty", "in order, headers first"


def run(scale: float, watch: Watch) -> Findings:
    """Measure each order with linear and with branching subscriptions."""
    body = xmark(scale).body
    parts = list(fragment(body, doc_id="XMark", cut=Spans(bytes=BYTES), header="prefix+paths"))
    wrong: list[str] = []
    found: dict[tuple[str, str], Earliness] = {}
    for kind in watch("subscriptions", KINDS, len(KINDS)):
        index = Index(enumerate(subscriptions("xmark", kind, scaled(SUBSCRIPTIONS, scale))))
        matches = len(index.match(body))
        for order, arriving in _orders(parts).items():
            manifest = Manifest.of(parts) if order == AHEAD else None
            measured = found[kind, order] = earliness(index, arriving, manifest)
            if len(measured.shares) != matches:
                wrong.append(f"{kind}, {order}: {len(measured.shares)} matches and not {matches}")
    bars = (
        Bar("linear, in order: mean share", found["linear", IN_ORDER].mean, "≤", 0.45),
        Bar("linear, by novelty: mean share", found["linear", NOVELTY].mean, "≤", 0.04),
        Bar("linear, headers first: mean share", found["linear", AHEAD].mean, "=", 0),
        Bar("answers unlike the whole document's", len(wrong), "=", 0),
    )
    return Findings((_table(found, len(parts)),), _charts(found), bars, tuple(wrong))


def _orders(parts: list[Fragment]) -> dict[str, list[Fragment]]:
    shuffled = list(parts)
    Random(1).shuffle(shuffled)
    return {IN_ORDER: parts, RANDOM: shuffled, NOVELTY: _by_novelty(parts), AHEAD: parts}


def _by_novelty(parts: list[Fragment]) -> list[Fragment]:
    left = {part.number: set(part.paths.numbers if part.paths else ()) for part in parts}
    seen: set[int] = set()
    order = []
    while left:
        number = max(left, key=lambda each: (len(left[each] - seen), -each))
        seen |= left.pop(number)
        order.append(parts[number - 1])
    return order


def _table(found: dict[tuple[str, str], Earliness], fragments: int) -> Table:
    columns = ("subscriptions", "order", "matches", "mean", *(f"known at {share:.0%}" for share in SHARES))
    rows: list[tuple[Cell, ...]] = [
        (kind, order, len(each.shares), each.mean, *(each.known(share) for share in SHARES))
        for (kind, order), each in found.items()
    ]
    why = (
        *MADE[:1],
        f"{fragments} spans of 64 KB; the mean is the share of bytes at which a match is certain.",
        "With the headers first, label paths decide the linear subscriptions before any byte has come.",
    )
    return Table("Earliness", columns, tuple(rows), why)


def _charts(found: dict[tuple[str, str], Earliness]) -> tuple[Chart, ...]:
    return tuple(
        Chart(
            f"Matches that are known, {kind}",
            "share of the bytes",
            "share of the matches",
            {
                order: tuple((share, each.known(share)) for share in (0.0, *SHARES, 1.0))
                for (of, order), each in found.items()
                if of == kind
            },
        )
        for kind in KINDS
    )


EXPERIMENT = Experiment("fragments/earliness", "How early matches are known", run, minutes=2)
