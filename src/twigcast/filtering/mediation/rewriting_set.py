"""The mappings by which an index rewrites documents: opened for the kernel once, chosen for each document.

index.match(body, rewriting=mappings)      mappings ──► RewritingSet: one PlanSet, names, roots
                                           the same object again, or the same references: the same set
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from threading import Lock
from typing import Literal, TypeAlias

from twigcast.document import Document, DocumentLimits, Node, read
from twigcast.errors import DocumentError, MappingError
from twigcast.filtering.kernel._kernel import Plan, PlanSet
from twigcast.filtering.mediation.rewriting import Rewriting, Rewritings

Unknown: TypeAlias = Literal["dead-letter", "as-is"]
"""What becomes of a document without a mapping: an error, or it is matched as it is.

A document whose root element has several mappings is an error in either case.
"""
Failure: TypeAlias = tuple[int, int, int, int]
"""An error of the kernel: number, line, column, offset."""
BY_ROOT = 0xFFFFFFFF


class RewritingSet:
    """Some mappings, and which of them documents of a root element have."""

    def __init__(self, rewritings: Sequence[Rewriting], plans: dict[str, Plan]) -> None:
        self.rewritings = tuple(rewritings)
        self.numbers = {each.name: number for number, each in enumerate(rewritings)}
        self.by_root: dict[tuple[str, str], int | None] = {}
        for number, each in enumerate(rewritings):
            root = tuple(each.root)
            self.by_root[root[0], root[1]] = number if root not in self.by_root else None
        roots = [(_spelled(*root), number) for root, number in self.by_root.items()]
        self.plans = PlanSet(tuple(plans[each.reference] for each in rewritings), roots)

    def reference(self, number: int | None) -> str | None:
        """The reference of the mapping that was applied."""
        return None if number is None or number == BY_ROOT else self.rewritings[number].reference

    def wanted(self, which: Sequence[str | None] | None) -> array[int] | None:
        """The number of the mapping that each document asks for; of a name that is none, one too large."""
        if which is None:
            return None
        unknown = len(self.rewritings)
        return array("I", [BY_ROOT if name is None else self.numbers.get(name, unknown) for name in which])

    def image(self, body: bytes | memoryview, limits: DocumentLimits, unknown: Unknown) -> Document:
        """The document that an index matches; raises ``DocumentError``, also without a mapping for it."""
        document = read(body, limits)
        root = document.root
        name = (root.namespace, root.local)
        number = self.by_root.get(name)
        if number is not None:
            return self.rewritings[number].apply(document, limits)
        if is_as_is(unknown) and name not in self.by_root:
            return document
        lines = document.body[: root.start].count(b"\n")
        column = root.start - (document.body.rfind(b"\n", 0, root.start) + 1)
        error = DocumentError("", code="no-mapping", line=lines + 1, column=column + 1, offset=root.start)
        raise self.without_mapping(error, _spelled(root.namespace, root.local))

    def without_mapping(self, error: DocumentError, root: str, name: str | None = None) -> DocumentError:
        """The error of a document that no mapping is for; ``name`` is the mapping that was asked for."""
        namespace, _, local = root.rpartition("\f")
        shown = _shown(namespace, local)
        there = ", ".join(sorted(self.numbers)) or "none"
        if name is not None and name not in self.numbers:
            message = f"there is no mapping {name!r}; there are {there}"
        elif name is not None:
            expected = _shown(*self.rewritings[self.numbers[name]].root)
            message = f"the mapping {name!r} is for the root element {expected!r}, not for {shown!r}"
        elif (namespace, local) in self.by_root:
            several = [each.name for each in self.rewritings if tuple(each.root) == (namespace, local)]
            message = f"the root element {shown!r} has several mappings: {', '.join(several)}"
            message += "; use one of them, or choose by name"
        else:
            message = f"no mapping for the root element {shown!r}; there are {there}"
        place = {"line": error.line, "column": error.column, "offset": error.offset}
        return DocumentError(message, code="no-mapping", **place)


class RewritingCache:
    """The sets and plans that an index has opened, the last used ones.  Several threads may use it."""

    def __init__(self) -> None:
        self._by_object: OrderedDict[int, tuple[object, RewritingSet]] = OrderedDict()
        self._by_references: OrderedDict[tuple[str, ...], RewritingSet] = OrderedDict()
        self._plans: dict[str, Plan] = {}
        self._lock = Lock()

    def get(self, rewriting: Rewritings) -> RewritingSet:
        """The set of one mapping or of several; the plans of those that are new are opened."""
        known = self._by_object.get(id(rewriting))
        if known is not None and known[0] is rewriting:
            return known[1]
        rewritings = list(rewriting) if isinstance(rewriting, Iterable) else [rewriting]
        if not all(hasattr(each, "reference") for each in rewritings):
            message = f"rewriting: expected a Mapping or Mappings, got {rewriting!r}"
            raise TypeError(f"{message}; Mappings.load reads files")
        references = tuple(each.reference for each in rewritings)
        with self._lock:
            found = self._by_references.get(references)
            if found is None:
                for each in rewritings:
                    if each.reference not in self._plans:
                        self._plans[each.reference] = _opened(each)
                found = RewritingSet(rewritings, self._plans)
                self._by_references[references] = found
                if len(self._by_references) > _MOST_SETS:
                    self._by_references.popitem(last=False)
                    kept = {reference for each in self._by_references for reference in each}
                    self._plans = {key: plan for key, plan in self._plans.items() if key in kept}
            if isinstance(rewriting, Hashable):  # so it does not change
                self._by_object[id(rewriting)] = (rewriting, found)
                if len(self._by_object) > _MOST_SETS:
                    self._by_object.popitem(last=False)
        return found

    def after_fork(self) -> None:
        """Make the lock anew: in the parent, another thread may have held it."""
        self._lock = Lock()


def is_as_is(unknown: Unknown) -> bool:
    """Whether documents without a mapping are matched as they are; raises ``ValueError`` for other words."""
    if unknown not in ("dead-letter", "as-is"):
        raise ValueError(f"unknown: expected 'dead-letter' or 'as-is', got {unknown!r}")
    return unknown == "as-is"


def sources_of(image: Document, nodes: Iterable[Node]) -> tuple[Document, list[Node]]:
    """The original of a document, and the nodes of it that these were made of, in order, each once."""
    document = image.sources(image)[0]
    assert isinstance(document, Document)
    sources = dict.fromkeys(source for node in nodes for source in image.sources(node))
    return document, sorted(sources, key=lambda node: node.order)


_MOST_SETS = 64


def _opened(rewriting: Rewriting) -> Plan:
    try:
        return Plan(rewriting.plan)
    except (ValueError, MappingError) as error:
        message = f"the mapping {rewriting.name!r} cannot be used: {error}"
        raise MappingError(message, code="operator", name=rewriting.name) from None


def _shown(namespace: str, local: str) -> str:
    """A name as people read it."""
    return f"Q{{{namespace}}}{local}" if namespace else local


def _spelled(namespace: str, local: str) -> str:
    """A name as the kernel writes it."""
    return f"{namespace}\f{local}" if namespace else local
