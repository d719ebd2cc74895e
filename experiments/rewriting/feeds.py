"""Documents of 40 publishers, each with a schema of its own, and subscriptions to the global schema.

The papers used 40 catalogues of the THALIA collection, of which seven exist today, rebuilt and flat.  Here 40
dialects of the global schema of ``examples/catalogues`` stand in: made from a seed, by the papers' operators
in the papers' proportions, with their true mappings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from experiments.engines.mapping.dialects import Dialect, make_dialects, normal_document
from twigcast.document import read
from twigcast.rewriting import write_document
from twigcast.schema import ElementGraph, read_dtd
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
)

DIALECTS = 40
ELEMENT = 44
"""About how many bytes an element of these documents takes."""
SUBSCRIPTIONS = SubscriptionOptions(
    seed=2, min_steps=4, max_steps=8, wildcard=0.2, descendant=0.05, nested=0.2, value=0.3, distinct=False
)
"""At most 8 steps, p(*) = 0.2 and p(nested) = 0.2 as in T 6.4.1; p(//) and values are not given there."""
OF_DIALECTS = "40 dialects of the catalogue schema, made from a seed in the papers' proportions"


@dataclass(frozen=True, slots=True)
class FeedDocument:
    """A document as its publisher writes it, its image as text, and the document that it was made from."""

    dialect: Dialect
    body: bytes
    image: bytes
    original: bytes


@cache
def catalogue() -> ElementGraph:
    """The global schema."""
    return read_dtd(Path(__file__).parents[2] / "examples" / "catalogues" / "catalogue.dtd")


@cache
def dialects(count: int = DIALECTS) -> tuple[Dialect, ...]:
    """The publishers."""
    return tuple(make_dialects(catalogue(), count, seed=1))


def feed(size: int, count: int, seed: int = 1) -> list[FeedDocument]:
    """So many documents of about ``size`` bytes, of one publisher after the other."""
    options = DocumentOptions(seed=seed, elements=max(10, size // ELEMENT), spread=0.1, optional=0.5)
    return _written(list(generate_documents(catalogue(), count, options)))


def small_feed(count: int, seed: int = 1) -> list[FeedDocument]:
    """Small documents, each with a few courses, so that a subscription selects some of them."""
    options = DocumentOptions(seed=seed, elements=20, optional=0.3)
    return _written(list(generate_documents(catalogue(), count, options)))


def _written(bodies: list[bytes]) -> list[FeedDocument]:
    found = []
    for number, body in enumerate(bodies):
        dialect = dialects()[number % DIALECTS]
        own = dialect.document(body)
        image = write_document(dialect.mapping.apply(read(own)))
        assert image is not None
        found.append(FeedDocument(dialect, own, image, normal_document(catalogue(), body)))
    return found


def subscriptions(count: int, seed: int = 2, value: float = SUBSCRIPTIONS.value) -> list[str]:
    """So many subscriptions to the global schema; ``value`` is the share of steps that compare a value."""
    options = replace(SUBSCRIPTIONS, seed=seed, value=value)
    return list(generate_subscriptions(catalogue(), count, options))
