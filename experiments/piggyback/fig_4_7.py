"""Figure 4.7: what L+s-sd saves against ES, by f and document size, and by f and p(nested)."""

from __future__ import annotations

from dataclasses import replace

from experiments.findings import Experiment, Findings, Watch
from experiments.piggyback.comparing import Variant, charts, comparison, found, said, simulate_all
from experiments.piggyback.networks import LOAD, MODEL, NITF_DOCUMENTS, SUBSCRIPTIONS, USUAL, setting

DOCUMENTS = {
    "NITF1": {},
    "NITF2": {0.25: "22", 0.5: "28", 1.0: "42"},
    "NITF3": {0.25: "16", 1.0: "41"},
}
NESTED = {0.1: {1.0: "38"}, 0.2: {1.0: "42"}, 0.4: {1.0: "44"}}


def run(scale: float, watch: Watch) -> Findings:
    """Simulate three sizes of documents, then three shares of nested paths."""
    by_size = [
        Variant(label, setting(scale, documents=NITF_DOCUMENTS[label]), printed=printed)
        for label, printed in DOCUMENTS.items()
    ]
    by_nesting = [
        Variant(
            f"p(nested) = {nested:g}",
            setting(scale, subscriptions=replace(SUBSCRIPTIONS, nested=nested)),
            printed=printed,
        )
        for nested, printed in NESTED.items()
    ]
    first = simulate_all(by_size, watch)
    second = simulate_all(by_nesting, watch)
    sizes = ", ".join(f"{label} {said(first, label, 1.0)} %" for label in DOCUMENTS)
    nested = ", ".join(said(second, each.label, 1.0) for each in by_nesting)
    return found(
        [
            comparison(
                "By document size",
                by_size,
                first,
                (
                    LOAD,
                    MODEL,
                    f"PAPER at f = 1: {sizes}; the papers print 42 for NITF2 and 41 for NITF3.",
                    f"At f = 0.25 it is {said(first, 'NITF2', 0.25)} and {said(first, 'NITF3', 0.25)} %, in "
                    "the papers 22 and 16: larger documents save less there, since more of the time is "
                    "parsing, which refuted rows do not save.",
                ),
            ),
            comparison(
                "By the share of nested paths",
                by_nesting,
                second,
                (
                    LOAD.replace("p(nested) = 0.2", "p(nested) as given"),
                    MODEL,
                    f"PAPER at f = 1: {nested} % for 0.1, 0.2 and 0.4, in the papers 38, 42 and 44.",
                    "A nested path makes a row more selective and gives it more names, so that more "
                    "questions can refute it; the model charges each row the same, the papers' filter "
                    "charges more for branches.",
                ),
            ),
        ],
        [
            *charts("Figure 4.7: size", by_size, first),
            *charts("Figure 4.7: nested paths", by_nesting, second),
        ],
        [*first.values(), *second.values()],
    )


EXPERIMENT = Experiment(
    "piggyback/fig-4-7", "ES and L+s-sd by document size and nested paths", run, minutes=5, usual=USUAL
)
