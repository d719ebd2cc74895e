"""The size of annotations, and what they decide at the second router: section 6.2 of the paper.

There are nine loads, since no load has the papers' figures: 10 % of the rows matching and 1,280 forwarded
patterns, if their 160 bytes of NS are bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.piggyback.networks import ROWS, schema
from experiments.piggyback.pairs import Passage, RouterPair
from twigcast.analysis import Selectivity, sample_selectivity
from twigcast.document import read
from twigcast.filtering import Index
from twigcast.pattern import Pattern, parse
from twigcast.routing import Strategy
from twigcast.workload import generate_documents, generate_subscriptions
from twigcast.workload.presets import NITF_MEDIUM, THESIS_4_2

DOCUMENTS = 50
SAMPLE = 64
USED = "3–8 steps"
BASE = Strategy(covering=False, aggregation=0.25)
STRATEGIES = {
    "ND in 10 bytes": replace(BASE, piggyback="L-d", annotation_bytes=10),
    "ND in 80 bytes, printed choice": replace(
        BASE, piggyback="L-d", annotation_bytes=80, selection="printed"
    ),
    "NS": replace(BASE, piggyback="L-s"),
    "NS + ND": replace(BASE, piggyback="L-sd"),
    "L+s-sd": replace(BASE, piggyback="L+s-sd"),
    "L+t": replace(BASE, piggyback="L+t"),
    "L+a": replace(BASE, piggyback="L+a"),
}
PAPERS_REFUTED = {"NS": 37, "ND": 70}
PAPERS = {"NS": "160", "ND in 80 bytes, printed choice": "80", "NS + ND": "240", "L+s-sd": "464"}
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Load:
    """Subscriptions of a number of steps, without those that match more than a share of the documents."""

    name: str
    least_steps: int
    skew: float = 0.5
    most_matches: float = 1.0


LOADS = (
    Load("1–8 steps", 1),
    Load("2–8 steps", 2),
    Load(USED, 3),
    Load("3–8 steps, skew 0", 3, skew=0.0),
    Load("4–8 steps", 4),
    Load("1–8 steps, matching at most 90 %", 1, most_matches=0.9),
    Load("2–8 steps, matching at most 80 %", 2, most_matches=0.8),
    Load("2–8 steps, matching at most 50 %", 2, most_matches=0.5),
    Load("1–8 steps, matching at most 50 %", 1, most_matches=0.5),
)

Passages = dict[str, list[Passage]]


def run(scale: float, watch: Watch) -> Findings:
    """Pass documents through two routers with each load and strategy."""
    graph = schema("NITF")
    bodies = list(generate_documents(graph, scaled(DOCUMENTS, max(scale, 0.2)), replace(NITF_MEDIUM, seed=1)))
    sample = list(generate_documents(graph, SAMPLE, replace(NITF_MEDIUM, seed=2)))
    selectivity = sample_selectivity(map(read, sample))
    by_load: dict[str, tuple[int, Passages]] = {}
    wrong: list[str] = []
    for load in watch("loads", LOADS, len(LOADS)):
        rows = _rows(load, scaled(ROWS, scale), sample)
        told, passages = _passed(rows, bodies, sample, selectivity)
        by_load[load.name] = told, passages
        wrong += [f"{load.name}: {sentence}" for sentence in _wrong(rows, bodies, passages)]
    told, used = by_load[USED]
    worst = min(_refuted_of_open(passages["ND in 10 bytes"]) for _, passages in by_load.values())
    structure = 100 * _bytes(used["L+t"]) / fmean(each.body for each in used["L+t"])
    bars = (
        Bar("of the rows that do not match, refuted by ND in 10 bytes, %, least", worst, "≥", 93),
        Bar(f"bytes of NS + ND, {USED}", _bytes(used["NS + ND"]), "≤", 110),
        Bar(f"bytes of L+s-sd, {USED}", _bytes(used["L+s-sd"]), "≤", 464),
        Bar("bytes of structure, names known, % of the body", structure, "≤", 3),
        Bar("deliveries unlike flooding's", len(wrong), "=", 0),
    )
    return Findings((_sizes(used, told), _loads(by_load)), (_chart(by_load),), bars, tuple(wrong))


def _rows(load: Load, count: int, sample: Sequence[bytes]) -> list[tuple[str, Pattern]]:
    """The subscriptions of a load; how often one matches is seen on the sample."""
    options = replace(THESIS_4_2, seed=1, min_steps=load.least_steps, skew=load.skew)
    texts = generate_subscriptions(schema("NITF"), count, options)
    rows = [(f"s{number}", parse(text)) for number, text in enumerate(texts)]
    if load.most_matches == 1.0:
        return rows
    index = Index()
    index.add_all(rows)
    matches: dict[Hashable, int] = {}
    for body in sample:
        for id in index.match(body).ids:
            matches[id] = matches.get(id, 0) + 1
    return [(id, row) for id, row in rows if matches.get(id, 0) <= load.most_matches * len(sample)]


def _passed(
    rows: list[tuple[str, Pattern]],
    bodies: Sequence[bytes],
    sample: Sequence[bytes],
    selectivity: Selectivity,
) -> tuple[int, Passages]:
    pair = RouterPair(schema("NITF"), rows, BASE, selectivity)
    passages: Passages = {}
    for name, strategy in STRATEGIES.items():
        pair.use(strategy, sample)
        sent = (pair.send(number, body) for number, body in enumerate(bodies))
        passages[name] = [each for each in sent if each is not None]
    return pair.told, passages


def _wrong(rows: list[tuple[str, Pattern]], bodies: Sequence[bytes], passages: Passages) -> list[str]:
    """A sentence for each strategy that did not deliver what matches."""
    index = Index()
    index.add_all(rows)
    matching = [each for each in (sorted(map(str, index.match(body).ids)) for body in bodies) if each]
    return [
        f"{name}: deliveries are not those of flooding"
        for name, passed in passages.items()
        if [sorted(each.ids) for each in passed if each.ids] != matching
    ]


def _refuted_of_open(passed: Sequence[Passage]) -> float:
    """Of the rows that do not match, the share that is refuted, in per cent."""
    return (
        100
        * sum(each.work.refuted for each in passed)
        / sum(each.work.rows - each.matching for each in passed)
    )


def _refuted(passed: Sequence[Passage]) -> float:
    return 100 * sum(each.work.refuted for each in passed) / sum(each.work.rows for each in passed)


def _bytes(passed: Sequence[Passage]) -> float:
    return fmean(each.annotations for each in passed)


def _sizes(passages: Passages, told: int) -> Table:
    rows = []
    for name, passed in passages.items():
        work = [each.work for each in passed]
        rows.append(
            (
                name,
                _bytes(passed),
                PAPERS.get(name),
                fmean(each.paper_bits for each in passed) / 8,
                100 * _bytes(passed) / fmean(each.body for each in passed),
                _refuted(passed),
                100 * sum(each.proven for each in work) / sum(each.rows for each in work),
                100 * sum(each.parsed for each in work) / len(work),
            )
        )
    columns = (
        "",
        "bytes",
        "papers: bytes",
        "bytes as the papers count",
        "% of the body",
        "rows refuted %",
        "rows proven %",
        "parsed at b2 %",
    )
    why = (
        f"Load: {USED}, p(*) = p(//) = 0.1, p(nested) = 0.2, skew 0.5 (preset thesis-4.2); {told:,} patterns "
        "are forwarded.",
        "The papers' 464 bytes are PS 224, NS 160 and ND 80; ours have a header too, with epoch and figures.",
        "ND needs few questions if each is chosen by what the others leave open, NS a bit for each pattern "
        "that is forwarded, and of those there are fewer here than in the papers.",
        "With structure or answers the second router parses nothing; the papers have neither.",
    )
    return Table(f"Size and effect of annotations, {USED}", columns, tuple(rows), why)


def _loads(by_load: dict[str, tuple[int, Passages]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, (told, passages) in by_load.items():
        few, many = passages["ND in 10 bytes"], passages["ND in 80 bytes, printed choice"]
        matching = 100 * sum(each.matching for each in few) / sum(each.work.rows for each in few)
        rows.append(
            (
                name,
                matching,
                told,
                _refuted(passages["NS"]),
                _refuted(many),
                _refuted(few),
                _refuted_of_open(many),
                _refuted_of_open(few),
            )
        )
    rows.append(("papers", 10, 1280, PAPERS_REFUTED["NS"], PAPERS_REFUTED["ND"], None, 78, None))
    columns = (
        "load",
        "match %",
        "forwarded",
        "NS: refuted %",
        "ND, 80 bytes, printed choice %",
        "ND, 10 bytes %",
        "of the non-matching: 80 bytes %",
        "10 bytes %",
    )
    why = (
        "What NS refutes depends on the load: one general subscription covers all others, and NS is empty.",
        "ND, as a share of the rows that do not match, is nearly the same for every load.",
        "The questions were chosen by other documents of the same generator.",
    )
    return Table("Rows refuted at the second router, nine loads", columns, tuple(rows), why)


def _chart(by_load: dict[str, tuple[int, Passages]]) -> Chart:
    return Chart(
        "Rows refuted at the second router",
        "",
        "% of the rows",
        {
            "NS": tuple((name, _refuted(passages["NS"])) for name, (_, passages) in by_load.items()),
            "ND in 10 bytes": tuple(
                (name, _refuted(passages["ND in 10 bytes"])) for name, (_, passages) in by_load.items()
            ),
        },
        {"NS": (("papers", PAPERS_REFUTED["NS"]),), "ND in 10 bytes": (("papers", PAPERS_REFUTED["ND"]),)},
    )


EXPERIMENT = Experiment("piggyback/size", "Size of annotations, and rows that they refute", run, minutes=4)
