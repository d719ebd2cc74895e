"""Draws a mapping: the places of the source, the operators that act on each, and the places they become.

    cmu                                        catalogue
    └─ Course                rename            catalogue/course
       ├─ Code               rename            catalogue/course/code
       └─ Lecturer           insert · rename   catalogue/course/(instructor)/name

A place in parentheses is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby

from twigcast.rewriting.labels import parent_key, shown_path
from twigcast.rewriting.mapping import Mapping as SchemaMapping
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Operator,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
    apply,
)
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree

LINE = 18  # the height of a line in a drawing, in pixels
LETTER = 7.3  # the width of a letter


@dataclass(frozen=True, slots=True)
class MappingRow:
    """One source place: its line in the tree, the kinds of its operators, and its image, empty if unmatched.

    ``branches`` are the lines of the tree before the name.
    """

    key: str
    branches: str
    name: str
    operators: tuple[str, ...]
    image: str
    is_matched: bool
    is_leaf: bool


def mapping_rows(
    mapping: SchemaMapping,
    matched: Mapping[str, str],
    prefixes: Mapping[str, str],
    *,
    everything: bool = False,
) -> list[MappingRow]:
    """The matched places with what is above them, and what operators hide; or all places."""
    kinds = _kinds(mapping)
    image = mapping.image
    source = mapping.source
    nodes = source.nodes() if everything else source.known
    wanted: set[str] = set()
    for node in nodes:
        if everything or node.key in matched or "hide" in kinds.get(node.key, ()):
            wanted |= {node.key, *(each.key for each in node.ancestors())}
    rows: list[MappingRow] = []
    waiting: list[tuple[SchemaNode, str, str]] = [(source.root, "", "")]
    while waiting:
        node, branch, below = waiting.pop()
        is_matched = node.key in matched
        found = image.find(node.key) if is_matched else None
        rows.append(
            MappingRow(
                node.key,
                branch,
                shown_path(str(node.path[-1]), prefixes) + node.cardinality,
                tuple(_counted(kinds.get(node.key, ()))),
                "" if found is None else _shown_image(found, prefixes),
                is_matched,
                node.is_leaf,
            )
        )
        children = [each for each in (*node.attributes, *node.children) if each.key in wanted]
        for number, child in reversed(list(enumerate(children, 1))):
            last = number == len(children)
            waiting.append((child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")))
    return rows


def mapping_svg(rows: list[MappingRow], title: str) -> str:
    """A drawing with the two trees and a line for each pair."""
    left = [f"{row.branches}{row.name}" for row in rows]
    images = list(dict.fromkeys(row.image for row in rows if row.image))
    start = max((len(text) for text in left), default=0) * LETTER + 24
    labels = [" · ".join(row.operators) for row in rows]
    end = start + max((len(text) for text in labels), default=0) * LETTER + 60
    width = end + max((len(text) for text in images), default=0) * LETTER + 24
    height = (max(len(rows), len(images)) + 3) * LINE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        'font-family="monospace" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width:.0f}" height="{height}" fill="white"/>',
        f'<text x="12" y="{LINE}" font-weight="bold">{escape(title)}</text>',
    ]
    places = {image: (number + 2.5) * LINE for number, image in enumerate(images)}
    for number, (row, text, label) in enumerate(zip(rows, left, labels, strict=True)):
        y = (number + 2.5) * LINE
        color = "black" if row.is_matched else "gray"
        parts.append(f'<text x="12" y="{y:.0f}" fill="{color}" xml:space="preserve">{escape(text)}</text>')
        if not row.image:
            continue
        from_x, to_y = 12 + len(text) * LETTER + 4, places[row.image]
        middle = (start + end) / 2
        parts.append(
            f'<path d="M{from_x:.0f} {y - 4:.0f} H{start:.0f} C{middle:.0f} {y - 4:.0f} {middle:.0f} '
            f'{to_y - 4:.0f} {end - 6:.0f} {to_y - 4:.0f}" fill="none" stroke="steelblue"/>'
        )
        parts.append(f'<text x="{start:.0f}" y="{y - 7:.0f}" fill="steelblue" font-size="9">{label}</text>')
    for image, y in places.items():
        parts.append(f'<text x="{end:.0f}" y="{y:.0f}">{escape(image)}</text>')
    return "\n".join((*parts, "</svg>")) + "\n"


def _shown_image(node: SchemaNode, prefixes: Mapping[str, str]) -> str:
    steps = []
    for each in (*reversed(list(node.ancestors())), node):
        name = shown_path(str(each.path[-1]), prefixes)
        steps.append(f"({name})" if parent_key(each.key)[1].startswith("+") else name)
    return "/".join(steps)


def _kinds(mapping: SchemaMapping) -> dict[str, list[str]]:
    """The kinds of the operators that act on each node, in their order."""
    kinds: dict[str, list[str]] = {}
    tree = mapping.source.copy()
    for operator in mapping.operators:
        for key, kind in _touched(tree, operator):
            kinds.setdefault(key, []).append(kind)
        apply(tree, operator)
    return kinds


def _touched(tree: SchemaTree, operator: Operator) -> Iterator[tuple[str, str]]:
    node = tree[operator.node]
    match operator:
        case Rename():
            yield node.key, "rename"
        case ToElement():
            yield node.key, "to element"
        case Hide():
            yield node.key, "hide"
        case Insert(members=members) | InsertEach(members=members):
            yield from ((key, "insert") for key in members)
        case Upgrade(members=members):
            yield from ((key, "upgrade") for key in members)
        case Downgrade(members=members):
            yield from ((key, "downgrade") for key in members)
        case Exchange(above=above):
            yield node.key, "exchange"
            yield above, "exchange"
        case InsertAll() | UpgradeAll():
            tree.expand(node)
            kind = "insert" if isinstance(operator, InsertAll) else "upgrade"
            yield from ((child.key, kind) for child in node.children)


def _counted(kinds: list[str] | tuple[()]) -> Iterator[str]:
    for kind, group in groupby(kinds):
        times = len(list(group))
        yield kind if times == 1 else f"{kind} ×{times}"
