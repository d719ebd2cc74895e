"""Publishers with a mapping that a person made: seven course catalogues, and invoices in two syntaxes.

Their mapping files are examples of the project; their documents are published data.  A catalogue is one large
file, so each of its courses becomes a document of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from benchmarks.workloads import data
from twigcast.document import Document, Element, Text, read
from twigcast.rewriting import Mapping, SchemaTree, ValueProfile, profile_documents, read_mapping_file
from twigcast.schema import ElementDeclaration, ElementGraph, element_graph, read_dtd
from twigcast.workload import SubscriptionOptions, generate_subscriptions

EXAMPLES = Path(__file__).parents[2] / "examples"
LONGEST = 40
"""Longer texts are no values that a subscription asks for."""


@dataclass(frozen=True, slots=True)
class Publisher:
    """A publisher: its schema, the true matching and mapping, and its documents."""

    name: str
    tree: SchemaTree
    pairs: dict[str, str]
    mapping: Mapping
    documents: tuple[Document, ...] = field(repr=False)
    profiles: dict[str, ValueProfile] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Domain:
    """A global schema, and the publishers that are mapped to it."""

    graph: ElementGraph
    publishers: tuple[Publisher, ...]

    def others(self, one: Publisher) -> list[Publisher]:
        """All publishers but one."""
        return [each for each in self.publishers if each is not one]

    def subscriptions(self, count: int, seed: int = 1) -> list[str]:
        """Subscriptions with values that occur in the documents."""
        options = SubscriptionOptions(seed=seed, min_steps=2, nested=0.3, value=0.3)
        return list(generate_subscriptions(self._with_values(), count, options))

    def _with_values(self) -> ElementGraph:
        found: dict[str, dict[str, None]] = {}
        for publisher in self.publishers:
            for document in publisher.documents:
                for name, text in _texts(publisher.mapping.apply(document).root):
                    found.setdefault(name, {})[text] = None
        elements: list[ElementDeclaration] = [
            replace(element, values=tuple(found.get(element.name, ()))[:200]) for element in self.graph
        ]
        return element_graph(elements, self.graph.root)


@cache
def catalogues() -> Domain:
    """Seven university catalogues, a document for each course."""
    graph = read_dtd(EXAMPLES / "catalogues" / "catalogue.dtd")
    names = sorted(path.stem for path in (EXAMPLES / "catalogues").glob("*.toml"))
    publishers = (
        _publisher(EXAMPLES / "catalogues" / f"{name}.toml", list(_courses(data(f"thalia/{name}.xml"))))
        for name in names
    )
    return Domain(graph, tuple(publishers))


@cache
def invoices() -> Domain:
    """The same invoices in UBL and in CII."""
    graph = read_dtd(EXAMPLES / "invoices" / "invoice.dtd")
    publishers = []
    for name in ("ubl", "cii"):
        paths = sorted(data("invoices").glob(f"*.{name}.xml"))
        bodies = [path.read_bytes() for path in paths]
        publishers.append(_publisher(EXAMPLES / "invoices" / f"{name}.toml", bodies))
    return Domain(graph, tuple(publishers))


def _publisher(path: Path, bodies: list[bytes]) -> Publisher:
    file = read_mapping_file(path)
    tree, target = file.source_tree(), file.target_tree()
    documents = [document for document in map(read, bodies) if document.root.local == tree.root.label.local]
    return Publisher(
        file.name,
        tree,
        file.keys(tree, target),
        file.mapping(),
        tuple(documents),
        profile_documents(tree, documents),
    )


def _courses(path: Path) -> Iterator[bytes]:
    document = read(path.read_bytes())
    root = document.root
    for child in root.children:
        if isinstance(child, Element):
            part = document.body[child.start : child.end]
            yield b"<%s>%s</%s>" % (root.local.encode(), part, root.local.encode())


def _texts(root: Element) -> Iterator[tuple[str, str]]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        below = [child for child in element.children if isinstance(child, Element)]
        waiting += below
        text = "".join(child.value for child in element.children if isinstance(child, Text)).strip()
        if text and not below and len(text) <= LONGEST:
            yield element.local, text
