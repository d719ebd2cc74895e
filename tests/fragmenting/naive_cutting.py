"""Cuts documents by their trees, slowly and plainly, for tests of what is done with fragments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from twigcast.document import Document, Element, descendants, elements, read
from twigcast.fragmenting import (
    DOCUMENT_NODE,
    Fragment,
    HeaderKind,
    Hole,
    LabelPaths,
    OpenElement,
    Opening,
    PathEntry,
    Run,
    SubtreeRoots,
    node_id,
)
from twigcast.fragmenting.fragments import Header


def subtrees(body: bytes, separators: Sequence[int], kind: HeaderKind = "prefix+level") -> list[Fragment]:
    """Fragments by the thesis's rule; separators are numbers of elements in document order, from 0."""
    document = read(body)
    nodes = list(descendants(document))
    taken: set[Element] = set()
    groups: list[list[list[Element]]] = []
    for number in sorted(set(separators)):
        runs = []
        for node in _path(nodes[number]):
            siblings = list(elements(node.parent))
            left = [each for each in siblings[: siblings.index(node)] if each not in taken]
            if left:
                runs.append(left)
        if runs:
            taken |= {each for run in runs for each in run}
            groups.append(runs)
    groups.append([[document.root]])
    owners: dict[Element, int] = {}
    for number, runs in enumerate(groups, 1):
        for root in (root for run in runs for root in run):
            for each in [root, *_kept(root, taken)]:
                owners.setdefault(each, number)
    numbers: dict[Element, int] = {}
    counts: dict[int, int] = {}
    for each in nodes:
        counts[owners[each]] = counts.get(owners[each], 0) + 1
        numbers[each] = node_id(owners[each], counts[owners[each]])
    cut_runs = {run[0]: run for runs in groups for run in runs}
    fills: dict[Element, int] = {}
    made: list[tuple[bytes, list[Run], list[Hole]]] = []
    for number, runs in enumerate(groups, 1):
        text, made_runs, holes = b"", [], []
        elements_before = 0
        for run in runs:
            root = run[0].parent is document
            start, end = (0, len(body)) if root else (run[0].start, run[-1].end)
            at = len(text)
            position = start
            inner = [each for each in nodes if owners[each] != number and start < each.start < end]
            for each in inner:
                if each in cut_runs and owners.get(each.parent) == number:
                    text += body[position : each.start]
                    position = cut_runs[each][-1].end
                    hole = Hole(node_id(number, len(holes) + 1), len(text), position)
                    holes.append(hole)
                    fills[each] = hole.id
            text += body[position:end]
            own = [each for each in nodes if owners[each] == number and start <= each.start < end]
            context = tuple(_open(numbers, each) for each in _path(run[0])[:-1])
            made_runs.append(
                Run(
                    at,
                    len(text),
                    start,
                    None,
                    context[-1].id if context else DOCUMENT_NODE,
                    len(context),
                    context,
                    roots=_roots(run, len(context), taken, owners),
                    first=elements_before,
                )
            )
            elements_before += len(own)
        made.append((text, made_runs, holes))
    parts = []
    for number, ((text, made_runs, holes), runs) in enumerate(zip(made, groups, strict=True), 1):
        filled = tuple(
            replace(each, fills=fills.get(run[0])) for each, run in zip(made_runs, runs, strict=True)
        )
        parts.append((number, text, filled, tuple(holes), counts[number]))
    paths = _dictionary(nodes, owners)
    prolog = document.root.start
    return [
        _as_kind(
            Header(
                "d",
                number,
                len(text),
                runs,
                holes,
                Opening.of(body[:prolog]),
                count,
                number == len(parts),
                "prefix+paths",
                paths[number],
                prolog if number == len(parts) else 0,
            ),
            text,
            kind,
        )
        for number, text, runs, holes, count in parts
    ]


def by_count(body: bytes, most: int) -> list[int]:
    """The separators of the thesis's rule: a node with which the count exceeds ``most``."""
    document = read(body)
    taken: set[Element] = set()
    separators, count = [], 0
    for number, node in enumerate(descendants(document)):
        count += 1
        if count > most:
            left = []
            for each in _path(node):
                siblings = list(elements(each.parent))
                left += [other for other in siblings[: siblings.index(each)] if other not in taken]
            if left:
                taken |= set(left)
                separators.append(number)
                count = 1
    return separators


def spans(body: bytes, cuts: Iterable[int], kind: HeaderKind = "prefix+level") -> list[Fragment]:
    """Fragments that are byte ranges; cuts are numbers of elements before whose start tags to cut."""
    document = read(body)
    nodes = list(descendants(document))
    begins = [0, *sorted({nodes[cut].start for cut in cuts if cut > 0})]
    ends = [*begins[1:], len(body)]
    owners = {
        each: next(number for number in range(len(begins), 0, -1) if begins[number - 1] <= each.start)
        for each in nodes
    }
    numbers: dict[Element, int] = {}
    counts = dict.fromkeys(range(1, len(begins) + 1), 0)
    for each in nodes:
        counts[owners[each]] += 1
        numbers[each] = node_id(owners[each], counts[owners[each]])
    paths = _dictionary(nodes, owners)
    parts = []
    for number, (start, end) in enumerate(zip(begins, ends, strict=True), 1):
        above = [each for each in nodes if each.start < start < each.end]
        left = [each for each in nodes if each.start < end < each.end]
        context = tuple(_open(numbers, each) for each in above)
        roots: tuple[SubtreeRoots, ...] = ()
        own = [each for each in nodes if owners[each] == number]
        for depth, parent in enumerate([document, *above]):
            tops = [each for each in own if each.parent is parent]
            roots += _roots(tops, depth, set(), owners)
        last = number == len(begins)
        run = Run(
            0,
            end - start,
            start,
            node_id(number - 1, 1) if number > 1 else None,
            context[-1].id if context else DOCUMENT_NODE,
            len(context),
            context,
            roots=roots,
            closes=len([each for each in above if each not in left]),
            opens=tuple(_open(numbers, each) for each in left if each not in above),
        )
        holes = () if last else (Hole(node_id(number, 1), end - start, end),)
        prolog = document.root.start
        header = Header(
            "d",
            number,
            end - start,
            (run,),
            holes,
            Opening.of(body[:prolog]),
            counts[number],
            last,
            "prefix+paths",
            paths[number],
            prolog if number == 1 else 0,
        )
        parts.append(_as_kind(header, body[start:end], kind))
    return parts


def _as_kind(header: Header, body: bytes, kind: HeaderKind) -> Fragment:
    """The fragment with a header that says less."""
    runs = header.runs
    if kind in ("edge", "prefix"):
        runs = tuple(replace(run, roots=tuple(replace(each, height=None) for each in run.roots)) for run in runs)
    if kind == "edge":
        runs = tuple(
            replace(run, context=None, roots=(), inherited=tuple(run.namespaces.items())) for run in runs
        )
    paths = header.paths if kind == "prefix+paths" else None
    return Fragment(replace(header, runs=runs, kind=kind, paths=paths), body)


def _path(node: Element) -> list[Element]:
    path: list[Element] = []
    above: Element | Document = node
    while isinstance(above, Element):
        path.insert(0, above)
        above = above.parent
    return path


def _kept(root: Element, taken: set[Element]) -> list[Element]:
    """The elements below a root that no earlier fragment has taken."""
    found = []
    for child in elements(root):
        if child not in taken:
            found += [child, *_kept(child, taken)]
    return found


def _open(numbers: dict[Element, int], element: Element) -> OpenElement:
    return OpenElement(numbers[element], element.local)


def _roots(
    tops: Sequence[Element], depth: int, taken: set[Element], owners: dict[Element, int]
) -> tuple[SubtreeRoots, ...]:
    found: dict[str, tuple[int, int]] = {}
    for top in tops:
        count, height = found.get(top.local, (0, 0))
        found[top.local] = count + 1, max(height, _height(top, owners))
    return tuple(SubtreeRoots(name, depth, *each) for name, each in found.items())


def _height(element: Element, owners: dict[Element, int]) -> int:
    same = [each for each in elements(element) if owners[each] == owners[element]]
    return max((1 + _height(each, owners) for each in same), default=0)


def _dictionary(nodes: Sequence[Element], owners: dict[Element, int]) -> dict[int, LabelPaths]:
    entries: dict[tuple[int, str], PathEntry] = {}
    of_node: dict[Element | Document, int] = {}
    numbers: dict[int, set[int]] = {}
    for node in nodes:
        parent = of_node.get(node.parent, 0)
        entry = entries.setdefault((parent, node.local), PathEntry(len(entries) + 1, parent, node.local))
        of_node[node] = entry.number
        numbers.setdefault(owners[node], set()).add(entry.number)
    made: dict[int, LabelPaths] = {}
    told: set[int] = set()
    every = {entry.number: entry for entry in entries.values()}
    for number in sorted(numbers):
        new: list[PathEntry] = []
        for each in sorted(numbers[number]):
            while each and each not in told:
                told.add(each)
                new.append(every[each])
                each = every[each].parent
        made[number] = LabelPaths(frozenset(numbers[number]), tuple(new))
    return made
