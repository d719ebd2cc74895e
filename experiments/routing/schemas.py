"""The two schemas of the paper, and documents of them, whole and as the paths that are published."""

from __future__ import annotations

from functools import cache

from benchmarks.workloads import data
from twigcast.document import read
from twigcast.routing import leaf_paths
from twigcast.schema import ElementGraph, read_dtd
from twigcast.workload import DocumentOptions, SubscriptionOptions, generate_documents

RECONSTRUCTED = (
    "PSD stands for a reconstruction of its DTD: the paper's own file could not be found, "
    "so counts of its paths need not be the paper's."
)

NITF_DOCUMENTS = DocumentOptions(seed=1, elements=75)
"""500 of them have some 23,000 paths, as the paper's have (23,098)."""

PSD_DOCUMENTS = DocumentOptions(seed=1, elements=90)
"""50 of them have 4,165 paths; the paper's have 4,182."""

PSD_SUBSCRIPTIONS = SubscriptionOptions(seed=1, min_steps=4, max_steps=10, wildcard=0.05, descendant=0.05)
"""Of 1,000 about 90 % are covered, as the paper says of its own; it does not give p(*) and p(//)."""


@cache
def nitf() -> ElementGraph:
    """The NITF DTD."""
    return read_dtd(data("nitf/nitf-2-5.dtd"))


@cache
def psd() -> ElementGraph:
    """The PSD DTD, reconstructed."""
    return read_dtd(data("psd/psd7003-reconstructed.dtd"))


def publications(graph: ElementGraph, documents: int, options: DocumentOptions) -> list[bytes]:
    """The paths of documents, each as a document of its own, as it is published."""
    return [
        path.body
        for number, body in enumerate(generate_documents(graph, documents, options))
        for path in leaf_paths(f"document {number}", read(body))
    ]
