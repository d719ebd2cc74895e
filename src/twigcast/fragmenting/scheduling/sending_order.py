"""In which order a sender that knows no subscriptions sends the fragments of a document."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from twigcast.fragmenting.fragments import Fragment


def by_novelty(parts: Iterable[Fragment]) -> list[Fragment]:
    """Fragments ordered so that each one has the most label paths that none before it has.

    Their headers must be of the kind ``prefix+paths``; others say nothing and come last.  Of equal fragments
    the lowest number comes first.  Most receivers know early what a document has, since it has few label
    paths and repeats them.
    Cost: the novelty of a fragment only ever falls, so that a heap is asked again for its first entry only.
    """
    fragments = {each.number: each for each in parts}
    left = {number: set(each.paths.numbers if each.paths else ()) for number, each in fragments.items()}
    heap = [(-len(paths), number) for number, paths in left.items()]
    heapq.heapify(heap)
    seen: set[int] = set()
    ordered = []
    while heap:
        score, number = heap[0]
        left[number] -= seen
        if -len(left[number]) != score:
            heapq.heapreplace(heap, (-len(left[number]), number))
            continue
        heapq.heappop(heap)
        seen |= left[number]
        ordered.append(fragments[number])
    return ordered
