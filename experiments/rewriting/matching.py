"""How well schemas are matched: pairs and deliveries, by what is compared."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from experiments.engines.mapping.dialects import Dialect, make_dialects
from experiments.findings import Bar, Cell, Chart, Experiment, Findings, Table, Watch, scaled
from experiments.rewriting.publishers import Domain, Publisher, catalogues, invoices
from twigcast.document import Document
from twigcast.filtering import Index
from twigcast.rewriting import (
    Agreement,
    SchemaTree,
    Thesaurus,
    derive,
    match_schemas,
    pair_agreement,
    pooled_profiles,
)
from twigcast.rewriting import Mapping as SchemaMapping

SUBSCRIPTIONS = 1000
DIALECTS = 40
FLOODED = 0.2
SWAPPED = {
    "toronto/Course/instructorEmail": "catalogue/course/instructor/name",
    "toronto/Course/instructorName": "catalogue/course/instructor/email",
}


@dataclass(frozen=True, slots=True)
class Method:
    """What is compared: names always, the rest if it is switched on."""

    thesaurus: bool = False
    values: bool = False
    flooding: float = 0.0

    def options(self, one: Publisher | None = None, others: Sequence[Publisher] = ()) -> dict[str, Any]:
        """The arguments of ``match_schemas`` for one publisher, if the others are mapped already."""
        options: dict[str, Any] = {"flooding": self.flooding}
        options["thesaurus"] = Thesaurus.built_in() if self.thesaurus else Thesaurus()
        if self.values and one is not None:
            options["source_profiles"] = one.profiles
            options["target_profiles"] = pooled_profiles((each.pairs, each.profiles) for each in others)
        return options


METHODS = {
    "names": Method(),
    "names, thesaurus": Method(thesaurus=True),
    "names, thesaurus, flooding": Method(thesaurus=True, flooding=FLOODED),
    "names, values": Method(values=True),
    "names, thesaurus, values": Method(thesaurus=True, values=True),
    "names, thesaurus, values, flooding": Method(thesaurus=True, values=True, flooding=FLOODED),
}


THRESHOLDS = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65)
BY_THRESHOLD = ("names, thesaurus", "names, thesaurus, values")


def run(scale: float, watch: Watch) -> Findings:
    """Match each publisher's schema as if it were the new one, and compare with the mapping made by hand."""
    count = scaled(SUBSCRIPTIONS, scale)
    seven = _domain(catalogues(), count, watch, "catalogues")
    two = _domain(invoices(), count, watch, "invoices")
    made = make_dialects(catalogues().graph, scaled(DIALECTS, scale), seed=1, operators=12)
    dialects = {name: _dialects(method, made) for name, method in METHODS.items() if not method.values}
    swapped = seven["names, thesaurus, values"].proposals["toronto"]
    found = sum(swapped.get(key) == image for key, image in SWAPPED.items())
    return Findings(
        (
            _table(
                "Seven catalogues, each matched with the six others known",
                seven,
                (
                    "The papers give no figures of their matcher.",
                    "Threshold, weights and thesaurus were chosen with these catalogues in sight: figures "
                    "say what is possible, not what another domain will give.",
                    "Values find what names cannot: toronto's names and e-mail addresses are the wrong way "
                    "round, and ucsd names its instructors by term.",
                    "Flooding adds nothing here: these schemas are flat, and the names above a place are "
                    "compared anyway.",
                ),
            ),
            _table(
                "Invoices in UBL and CII, each matched with the other one known",
                two,
                (
                    "Both syntaxes have hundreds of places with few names (ID, Name, TypeCode), of which the "
                    "global schema has a part; a person must review such a proposal.",
                    "The weights of places without values and of attributes were chosen with these invoices "
                    "in sight.",
                    "A pair also counts as wrong if it names a neighbour of the right element, as "
                    "AccountingSupplierParty for the Party in it; most deliveries are then still right.",
                ),
            ),
            Table(
                "F1 of the pairs on the seven catalogues, by threshold",
                ("threshold", *BY_THRESHOLD),
                tuple(
                    (limit, *(_pairs(catalogues(), METHODS[name], limit).f1 for name in BY_THRESHOLD))
                    for limit in THRESHOLDS
                ),
                ("The proposal does not hang on the threshold of 0.45 that is the default.",),
            ),
            Table(
                f"{len(made)} dialects of the catalogue, with 12 operators on average",
                ("method", "pairs precision", "pairs recall", "pairs F1"),
                tuple((name, each.precision, each.recall, each.f1) for name, each in dialects.items()),
                (
                    "New names are synonyms of the same thesaurus, abbreviations and other spellings, so "
                    "this says that structure does not confuse the matcher, not that it knows all words.",
                ),
            ),
        ),
        (
            Chart(
                "Matching: F1 of the pairs",
                "",
                "F1",
                {
                    "catalogues": tuple((name, each.pairs.f1) for name, each in seven.items()),
                    "invoices": tuple((name, each.pairs.f1) for name, each in two.items()),
                },
            ),
        ),
        (
            Bar("F1 by names and thesaurus, catalogues", seven["names, thesaurus"].pairs.f1, "≥", 0.85),
            Bar("F1 with values, catalogues", seven["names, thesaurus, values"].pairs.f1, "≥", 0.9),
            Bar("toronto's swapped columns found", found, "=", 2),
        ),
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method found: agreement of pairs and of deliveries, and the pairs of each publisher."""

    pairs: Agreement
    deliveries: Agreement
    proposals: Mapping[str, Mapping[str, str]]


def _domain(domain: Domain, count: int, watch: Watch, what: str) -> dict[str, Outcome]:
    target = SchemaTree.of(domain.graph)
    index = Index(list(enumerate(domain.subscriptions(count))))
    right = {each.name: _answers(each.mapping, each.documents, index) for each in domain.publishers}
    found: dict[str, Outcome] = {}
    for name, method in watch(f"matching of {what}", METHODS.items(), len(METHODS)):
        pairs = deliveries = Agreement()
        proposals: dict[str, Mapping[str, str]] = {}
        for one in domain.publishers:
            proposed = match_schemas(one.tree, target, **method.options(one, domain.others(one))).pairs
            proposals[one.name] = proposed
            pairs += pair_agreement(proposed, one.pairs)
            mapping = SchemaMapping(one.name, one.tree, derive(one.tree, target, proposed))
            answers = _answers(mapping, one.documents, index)
            wanted = right[one.name]
            deliveries += Agreement(len(answers & wanted), len(answers), len(wanted))
        found[name] = Outcome(pairs, deliveries, proposals)
    return found


def _pairs(domain: Domain, method: Method, threshold: float) -> Agreement:
    target = SchemaTree.of(domain.graph)
    total = Agreement()
    for one in domain.publishers:
        options = method.options(one, domain.others(one))
        total += pair_agreement(
            match_schemas(one.tree, target, threshold=threshold, **options).pairs, one.pairs
        )
    return total


def _answers(
    mapping: SchemaMapping, documents: Sequence[Document], index: Index
) -> set[tuple[int, Hashable]]:
    """The deliveries: the number of a document, and the id of a subscription that matches its image."""
    return {
        (number, id)
        for number, document in enumerate(documents)
        for id in index.match(document.body, rewriting=mapping).ids
    }


def _dialects(method: Method, dialects: Sequence[Dialect]) -> Agreement:
    total = Agreement()
    for dialect in dialects:
        target = SchemaTree.of(dialect.global_graph)
        proposed = match_schemas(dialect.tree, target, **method.options()).pairs
        total += pair_agreement(proposed, dialect.pairs)
    return total


def _table(title: str, found: Mapping[str, Outcome], why: tuple[str, ...]) -> Table:
    columns = ("method", "pairs precision", "pairs recall", "pairs F1", "deliveries precision",
               "deliveries recall")  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            each.pairs.precision,
            each.pairs.recall,
            each.pairs.f1,
            each.deliveries.precision,
            each.deliveries.recall,
        )
        for name, each in found.items()
    ]
    return Table(title, columns, tuple(rows), why)


EXPERIMENT = Experiment(
    "rewriting/matching", "Schema matching: precision and recall of pairs and deliveries", run, minutes=2
)
