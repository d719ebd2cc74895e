"""Documents in parts: fragments with headers, the rules by which documents are cut, and assembling."""

from __future__ import annotations

from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    HEADER_KINDS,
    Fragment,
    Header,
    HeaderKind,
    HeaderRow,
    Hole,
    LabelPaths,
    OpenElement,
    Opening,
    PathEntry,
    Run,
    SubtreeRoots,
    fragment_number,
    namespaces_in_scope,
    node_id,
    number_in_fragment,
)

__all__ = [
    "DOCUMENT_NODE",
    "HEADER_KINDS",
    "Fragment",
    "Header",
    "HeaderKind",
    "HeaderRow",
    "Hole",
    "LabelPaths",
    "OpenElement",
    "Opening",
    "PathEntry",
    "Run",
    "SubtreeRoots",
    "fragment_number",
    "namespaces_in_scope",
    "node_id",
    "number_in_fragment",
]
