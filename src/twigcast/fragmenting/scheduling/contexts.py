"""The elements that lie above the runs of fragments, with the states of their label paths.

    f1 below 2·1, f4 below 7·2        document ── 7·1 a ┬─ 2·1 b
                                                        └─ 7·2 m

Headers with prefixes name them; with headers of the kind ``edge`` they are known when the fragment that has
their start tags is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from twigcast.document import Name
from twigcast.errors import FragmentError
from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    OpenElement,
    Run,
    fragment_number,
    number_in_fragment,
)
from twigcast.fragmenting.scheduling.prefix_tree import PathState, PrefixTree


@dataclass(eq=False, slots=True)
class ContextElement:
    """An element of which other fragments have parts: its id and its path, as a chain of such elements."""

    element: OpenElement
    name: Name
    above: ContextElement | None
    state: PathState = field(repr=False)
    namespaces: Mapping[str, str] = field(repr=False)
    depth: int

    @property
    def id(self) -> int:
        return self.element.id

    def path(self) -> Iterator[ContextElement]:
        """This element and those above it, up to the document node."""
        at: ContextElement | None = self
        while at is not None:
            yield at
            at = at.above


class Contexts:
    """All context elements of a document that are known so far, by id."""

    def __init__(self, tree: PrefixTree) -> None:
        self._tree = tree
        self.document = ContextElement(OpenElement(DOCUMENT_NODE, ""), ("", ""), None, tree.document, {}, 0)
        self._known = {DOCUMENT_NODE: self.document}

    def of(self, run: Run) -> ContextElement | None:
        """The innermost element above a run; ``None`` if its header does not say and it is not yet known.

        Raises ``FragmentError`` if another header says otherwise.
        """
        if run.context is None:
            known = self._known.get(run.parent)
            if known is not None and known.depth != run.depth:
                raise _contradiction(known.element)
            return known
        at = self.document
        for element in run.context:
            found = self._known.get(element.id)
            if found is None:
                found = self.add(at, element)
            elif found.above is None or found.above.id != at.id or found.element != element:
                raise _contradiction(element)
            at = found
        return at

    def add(self, above: ContextElement, element: OpenElement) -> ContextElement:
        """Note an element below another one."""
        namespaces = above.namespaces
        if element.declarations:
            namespaces = {**namespaces, **dict(element.declarations)}
        name = expanded(element.name, namespaces)
        state = self._tree.step(above.state, name)
        self._known[element.id] = ContextElement(element, name, above, state, namespaces, above.depth + 1)
        return self._known[element.id]


def _contradiction(element: OpenElement) -> FragmentError:
    where = f"{fragment_number(element.id)}.{number_in_fragment(element.id)}"
    message = f"headers contradict each other about the element {where}"
    return FragmentError(message, code="fragment-inconsistent")


def expanded(name: str, namespaces: Mapping[str, str]) -> Name:
    """Namespace and local name of an element, from its name as written."""
    prefix, colon, local = name.rpartition(":")
    return namespaces.get(prefix, ""), local if colon else name
