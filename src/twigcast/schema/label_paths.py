"""How many label paths a schema has: sequences of names from the root to a leaf, as documents have them.

A path ends at an element that can be without children, or is cut off at a given depth.  The ``list`` of
``(title?, item+)`` with an ``item`` of text and lists has, to depth 3:

    list/title   list/item   list/item/list

Elements without a valid tree occur on no path.
"""

from __future__ import annotations

from twigcast.schema.graph import ElementGraph


def label_path_counts(graph: ElementGraph, depth: int) -> list[dict[str, int]]:
    """For each depth from 0 on, the number of label paths that begin at each element."""
    onward = label_children(graph)
    counts: list[dict[str, int]] = [{}, dict.fromkeys(onward, 1)][: depth + 1]
    while len(counts) <= depth:
        shorter = counts[-1]
        counts.append(
            {
                name: (graph.heights[name] == 1) + sum(shorter[child] for child in children)
                for name, children in onward.items()
            }
        )
    return counts


def label_children(graph: ElementGraph) -> dict[str, tuple[str, ...]]:
    """For each element with a valid tree, its children with a valid tree."""
    return {
        name: tuple(child.name for child in graph.children(name) if child.name in graph.heights)
        for name in graph.heights
    }
