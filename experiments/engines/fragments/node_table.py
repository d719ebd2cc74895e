"""The query nodes of all queries as flat lists, one entry for each bit."""

from __future__ import annotations

from dataclasses import dataclass

from twigcast.fragmenting.scheduling.prefix_tree import PrefixTree
from twigcast.pattern import Axis


@dataclass(frozen=True, slots=True)
class NodeTable:
    """For each query node: its query, its parent (of a document node -1), and the children it requires.

    ``children`` and ``descendants`` are the bit sets of the children that are reached by ``/`` and ``//``;
    ``branches`` has all nodes with several children, ``leaves`` those with none.
    """

    query: tuple[int, ...]
    parent: tuple[int, ...]
    is_child: tuple[bool, ...]
    children: tuple[int, ...]
    descendants: tuple[int, ...]
    required: tuple[int, ...]
    branches: int
    leaves: int

    @classmethod
    def of(cls, tree: PrefixTree) -> NodeTable:
        nodes = [
            (number, tree.first[number], node)
            for number, query in enumerate(tree.queries)
            for node in query.nodes
        ]
        by_axis: dict[Axis, list[int]] = {axis: [] for axis in Axis}
        for number, first, node in nodes:
            for axis, masks in by_axis.items():
                below = [each for each in node.children if tree.queries[number].nodes[each].axis is axis]
                masks.append(sum(1 << first + each for each in below))
        required = tuple(
            child | descendant
            for child, descendant in zip(by_axis[Axis.CHILD], by_axis[Axis.DESCENDANT], strict=True)
        )
        return cls(
            tuple(number for number, _, _ in nodes),
            tuple(first + node.parent if node.number else -1 for _, first, node in nodes),
            tuple(node.axis is Axis.CHILD for _, _, node in nodes),
            tuple(by_axis[Axis.CHILD]),
            tuple(by_axis[Axis.DESCENDANT]),
            required,
            sum(1 << bit for bit, mask in enumerate(required) if mask.bit_count() > 1),
            sum(1 << bit for bit, mask in enumerate(required) if not mask),
        )
