"""Which query nodes a fragment is relevant for, by its header alone: the relation R of the thesis.

A match of a pattern that crosses into a subtree with root r does so on one edge of the pattern, from a node
that lies above r to a node q that lies at r (``/``) or at or below r (``//``).  So the headers say:

    edge            q is a root step with ``/``: the fragment has the document's root; any other q: always
    prefix          q fits at r, or q is a ``//`` step whose parent fits above r
    prefix+level    and the least height of q is at most the height of r
    prefix+paths    and q, and a leaf or conditional node of its subquery, fit on label paths of the fragment
    each            or an element above the run needs the text in it

The last line is for patterns that ask for text: ``/a[.='xy']`` needs all text below ``a``, and ``/a[text()]``
needs a run of several children of ``a``, for the text between them comes with it.

Elements that an entity brings in are in no header: where the document type declares entities, headers are
taken as those of the kind ``edge``.

``Relevance`` computes this for many queries at once; the tests have the definition, for one query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from twigcast.fragmenting.fragments import Header, Run
from twigcast.fragmenting.headers import PathDictionary
from twigcast.fragmenting.scheduling.contexts import ContextElement, Contexts
from twigcast.fragmenting.scheduling.prefix_tree import PathState, PrefixTree, bits
from twigcast.fragmenting.scheduling.queries import QueryNode, TextUse
from twigcast.pattern import Axis


class Relevance:
    """R for the queries of a prefix tree: reads the headers of the fragments of one document.

    Cost: a look-up for each root name of a run, then a step for each query node that is relevant.
    """

    def __init__(self, tree: PrefixTree) -> None:
        self.contexts = Contexts(tree)
        self._tree = tree
        self._within = _by_height(tree)
        self._evidence = _evidence(tree)
        self._own_text = _mask(tree, lambda node: node.text is TextUse.OWN)
        self._text_below = _mask(tree, lambda node: node.text is TextUse.BELOW)
        self._opaque = sum(
            tree.bit(number, node.number)
            for number, query in enumerate(tree.queries)
            if query.opaque
            for node in query.nodes
        )
        self._all = _mask(tree, lambda node: node.number > 0)
        self._child_roots = _mask(
            tree, lambda node: node.number > 0 and not node.parent and node.axis is Axis.CHILD
        )
        self._dictionary = PathDictionary()
        self._states = {0: tree.document}

    def learn(self, header: Header) -> None:
        """Note the label paths that a fragment adds to the dictionary of the document."""
        if header.paths is not None:
            self._dictionary.add(header.paths)

    def nodes(self, header: Header) -> int:
        """The query nodes that a fragment is relevant for, as a bit set."""
        if not lists_elements(header):
            outside = 0 if header.starts_document else self._child_roots
            return self._all & ~outside | self._opaque | self._own_text | self._text_below
        found = self._opaque
        for run in header.runs:
            found |= self._text(run)
        present = self._present(header)
        if present is not None:
            return found | self._with_evidence(present)
        for _, _, mask, _ in self.entering(header):
            found |= mask
        return found

    def entering(self, header: Header) -> Iterator[tuple[int, ContextElement, int, int]]:
        """For each root name of each run: its number, the element above, the query nodes, how many roots.

        The query nodes are those of which a match may cross into such a subtree.  Yields nothing if the
        header does not list its elements.
        """
        if not lists_elements(header):
            return
        present = self._present(header)
        allowed = -1 if present is None else self._with_evidence(present)
        for place, run in enumerate(header.runs):
            inner = self.contexts.of(run)
            assert inner is not None
            path = list(inner.path())[::-1]
            for root in run.roots:
                element = path[root.depth]
                mask = self._tree.entering(element.state, root.name.rpartition(":")[2]) & allowed
                if root.height is not None:
                    mask &= self._within[min(root.height, len(self._within) - 1)]
                if mask:
                    yield place, element, mask, root.count

    def _text(self, run: Run) -> int:
        inner = self.contexts.of(run)
        if inner is None:
            return 0
        path = list(inner.path())
        found = inner.state.fitting_above & self._text_below
        for element in path[: text_levels(run)]:
            found |= element.state.fitting & self._own_text
        return found

    def _present(self, header: Header) -> int | None:
        """The query nodes that fit on a label path of a fragment; ``None`` if one of them is unknown."""
        if header.kind != "prefix+paths" or header.paths is None:
            return None
        present = 0
        for number in header.paths.numbers:
            state = self._state(number)
            if state is None:
                return None
            present |= state.fitting
        return present

    def _state(self, number: int) -> PathState | None:
        """The state of a label path, one step from that of the path without its last name."""
        if self._dictionary.unknown(number) is not None:
            return None
        climbed = []
        while (known := self._states.get(number)) is None:
            climbed.append(number)
            number = self._dictionary.parent(number)
        for each in reversed(climbed):
            known = self._states[each] = self._tree.step(known, self._dictionary.step(each))
        return known

    def _with_evidence(self, present: int) -> int:
        return sum(1 << node for node in bits(present) if self._evidence[node] & present)


def lists_elements(header: Header) -> bool:
    """Whether a header names the roots of its subtrees, and no entity can bring in other elements."""
    if header.kind == "edge" or header.opening.text is None:
        return False
    return "<!ENTITY".encode(header.opening.codec) not in header.opening.text


def text_levels(run: Run) -> int:
    """How many of the innermost elements above a run may have text nodes of their own in it."""
    if run.closes or run.opens:
        return run.closes + 1
    return 1 if sum(root.count for root in run.roots) > 1 else 0


def _mask(tree: PrefixTree, holds: Callable[[QueryNode], bool]) -> int:
    """The bit set of the query nodes for which a condition holds."""
    return sum(
        tree.bit(number, node.number)
        for number, query in enumerate(tree.queries)
        for node in query.nodes
        if holds(node)
    )


def _by_height(tree: PrefixTree) -> list[int]:
    """For each height, the query nodes whose least height is at most that."""
    highest = max((node.least_height for query in tree.queries for node in query.nodes), default=0)
    masks = [0] * (highest + 1)
    for number, query in enumerate(tree.queries):
        for node in query.nodes:
            for height in range(node.least_height, highest + 1):
                masks[height] |= tree.bit(number, node.number)
    return masks


def _evidence(tree: PrefixTree) -> list[int]:
    """For each query node, the leaves and conditional nodes of its subquery."""
    return [
        sum(
            tree.bit(number, below.number)
            for below in query.descendants(node.number)
            if below.conditional or not below.children
        )
        for number, query in enumerate(tree.queries)
        for node in query.nodes
    ]
