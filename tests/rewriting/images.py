"""Schemas and images as short texts, so that a test shows both at a glance.

tree_of("catalogue(course+(@nr, title, TAs*))")     a schema: all elements may have text
shown(image_of(tree, "<a><b/></a>", Upgrade(…)))    the image, written as XML without declarations
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from twigcast.document import Comment, Document, Element, Instruction, Text, read
from twigcast.rewriting import Image, Mapping, Operator, SchemaTree
from twigcast.rewriting.labels import QName
from twigcast.schema import (
    AttributeDeclaration,
    Child,
    ContentKind,
    ElementDeclaration,
    Sequence,
    element_graph,
)

NAMESPACES = {"p": "urn:p", "q": "urn:q"}
_CARDINALITIES = {"": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None)}
_TOKEN = re.compile(r"\s*([^\s(),]+|[(),])")


def tree_of(text: str) -> SchemaTree:
    """The tree of a schema in short notation; a name that was declared before means the same element."""
    children: dict[str, list[Child]] = {}
    attributes: dict[str, list[AttributeDeclaration]] = {}
    above: list[str] = []
    last = root = ""
    for token in _TOKEN.findall(text):
        if token == "(":
            above.append(last)
        elif token == ")":
            above.pop()
        elif token.startswith("@"):
            attributes.setdefault(above[-1], []).append(AttributeDeclaration(token[1:]))
        elif token != ",":
            last = token.rstrip("?*+")
            root = root or last
            children.setdefault(last, [])
            if above:
                children[above[-1]].append(Child(last, *_CARDINALITIES[token[len(last) :]]))
    elements = [
        ElementDeclaration(
            name,
            ContentKind.MIXED,
            Sequence(tuple(below)) if below else None,
            tuple(attributes.get(name, ())),
        )
        for name, below in children.items()
    ]
    return SchemaTree.of(element_graph(elements, root, tuple(NAMESPACES.items())))


def image_of(schema: str, body: str, *operators: Operator) -> Image:
    """The image of a document of a schema in short notation."""
    return Mapping("test", tree_of(schema), operators).apply(read(body.encode()))


def name(local: str) -> QName:
    """A name without a namespace."""
    return QName("", local)


def shown(document: Document) -> str:
    """A document as XML; names in a namespace are written as ``{uri}local``."""
    return "".join(map(_shown, document.children))


def _shown(node: Element | Text | Comment | Instruction) -> str:
    match node:
        case Text(value):
            return escape(value)
        case Comment(value):
            return f"<!--{value}-->"
        case Instruction(target, value):
            return f"<?{target} {value}?>"
        case Element():
            tag = _label(node.namespace, node.local)
            attributes = "".join(
                f" {_label(each.namespace, each.local)}={quoteattr(each.value)}" for each in node.attributes
            )
            inside = "".join(map(_shown, node.children))
            return f"<{tag}{attributes}>{inside}</{tag}>" if inside else f"<{tag}{attributes}/>"


def _label(namespace: str, local: str) -> str:
    return f"{{{namespace}}}{local}" if namespace else local
