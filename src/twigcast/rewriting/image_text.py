"""Writes the tree of a document, such as an image, as XML text: what SDR sends and DRR delivers."""

from __future__ import annotations

from twigcast.document import Attribute, Comment, Document, Element, Instruction, Text, elements

XML = "http://www.w3.org/XML/1998/namespace"
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
_VALUE = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def write_document(document: Document) -> bytes | None:
    """The text in UTF-8, which declares all namespaces anew.

    None if there is no such text: an image can have several roots.
    """
    if sum(1 for _ in elements(document)) != 1:
        return None
    pieces: list[str] = []
    waiting: list[tuple[object, str]] = [(child, "") for child in reversed(document.children)]
    while waiting:
        node, default = waiting.pop()
        match node:
            case str(text):
                pieces.append(text)
            case Text(value):
                pieces.append(value.translate(_TEXT))
            case Comment(value):
                pieces.append(f"<!--{value}-->")
            case Instruction(target, value):
                pieces.append(f"<?{target} {value}?>" if value else f"<?{target}?>")
            case Element():
                attributes = _attributes(node.attributes)
                declared = "" if node.namespace == default else f' xmlns="{node.namespace.translate(_VALUE)}"'
                tag = f"<{node.local}{declared}{attributes}"
                if not node.children:
                    pieces.append(f"{tag}/>")
                    continue
                pieces.append(f"{tag}>")
                waiting.append((f"</{node.local}>", ""))
                waiting += [(child, node.namespace) for child in reversed(node.children)]
    return "".join(pieces).encode()


def _attributes(attributes: tuple[Attribute, ...]) -> str:
    written = []
    spaces = sorted({each.namespace for each in attributes} - {"", XML})
    prefixes = {uri: f"n{number}:" for number, uri in enumerate(spaces)} | {"": "", XML: "xml:"}
    for number, uri in enumerate(spaces):
        written.append(f' xmlns:n{number}="{uri.translate(_VALUE)}"')
    for each in attributes:
        written.append(f' {prefixes[each.namespace]}{each.local}="{each.value.translate(_VALUE)}"')
    return "".join(written)
