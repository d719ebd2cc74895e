"""Splits a document into its root-to-leaf paths, and reassembles a document from some of them.

``<a x="1"><b>s</b>t<c>u<d/>v</c></a>`` has two paths:

    path 0    a[x=1] / b            with "s" in b
    path 1    a[x=1] / c / d        with "t" in a, "u" and "v" in c

A path ends with an element that has no child elements.  Text travels with the next path in the same element,
or with the last one if there is no next, so that there are exactly as many paths as such elements, as in the
paper.  Each element of a path carries its attributes and its ordinal in document order, so any set of paths
can be reassembled into the document pruned to these paths.  Subscriptions are matched against paths by their
``branches``: linear patterns, each of which is matched against a path as if it were the whole document.

Invariant, which makes ``branches`` correct: if a pruned document contains every path that some branch of a
pattern matches, then the pattern matches the pruned document if and only if it matches the whole document.
Proof: consider a node that a path of the pattern selects, be it the main path or a path in a condition.  The
node and everything below it lie on paths that the branch of that path matches, so they are in the pruned
document.  Nodes that no path selects make no difference to the pattern, not even under ``not``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from twigcast.document import Attribute, Comment, Document, Element, Instruction, Text
from twigcast.pattern import (
    And,
    AttributeTail,
    Comparison,
    Count,
    Exists,
    Length,
    Not,
    Onward,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Step,
    StringTest,
    Test,
)


class PathNode(NamedTuple):
    """An element on a path: its ordinal in document order, its name and its attributes."""

    ordinal: int
    namespace: str
    local: str
    attributes: tuple[tuple[str, str, str, str], ...]
    """Each as (namespace, local, value, prefix)."""
    prefix: str = ""


class PathText(NamedTuple):
    """A text node on a path: its ordinal in document order, its number of ancestor elements, its value.

    A comment or processing instruction travels as text does; ``markup`` is how it is written.
    """

    ordinal: int
    depth: int
    value: str
    markup: str = ""


@dataclass(frozen=True, slots=True)
class LeafPath:
    """One root-to-leaf path of a document, and the text that travels with it."""

    doc_id: str
    path_id: int
    nodes: tuple[PathNode, ...]
    texts: tuple[PathText, ...] = ()
    body: bytes = field(default=b"", compare=False, repr=False)
    """The path as a document of its own, against which patterns are matched."""


def leaf_paths(doc_id: str, document: Document) -> tuple[LeafPath, ...]:
    """Return the paths of a document, in document order."""
    found: list[tuple[tuple[PathNode, ...], list[PathText]]] = []
    above: list[PathNode] = []
    texts: list[PathText] = []  # not yet assigned to a path
    waiting: list[Element | Text | Comment | Instruction | None] = [*reversed(document.children)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Text | Comment | Instruction):
            texts.append(_path_text(node, len(above)))
            continue
        if node is None:
            if texts:  # text after the last child element
                found[-1][1].extend(texts)
                texts = []
            above.pop()
            continue
        above.append(_path_node(node))
        if any(isinstance(child, Element) for child in node.children):
            waiting.append(None)
            waiting += node.children[::-1]
        else:
            texts += [
                _path_text(child, len(above)) for child in node.children if not isinstance(child, Element)
            ]
            found.append((tuple(above), texts))
            texts = []
            above.pop()
    found[-1][1].extend(texts)  # comments and instructions after the root
    paths = (LeafPath(doc_id, number, nodes, tuple(texts)) for number, (nodes, texts) in enumerate(found))
    return tuple(replace(path, body=reassemble((path,))) for path in paths)


def reassemble(paths: Iterable[LeafPath]) -> bytes:
    """Return the document pruned to these paths, all of which belong to one document; their order is free."""
    by_ordinal: dict[int, tuple[int, PathNode | PathText]] = {}
    for path in paths:
        for depth, node in enumerate(path.nodes):
            by_ordinal[node.ordinal] = depth, node
        for text in path.texts:
            by_ordinal[text.ordinal] = text.depth, text
    pieces: list[str] = []
    open_nodes: list[PathNode] = []
    for ordinal in sorted(by_ordinal):
        depth, content = by_ordinal[ordinal]
        if len(open_nodes) > depth:
            _close(pieces, open_nodes, depth)
        if isinstance(content, PathText):
            pieces.append(content.markup or _escaped(content.value))
        else:
            _open(pieces, open_nodes, content)
    _close(pieces, open_nodes, 0)
    return "".join(pieces).encode()


def branches(pattern: Pattern) -> tuple[Pattern, ...]:
    """Return linear patterns that match all paths needed to decide ``pattern``.

    A linear pattern is its own branch.  A general expression may look at the whole document, so all paths are
    needed.  Conditions on attributes alone are kept, because the elements of a
    path carry their attributes.
    """
    if any(map(_is_general, pattern.alternatives)):
        return (Pattern((Path(()),)),)
    if len(pattern.alternatives) == 1 and _is_linear(pattern.alternatives[0]):
        return (pattern,)
    found: dict[Path, None] = {}
    for alternative in pattern.alternatives:
        for branch in _path_branches((), alternative):
            found[branch] = None
    return tuple(Pattern((branch,)) for branch in found)


def by_branch(patterns: Mapping[str, Pattern]) -> dict[str, Pattern]:
    """Return the branches of subscriptions by id; a subscription that is its own branch keeps its id."""
    found: dict[str, Pattern] = {}
    for id, pattern in patterns.items():
        parts = branches(pattern)
        if parts == (pattern,):
            found[id] = pattern
        else:
            found.update({f"branch:{number}:{id}": part for number, part in enumerate(parts)})
    return found


# Branches


def _is_linear(path: Path) -> bool:
    return not path.filters and all(_on_attributes(p) for step in path.steps for p in step.predicates)


def _is_general(path: Path) -> bool:
    """Whether a path contains a general expression."""
    waiting: list[Path | Predicate] = [path]
    while waiting:
        match waiting.pop():
            case Path(steps, tail, filters):
                if isinstance(tail, Onward):
                    return True
                waiting += [*filters, *(predicate for step in steps for predicate in step.predicates)]
            case Test():
                return True
            case And(operands) | Or(operands):
                waiting += operands
            case Not(operand):
                waiting.append(operand)
            case Position(among=among):
                waiting += among
            case Exists(paths) | Comparison(paths) | StringTest(_, paths) | Length(paths) | Count(paths):
                waiting += paths
    return False


def _path_branches(context: tuple[Step, ...], path: Path) -> Iterator[Path]:
    """Yield the branches of a path that is relative to the elements selected by the steps ``context``."""
    yield from _predicate_branches(context, path.filters)
    trunk = context
    for step in path.steps:
        plain = replace(step, predicates=tuple(p for p in step.predicates if _on_attributes(p)))
        trunk = (*trunk, plain)
        yield from _predicate_branches(trunk, step.predicates)
    yield Path(trunk, path.tail)


def _predicate_branches(context: tuple[Step, ...], predicates: Sequence[Predicate]) -> Iterator[Path]:
    for predicate in predicates:
        if _on_attributes(predicate):
            continue
        match predicate:
            case Exists(paths) | Comparison(paths) | StringTest(_, paths) | Length(paths) | Count(paths):
                for path in paths:
                    yield from _path_branches(context, path)
            case And(operands) | Or(operands):
                yield from _predicate_branches(context, operands)
            case Not(operand):
                yield from _predicate_branches(context, (operand,))
            case Position(test, _, _, among):
                # The elements that a position counts do not depend on the other conditions of the step.
                twin = Step(context[-1].axis, test, tuple(p for p in among if _on_attributes(p)))
                twins = (*context[:-1], twin)
                yield Path(twins)
                yield from _predicate_branches(twins, among)


def _on_attributes(predicate: Predicate) -> bool:
    """Whether the condition depends only on attributes of the element itself."""
    match predicate:
        case Exists(paths) | Comparison(paths) | StringTest(_, paths) | Length(paths) | Count(paths):
            return all(
                isinstance(path.tail, AttributeTail) and not path.steps and not path.filters for path in paths
            )
        case And(operands) | Or(operands):
            return all(map(_on_attributes, operands))
        case Not(operand):
            return _on_attributes(operand)
        case _:
            return False


# Writing


def _path_node(element: Element) -> PathNode:
    attributes = tuple(map(_attribute, element.attributes))
    return PathNode(element.order, element.namespace, element.local, attributes, element.prefix)


def _attribute(attribute: Attribute) -> tuple[str, str, str, str]:
    return attribute.namespace, attribute.local, attribute.value, attribute.prefix


def _path_text(node: Text | Comment | Instruction, depth: int) -> PathText:
    markup = ""
    if isinstance(node, Comment):
        markup = f"<!--{node.value}-->"
    elif isinstance(node, Instruction):
        markup = f"<?{node.target} {node.value}?>" if node.value else f"<?{node.target}?>"
    return PathText(node.order, depth, node.value, markup)


_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _open(pieces: list[str], open_nodes: list[PathNode], node: PathNode) -> None:
    outer = next((each.namespace for each in reversed(open_nodes) if not each.prefix), "")
    pieces.append(f"<{_tag(node)}")
    bound = {node.prefix: node.namespace} if node.prefix or node.namespace != outer else {}
    for namespace, local, value, prefix in node.attributes:
        if prefix:
            bound[prefix] = namespace
            local = f"{prefix}:{local}"
        pieces.append(f' {local}="{_escaped(value)}"')
    for prefix, uri in bound.items():
        if prefix != "xml":
            pieces.append(f' xmlns{":" if prefix else ""}{prefix}="{_escaped(uri)}"')
    pieces.append(">")
    open_nodes.append(node)


def _close(pieces: list[str], open_nodes: list[PathNode], depth: int) -> None:
    while len(open_nodes) > depth:
        pieces.append(f"</{_tag(open_nodes.pop())}>")


def _tag(node: PathNode) -> str:
    return f"{node.prefix}:{node.local}" if node.prefix else node.local
