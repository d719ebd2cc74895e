"""The label paths of a schema: the names from the root to a leaf, as documents have them.

A path ends at an element that can be without children, or is cut off at a given depth.  The ``list`` of
``(title?, item+)`` with an ``item`` of text and lists has, to depth 3:

    list/title   list/item   list/item/list

Elements without a valid tree occur on no path.
"""

from __future__ import annotations

from collections.abc import Iterator

from twigcast.schema import ElementGraph, label_children, label_path_counts


def label_paths(graph: ElementGraph, depth: int) -> Iterator[tuple[str, ...]]:
    """The label paths, cut off at ``depth``; each once, depth first."""
    onward = label_children(graph)
    if graph.root not in onward or depth < 1:
        return
    waiting: list[tuple[str, ...]] = [(graph.root,)]
    while waiting:
        path = waiting.pop()
        if len(path) == depth or graph.heights[path[-1]] == 1:
            yield path
        if len(path) < depth:
            waiting += [(*path, child) for child in reversed(onward[path[-1]])]


def count_label_paths(graph: ElementGraph, depth: int) -> int:
    """The number of ``label_paths``, computed level by level without listing them."""
    return label_path_counts(graph, depth)[depth].get(graph.root, 0)
