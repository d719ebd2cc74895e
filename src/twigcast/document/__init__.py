"""Documents: reading one into a tree, cutting out parts, splitting files into records, structures, limits."""

from __future__ import annotations

from twigcast.document.encodings import code_points, codec_name
from twigcast.document.faults import document_error
from twigcast.document.limits import DocumentLimits
from twigcast.document.parts import PART_FORMS, PartCutter, PartForm
from twigcast.document.prolog import Shift, joined, relocated
from twigcast.document.reading import read
from twigcast.document.record_splitter import RECORD_LIMIT, Record, RecordSplitter
from twigcast.document.structure import AttributeDetail, Name, NameTable, Shape, Structure, structure_table
from twigcast.document.tree import (
    Attribute,
    Comment,
    Document,
    Element,
    Instruction,
    Node,
    Text,
    descendants,
    elements,
    node_path,
    string_value,
)

__all__ = [
    "PART_FORMS",
    "RECORD_LIMIT",
    "Attribute",
    "AttributeDetail",
    "Comment",
    "Document",
    "DocumentLimits",
    "Element",
    "Instruction",
    "Name",
    "NameTable",
    "Node",
    "PartCutter",
    "PartForm",
    "Record",
    "RecordSplitter",
    "Shape",
    "Shift",
    "Structure",
    "Text",
    "code_points",
    "codec_name",
    "descendants",
    "document_error",
    "elements",
    "joined",
    "node_path",
    "read",
    "relocated",
    "string_value",
    "structure_table",
]
