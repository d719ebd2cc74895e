"""Chooses pairs from scores: the assignment with the largest sum, leaves first, then what contains them.

    leaves     maximum-weight assignment above the threshold; a leaf that is left over may share the target of
               a sibling that is like it, such as Fall2003 and Winter2004
    inner      the same, by names and by how many chosen leaves lie below both nodes

A leaf pairs with a leaf only, since an operator cannot turn content into text; otherwise ``Instructor`` would
go to ``instructor`` instead of ``instructor/name``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import networkx as nx

from twigcast.rewriting.schema_tree import SchemaNode

SURE = 0.8
"""A pair may turn parent and child around only if the names are this similar."""


def compatible(source: SchemaNode, target: SchemaNode) -> bool:
    """Whether operators can make the one of the other."""
    if target.is_attribute:
        return source.is_attribute
    return source.is_leaf == target.is_leaf


def assign(scores: Mapping[tuple[str, str], float], threshold: float) -> dict[str, str]:
    """The pairs, each node in one of them at most, whose scores have the largest sum.

    Pairs below the threshold do not count.  Of equal sums, targets that come first in ``scores`` are taken.
    """
    graph = nx.Graph()
    order = {target: number for number, target in enumerate(dict.fromkeys(pair[1] for pair in scores))}
    # Integers make the sums exact, so that the result is the same everywhere.
    step = len(order) * (len(order) + 1)
    for (source, target), score in scores.items():
        if score >= threshold:
            weight = round(score * 1_000_000) * step + len(order) - order[target]
            graph.add_edge((0, source), (1, target), weight=weight)
    chosen: Iterable[tuple[tuple[int, str], tuple[int, str]]] = nx.max_weight_matching(graph)
    pairs = (sorted(pair) for pair in chosen)
    return {source[1]: target[1] for source, target in sorted(pairs)}


def share(
    scores: Mapping[tuple[str, str], float],
    pairs: Mapping[str, str],
    threshold: float,
    alike: Callable[[str, str, str], bool],
) -> dict[str, str]:
    """Pairs of sources with the target of another source, for those without a pair, or with a worse one.

    The target must be the best of all for the source, taken or not, and above the threshold; and the two
    sources must be ``alike`` for it, since most sources that are left over mean something else.
    """
    best: dict[str, tuple[float, str]] = {}
    for (source, target), score in scores.items():
        own = scores[source, pairs[source]] if source in pairs else 0.0
        if score >= threshold and score > max(own, best.get(source, (0.0, ""))[0]):
            best[source] = score, target
    holders = {target: source for source, target in pairs.items()}
    return {
        source: target
        for source, (_, target) in best.items()
        if target in holders and alike(source, holders[target], target)
    }


def overlap(
    sources: Iterable[SchemaNode], targets: Iterable[SchemaNode], leaves: Mapping[str, str]
) -> dict[tuple[str, str], float]:
    """How well inner nodes agree in the chosen leaves below them: the harmonic mean of both shares."""
    ours = {node.key: _leaves(node) & leaves.keys() for node in sources}
    images = set(leaves.values())
    theirs = {node.key: _leaves(node) & images for node in targets}
    found: dict[tuple[str, str], float] = {}
    for source, below in ours.items():
        if not below:
            continue
        for target, wanted in theirs.items():
            common = sum(leaves[leaf] in wanted for leaf in below)
            covered = len({leaves[leaf] for leaf in below} & wanted)
            if common:
                precision, recall = common / len(below), covered / len(wanted)
                found[source, target] = 2 * precision * recall / (precision + recall)
    return found


def consistent(
    pairs: Mapping[str, str],
    scores: Mapping[tuple[str, str], float],
    names: Mapping[tuple[str, str], float],
    sources: Mapping[str, SchemaNode],
    targets: Mapping[str, SchemaNode],
) -> dict[str, str]:
    """The inner pairs without those that turn a better pair around, except where both names are sure."""
    kept: dict[str, str] = {}

    def is_turned(source: str, target: str, other: str, image: str) -> bool:
        return _is_above(sources[source], sources[other]) and _is_above(targets[image], targets[target])

    for source, target in sorted(pairs.items(), key=lambda pair: (-scores[pair], pair)):
        turned = [
            pair
            for pair in kept.items()
            if is_turned(source, target, *pair) or is_turned(*pair, source, target)
        ]
        if not turned or all(names.get(pair, 0.0) >= SURE for pair in (*turned, (source, target))):
            kept[source] = target
    return kept


def _is_above(node: SchemaNode, other: SchemaNode) -> bool:
    return any(each is node for each in other.ancestors())


def _leaves(node: SchemaNode) -> set[str]:
    found: set[str] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        found.update(attribute.key for attribute in each.attributes)
        if each.is_leaf and each is not node:
            found.add(each.key)
        waiting += each.children
    return found
