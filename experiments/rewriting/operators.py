"""The operators of mappings: the paper's 40 catalogues, our seven, and 40 dialects of their global schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from experiments.engines.mapping.dialects import PROPORTIONS, Dialect, make_dialects
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.publishers import catalogues, invoices
from twigcast.rewriting import InsertEach, Mapping, SchemaTree, derive
from twigcast.rewriting.operators import InsertAll, UpgradeAll

DIALECTS = 40
KINDS = (*PROPORTIONS, "Hide")


def run(scale: float, watch: Watch) -> Findings:
    """Count the operators of each set of mappings."""
    count = scaled(DIALECTS, scale)
    seven = catalogues()
    dialects = make_dialects(seven.graph, count, seed=1)
    target = SchemaTree.of(seven.graph)
    derived = [
        Mapping(each.name, each.tree, derive(each.tree, target, each.pairs))
        for each in watch("operators of dialects", dialects, count)
    ]
    paper = Counter(PROPORTIONS)
    sets = {
        "paper, 40 catalogues": paper,
        f"{count} dialects": _counts(each.mapping for each in dialects),
        f"{count} dialects, derived": _counts(derived),
        "7 catalogues, derived": _counts(each.mapping for each in seven.publishers),
        "2 invoice syntaxes, derived": _counts(each.mapping for each in invoices().publishers),
    }
    rows: list[tuple[Cell, ...]] = [(kind, *(each[kind] for each in sets.values())) for kind in KINDS]
    rows.append(("all but Hide", *(_all(each) for each in sets.values())))
    light = tuple(100 * (each["Rename"] + each["ToElement"]) / max(1, _all(each)) for each in sets.values())
    rows.append(("Rename, ToElement %", *light))
    made = sets[f"{count} dialects"]
    return Findings(
        (
            Table(
                "Operators of mappings",
                ("operator", *sets),
                tuple(rows),
                (
                    "Only 7 of the paper's 40 catalogues exist here, rebuilt flat from tables, so they need "
                    "Rename and Insert only; the dialects stand for the other structures.",
                    "A dialect is made from the global schema by inverse operators in the paper's numbers, "
                    "so its true mapping has them by construction; derived are those that the pairs alone "
                    "give, without knowing how the dialect was made.",
                    "Insert counts Insert+ and InsertEach, Upgrade counts Upgrade+; Hide, which the paper "
                    "does not have, takes out elements that only a dialect has.",
                ),
            ),
        ),
        (
            Chart(
                "Operators of mappings",
                "",
                "count",
                {
                    name: tuple((kind, float(each[kind])) for kind in PROPORTIONS)
                    for name, each in sets.items()
                    if each is not paper
                },
                {"paper, 40 catalogues": tuple((kind, float(paper[kind])) for kind in PROPORTIONS)},
            ),
        ),
        (Bar("operators of 40 dialects", _all(made), "=", 148),),
        tuple(_wrong(derived, dialects)),
    )


def _counts(mappings: Iterable[Mapping]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for mapping in mappings:
        for operator in mapping.operators:
            kind = type(operator).__name__
            if isinstance(operator, InsertAll | InsertEach):
                kind = "Insert"
            elif isinstance(operator, UpgradeAll):
                kind = "Upgrade"
            counts[kind] += 1
    return counts


def _all(counts: Counter[str]) -> int:
    return counts.total() - counts["Hide"]


def _wrong(derived: Iterable[Mapping], dialects: Iterable[Dialect]) -> Iterable[str]:
    """Dialects whose derived operators do not lead every pair to its place."""
    for mapping, dialect in zip(derived, dialects, strict=True):
        lost = [key for key, image in dialect.pairs.items() if mapping.image[key].path_text != image]
        if lost:
            yield f"{dialect.name}: {lost[0]} is not at {dialect.pairs[lost[0]]}"


EXPERIMENT = Experiment("rewriting/operators", "Operators of mappings, by kind", run, minutes=0.2)
