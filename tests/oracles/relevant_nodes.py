"""Which query nodes a fragment is relevant for, by definition: what ``Relevance`` must agree with."""

from __future__ import annotations

from collections.abc import Sequence

from twigcast.document import Name
from twigcast.fragmenting import Header
from twigcast.fragmenting.fragments import Run
from twigcast.fragmenting.headers import PathDictionary, expanded_names
from twigcast.fragmenting.scheduling.queries import Query, QueryNode, TextUse
from twigcast.fragmenting.scheduling.relevance import lists_elements, text_levels
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
        first = len(path) + 1 - text_levels(run) if node.text is TextUse.OWN else 0
        if any(_fits(query, node.number, path[:depth]) for depth in range(max(0, first), len(path) + 1)):
            return True
    return False


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
