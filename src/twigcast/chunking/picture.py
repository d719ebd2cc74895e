"""Draws a scheme: the tree of its prefixes, with kind, weight, share and size of each chunk.

209 queries, 1 that never matches (q17: site has no child person)

site
├── people
│   └── person        1  divided   79   38 %   1.0 GB
└── the rest          2  one        7    3 %
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from twigcast.chunking.outline import Name, Names, spelled
from twigcast.chunking.scheme import Chunk, Scheme
from twigcast.pattern import Axis, NameTest

SHOWN = 3  # queries that are named in a line, and needs of a chunk


def draw(scheme: Scheme, document_bytes: int | None = None) -> str:
    """The picture; sizes stand in it if the scheme has a profile, scaled to the size of the document."""
    return "\n".join([*_summary(scheme), "", *_tree(scheme, document_bytes)])


def _summary(scheme: Scheme) -> Iterator[str]:
    count = len(scheme.queries)
    yield f"{count:,} {'query' if count == 1 else 'queries'}"
    for found, one, many in (
        (
            [f"{id}: {why}" for id, why in scheme.never],
            "never matches by the schema",
            "never match by the schema",
        ),
        ([f"{id}: {why}" for id, why in scheme.whole], "needs the whole document", "need the whole document"),
        ([f"{id}: {error}" for id, error in scheme.refused], "cannot be used", "cannot be used"),
    ):
        if found:
            what = one if len(found) == 1 else many
            more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
            yield f"{len(found):,} {what} ({'; '.join(found[:SHOWN])}{more})"


def _tree(scheme: Scheme, document_bytes: int | None) -> Iterator[str]:
    prefixes: dict[Names, list[Chunk]] = {}
    others: list[Chunk] = []
    for chunk in scheme.chunks:
        if chunk.prefix is None:
            others.append(chunk)
        else:
            prefixes.setdefault(chunk.prefix, []).append(chunk)
    nodes = sorted({each[:depth] for each in prefixes for depth in range(1, len(each) + 1)}, key=spelled)
    rows: list[tuple[str, Chunk | None]] = []
    roots = {node[0] for node in nodes}
    if not roots and others:
        roots = {
            target.path[0]
            for chunk in others
            for each in chunk.targets.values()
            for target in each[:1]
            if target.path
        }
    for root in sorted(roots, key=_printed):
        rows += _rows((root,), "", nodes, prefixes, is_last=None, followed=bool(others))
    for number, chunk in enumerate(others):
        branch = "└── " if number == len(others) - 1 else "├── "
        name = "the rest" if chunk.kind == "one" else "the document"
        rows.append((branch + name, chunk))
    total = sum(chunk.weight for chunk in scheme.chunks) or 1.0
    cells = [(label, _cells(chunk, scheme, total, document_bytes) if chunk else []) for label, chunk in rows]
    width = max((len(label) for label, _ in cells), default=0) + 2
    columns = max((len(each) for _, each in cells), default=0)
    widths = [max((len(each[i]) for _, each in cells if len(each) > i), default=0) for i in range(columns)]
    for label, each in cells:
        aligned = [
            text.ljust(widths[i]) if i in (1, columns - 1) else text.rjust(widths[i])
            for i, text in enumerate(each)
        ]
        yield f"{label:<{width}}{'  '.join(aligned)}".rstrip()


def _rows(
    node: Names,
    indent: str,
    nodes: list[Names],
    prefixes: dict[Names, list[Chunk]],
    *,
    is_last: bool | None,
    followed: bool,
) -> list[tuple[str, Chunk | None]]:
    """The lines of a node and of what is below it; the root has no branch before it."""
    branch = "" if is_last is None else "└── " if is_last else "├── "
    below = "" if is_last is None else "    " if is_last else "│   "
    chunks: list[Chunk | None] = [*prefixes.get(node, ())] or [None]
    label = indent + branch + _printed(node[-1])
    rows = [(label, chunks[0])] + [(indent + below, chunk) for chunk in chunks[1:]]
    children = [each for each in nodes if len(each) == len(node) + 1 and each[: len(node)] == node]
    for number, child in enumerate(children):
        last = number == len(children) - 1 and not (is_last is None and followed)
        rows += _rows(child, indent + below, nodes, prefixes, is_last=last, followed=False)
    return rows


def _cells(chunk: Chunk, scheme: Scheme, total: float, document_bytes: int | None) -> list[str]:
    """Number, kind, queries by weight, share, size, and what a chunk keeps beside its targets."""
    size = _size(chunk, scheme, document_bytes)
    return [
        str(chunk.number),
        chunk.kind,
        f"{chunk.weight:,.4g}",
        f"{100 * chunk.weight / total:.0f} %",
        "" if size is None else printed_bytes(size),
        _beside(chunk),
    ]


def _beside(chunk: Chunk) -> str:
    """The records of a divided chunk below its prefix, or the needs of one that is one document."""
    if chunk.kind == "whole":
        return ""
    if chunk.is_divided:
        below = ["/".join(_printed(name) for name in path) for path in chunk.records if path != chunk.prefix]
        return f"at /{_listed(below, ', /')}" if below else ""
    targets = {target.path for each in chunk.targets.values() for target in each}
    others = [need for need in chunk.needs if tuple(test for _, test in need.steps) not in targets]
    texts = sorted({f"{_path(need.steps)} {need.keep.name.lower()}" for need in others})
    return f"+ {_listed(texts, ', ')}" if texts else ""


def _path(steps: Iterable[tuple[Axis, NameTest]]) -> str:
    return "".join(f"{axis.value}{test[1] or '*'}" for axis, test in steps) or "/"


def _listed(texts: list[str], separator: str) -> str:
    return separator.join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def _size(chunk: Chunk, scheme: Scheme, document_bytes: int | None) -> int | None:
    """The bytes of the subtrees that a chunk keeps, by the profile."""
    if scheme.profile is None:
        return None
    if chunk.kind == "whole":
        return scheme.profile.scaled(scheme.profile.bytes, document_bytes)
    paths = chunk.records or {target.path for each in chunk.targets.values() for target in each}
    outermost = [path for path in paths if not any(path[:depth] in paths for depth in range(1, len(path)))]
    return scheme.profile.scaled(sum(map(scheme.profile.bytes_at, outermost)), document_bytes)


def _printed(name: Name) -> str:
    return name[1]


def printed_bytes(size: int) -> str:
    """A number of bytes for people: ``12 MB``, ``1.0 GB``."""
    value = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:,.0f} {unit}" if value >= 10 or unit == "B" else f"{value:.1f} {unit}"
