"""What a document is: bytes, and the small tree of nodes that XPath sees in them."""

from __future__ import annotations

from twigcast.document.faults import document_error
from twigcast.document.limits import DocumentLimits
from twigcast.document.reading import read
from twigcast.document.tree import (
    Attribute,
    Document,
    Element,
    Node,
    Text,
    descendants,
    elements,
    node_path,
    string_value,
)

__all__ = [
    "Attribute",
    "Document",
    "DocumentLimits",
    "Element",
    "Node",
    "Text",
    "descendants",
    "document_error",
    "elements",
    "node_path",
    "read",
    "string_value",
]
