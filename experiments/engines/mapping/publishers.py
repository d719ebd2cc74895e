"""Publishers that write one global schema in dialects of their own, and the load that they make.

Each document of the global schema is written as one dialect after the other writes it; its publisher is the
dialect's name, by which the edge router finds the mapping.  The document of the global schema is kept, so
that a report can say what a network without differences would have delivered: the homogeneous feed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.engines.mapping.approaches import NETWORKS
from twigcast.routing import image_advertisement
from twigcast.schema import ElementGraph
from twigcast.simulator import provide_dialects
from twigcast.simulator.dialects import PublisherDialects
from twigcast.simulator.load import Load

if TYPE_CHECKING:
    from experiments.engines.mapping.dialects import Dialect


def in_dialects(load: Load, graph: ElementGraph, count: int, seed: int) -> Load:
    """The same load with each document in a dialect, and the mappings that lead back."""
    from experiments.engines.mapping.dialects import (  # needs the extra ``schemas``
        make_dialects,
        normal_document,
    )

    dialects = make_dialects(graph, count, seed)
    documents = []
    originals: dict[str, bytes] = {}
    used: dict[str, dict[str, Dialect]] = {}
    for number, (client, envelope) in enumerate(load.documents):
        dialect = dialects[number % len(dialects)]
        body = dialect.document(envelope.body)
        originals[envelope.doc_id] = normal_document(graph, envelope.body)
        documents.append((client, replace(envelope, body=body, publisher=dialect.name)))
        used.setdefault(client, {})[dialect.name] = dialect
    return replace(
        load,
        advertisements={
            client: [image_advertisement(f"{client}/{each.name}", each.mapping) for each in some.values()]
            for client, some in used.items()
        },
        documents=documents,
        mappings={client: [each.mapping for each in some.values()] for client, some in used.items()},
        originals=originals,
    )


def provide() -> None:
    """Let scenarios of the simulator have a section ``[mediation]``."""
    provide_dialects(PublisherDialects(in_dialects, NETWORKS))
