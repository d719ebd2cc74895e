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

``relevant_nodes`` is the definition, for one query; ``Relevance`` gives the same for many queries at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from twigcast.document import Name
from twigcast.fragmenting.fragments import Header, Run
from twigcast.fragmenting.headers import PathDictionary, expanded_names
from twigcast.fragmenting.scheduling.contexts import ContextElement, Contexts
from twigcast.fragmenting.scheduling.prefix_tree import PathState, PrefixTree, bits
from twigcast.fragmenting.scheduling.queries import Query, QueryNode, TextUse
from twigcast.pattern import Axis


def relevant_nodes(query: Query, header: Header, dictionary: PathDictionary | None = None) -> frozenset[int]:
    """Return the numbers of the query nodes that a fragment is relevant for; 0 is the document's.

    ``dictionary`` has the label paths of the document; a fragment with unknown ones is judged without them.
    """
    nodes = query.nodes[1:]
    if query.opaque:
        return frozenset(node.number for node in query.nodes)
    if not lists_elements(header):
        root = header.starts_document
        found = {node.number for node in nodes if node.parent or node.axis is not Axis.CHILD or root}
        return frozenset(found | {node.number for node in query.nodes if node.text is not TextUse.NONE})
    labels = _label_paths(header, dictionary)
    found = {node.number for node in nodes if _is_relevant(query, node, header, labels)}
    return frozenset(found | {node.number for node in query.nodes if _needs_text(query, node, header)})


class EntryPoint(NamedTuple):
    """A query node that may match in subtrees directly below an element: (f, q) of R, by place.

    ``element`` is the id of the innermost element above the subtrees, ``node`` the bit of the query node.
    """

    element: int
    node: int


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
        for element in path[: _text_levels(run)]:
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


def _is_relevant(
    query: Query, node: QueryNode, header: Header, labels: Sequence[Sequence[Name]] | None
) -> bool:
    if labels is not None:
        evidence = [each for each in query.descendants(node.number) if each.conditional or not each.children]
        return any(_fits(query, node.number, path) for path in labels) and any(
            _fits(query, each.number, path) for each in evidence for path in labels
        )
    for run in header.runs:
        path = _names(run)
        for root in run.roots:
            if root.height is not None and node.least_height > root.height:
                continue
            context, local = path[: root.depth], root.name.rpartition(":")[2]
            if node.axis is Axis.CHILD:
                if node.test.local in (None, local) and _fits(query, node.parent, context):
                    return True
            elif any(_fits(query, node.parent, context[:depth]) for depth in range(len(context) + 1)):
                return True
    return False


def _needs_text(query: Query, node: QueryNode, header: Header) -> bool:
    if node.text is TextUse.NONE:
        return False
    for run in header.runs:
        path = _names(run)
        first = len(path) + 1 - _text_levels(run) if node.text is TextUse.OWN else 0
        if any(_fits(query, node.number, path[:depth]) for depth in range(max(0, first), len(path) + 1)):
            return True
    return False


def _text_levels(run: Run) -> int:
    """How many of the innermost elements above a run may have text nodes of their own in it."""
    if run.closes or run.opens:
        return run.closes + 1
    return 1 if sum(root.count for root in run.roots) > 1 else 0


def _fits(query: Query, number: int, path: Sequence[Name]) -> bool:
    """Whether the prefix of a query node can be laid on a label path, its last step on the last label."""
    if not number or not path:
        return not number and not path
    node = query.nodes[number]
    if not node.test.admits(*path[-1]):
        return False
    if node.axis is Axis.CHILD:
        return _fits(query, node.parent, path[:-1])
    return any(_fits(query, node.parent, path[:length]) for length in range(len(path)))


def _names(run: Run) -> tuple[Name, ...]:
    return expanded_names(run.context or ())


def _label_paths(header: Header, dictionary: PathDictionary | None) -> list[tuple[Name, ...]] | None:
    """The label paths of a fragment; ``None`` if one of them is unknown."""
    if header.kind != "prefix+paths" or header.paths is None or dictionary is None:
        return None
    paths = [dictionary.expanded(number) for number in header.paths.numbers]
    known = [path for path in paths if path is not None]
    return known if len(known) == len(paths) else None


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
