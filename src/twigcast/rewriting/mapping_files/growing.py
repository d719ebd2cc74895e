"""Grows a global schema by places that a source has and the schema lacks.

    cmu/Course/Sec is not matched  ──►  <!ELEMENT course (…, sec?)>  <!ELEMENT sec (#PCDATA)>
                                        "cmu/Course/Sec" = "catalogue/course/sec"

Places are only added, and are optional, so no subscription changes its meaning and every old document stays
valid.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from twigcast.errors import MappingError
from twigcast.rewriting.labels import shown_path
from twigcast.rewriting.mapping_files.checking import undecided_places
from twigcast.rewriting.mapping_files.mapping_file import MappingFile
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree
from twigcast.schema import (
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Sequence,
    element_graph,
    read_dtd,
    write_dtd,
)

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(slots=True)
class Growth:
    """A grown schema: ``pairs`` of the new places, and the ``children`` that elements got.

    ``skipped`` says of places that were not added why.
    """

    graph: ElementGraph
    pairs: dict[str, str] = field(default_factory=dict)
    children: dict[str, list[Child]] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def grow_schema(file: MappingFile, graph: ElementGraph, places: Collection[str] = ()) -> Growth:
    """Add the source places that no line of a mapping file decides on, or just those that are named."""
    source, target = file.source_tree(), file.target_tree(graph)
    prefixes = file.prefixes(source, target)
    chosen = {file.source_key(place, source, "place") for place in places}
    found = undecided_places(file, source, target)
    if chosen:
        found = [leaf for key in sorted(chosen) for leaf in _leaves(source, source[key])]
    growth = Growth(graph.rooted(target.root.element or graph.root))
    pairs = file.keys(source, target)
    made: dict[str, tuple[str, str]] = {}  # source key → element and path in the grown schema
    for node in found:
        chain = [node]
        while chain[-1].key not in pairs and chain[-1].key not in made and chain[-1].parent is not None:
            chain.append(chain[-1].parent)
        top = chain.pop()
        shown = shown_path(node.key, prefixes)
        if top.key in made:
            element, path = made[top.key]
        elif top.key in pairs:
            goal = target[pairs[top.key]]
            element, path = goal.element or "", goal.key
        else:
            growth.skipped[shown] = "nothing above it is matched"
            continue
        if not element or growth.graph[element].content is ContentKind.MIXED:
            growth.skipped[shown] = f"{path!r} has text and no elements"
            continue
        for each in reversed(chain):
            name = _added(growth, element, each)
            if name is None:
                growth.skipped[shown] = f"the global schema has {path}/{snake_case(each.label.local)} already"
                break
            element, path = name, f"{path}/{name}"
            made[each.key] = name, path
            growth.pairs[shown_path(each.key, prefixes)] = path
    return growth


def grown_dtd(text: str, growth: Growth) -> str:
    """The text of a DTD with the new places; comments and order stay where declarations can be changed alone.

    Raises ``MappingError`` (``in-use``) if the new text would not admit what the old one did.
    """
    if not growth.pairs:
        return text
    changed = text
    for name, children in growth.children.items():
        if name in growth.added:
            continue
        declaration = re.compile(rf"<!ELEMENT\s+{re.escape(name)}\s+([^%>]*)>")
        found = declaration.search(_COMMENT.sub(lambda comment: " " * len(comment[0]), changed))
        model = "" if found is None else _with_children(found[1].strip(), children)
        if found is None or not model:
            changed = ""
            break
        changed = f"{changed[: found.start(1)]}{model}{changed[found.end(1) :]}"
    if not changed:
        changed = write_dtd(growth.graph)
    elif growth.added:
        added = [growth.graph[name] for name in growth.added]
        changed = f"{changed.rstrip()}\n{write_dtd(element_graph(added))}"
    _check_only_grown(read_dtd(text.encode()), read_dtd(changed.encode()))
    return changed


def snake_case(name: str) -> str:
    """``CourseXListed`` as ``course_x_listed``."""
    return _HUMPS.sub("_", name).strip("_").lower().replace("-", "_")


def _leaves(tree: SchemaTree, node: SchemaNode) -> list[SchemaNode]:
    """The leaves at or below a node."""
    found: list[SchemaNode] = []
    waiting = [node]
    while waiting:
        each = waiting.pop()
        tree.expand(each)
        waiting += reversed(each.children)
        if each.is_leaf:
            found.append(each)
    return found


def _added(growth: Growth, parent: str, node: SchemaNode) -> str | None:
    """Add an element for a source node; None if the parent has one of this name already."""
    graph = growth.graph
    name = snake_case(node.label.local)
    if any(child.name == name for child in graph.children(parent)):
        return None
    leaf = node.is_leaf
    if name in graph and not (
        leaf and graph[name].content is ContentKind.MIXED and graph[name].model is None
    ):
        name = f"{parent}_{name}"
    elements = {element.name: element for element in graph}
    if name not in elements:
        content = ContentKind.MIXED if leaf else ContentKind.EMPTY
        elements[name] = ElementDeclaration(name, content)
        growth.added.append(name)
    child = Child(name, 0, node.most if node.most == 1 else None)
    elements[parent] = _with_child(elements[parent], child)
    growth.children.setdefault(parent, []).append(child)
    growth.graph = replace(graph, elements=tuple(elements.values()))
    return name


def _with_child(element: ElementDeclaration, child: Child) -> ElementDeclaration:
    model: Particle
    if element.content is ContentKind.MIXED:
        parts = element.model.parts if isinstance(element.model, Choice) else ()
        return replace(element, model=Choice((*parts, Child(child.name)), 0, None))
    if element.model is None:
        model = child
    elif isinstance(element.model, Sequence) and (element.model.least, element.model.most) == (1, 1):
        model = replace(element.model, parts=(*element.model.parts, child))
    else:
        model = Sequence((element.model, child))
    return replace(element, content=ContentKind.ELEMENTS, model=model)


def _with_children(model: str, children: list[Child]) -> str:
    """A content model as it is written, with optional children at its end."""
    added = ", ".join(f"{child.name}{'?' if child.most == 1 else '*'}" for child in children)
    if model == "EMPTY":
        return f"({added})"
    if "#PCDATA" in model or model == "ANY":
        return ""
    if model.endswith(")") and "|" not in model and _is_one_group(model):
        return f"{model[:-1].rstrip()}, {added})"
    return f"({model}, {added})"


def _is_one_group(model: str) -> bool:
    depth = 0
    for at, character in enumerate(model):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return at == len(model) - 1
    return False


def _check_only_grown(old: ElementGraph, new: ElementGraph) -> None:
    for element in old:
        there = {child.name for child in new.children(element.name)} if element.name in new else set()
        for child in old.children(element.name):
            if child.name not in there:
                message = f"the global schema would lose {element.name}/{child.name}"
                raise MappingError(message, code="in-use", name=child.name)
