"""Documents: reading one into a tree, cutting out parts, splitting files into records, structures, limits."""

from __future__ import annotations

from twigcast.document.cut_points import CUT_DEPTH, PIECE_BYTES, DocumentPiece, cut_points
from twigcast.document.encodings import (
    code_points,
    codec_name,
    document_codec,
    is_multibyte,
    multibyte_codec,
    wide_codec,
)
from twigcast.document.entities import EntityTable
from twigcast.document.faults import TOO_DEEP, TOO_LARGE, document_error, line_and_column
from twigcast.document.kernel._projector import PathProfiler, element_ranges
from twigcast.document.kernel._scanner import PathNumbers, TagScanner, line_breaks
from twigcast.document.limits import NO_LIMIT, DocumentLimits
from twigcast.document.parts import PART_FORMS, PartCutter, PartForm
from twigcast.document.projection import PART_BYTES, Keep, LabelPath, Projector, Slice, SourceMap
from twigcast.document.prolog import joined, relocated
from twigcast.document.prolog_reader import PrologReader, TagReader
from twigcast.document.reading import attribute_range, read, read_heading
from twigcast.document.record_splitter import RECORD_LIMIT, Record, RecordSplitter
from twigcast.document.structure import AttributeDetail, Name, NameTable, Shape, Structure, structure_table
from twigcast.document.transcription import Locator, Transcriber, transcribe
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
    "CUT_DEPTH",
    "NO_LIMIT",
    "PART_BYTES",
    "PART_FORMS",
    "PIECE_BYTES",
    "RECORD_LIMIT",
    "TOO_DEEP",
    "TOO_LARGE",
    "Attribute",
    "AttributeDetail",
    "Comment",
    "Document",
    "DocumentLimits",
    "DocumentPiece",
    "Element",
    "EntityTable",
    "Instruction",
    "Keep",
    "LabelPath",
    "Locator",
    "Name",
    "NameTable",
    "Node",
    "PartCutter",
    "PartForm",
    "PathNumbers",
    "PathProfiler",
    "Projector",
    "PrologReader",
    "Record",
    "RecordSplitter",
    "Shape",
    "Slice",
    "SourceMap",
    "Structure",
    "TagReader",
    "TagScanner",
    "Text",
    "Transcriber",
    "attribute_range",
    "code_points",
    "codec_name",
    "cut_points",
    "descendants",
    "document_codec",
    "document_error",
    "element_ranges",
    "elements",
    "is_multibyte",
    "joined",
    "line_and_column",
    "line_breaks",
    "multibyte_codec",
    "node_path",
    "read",
    "read_heading",
    "relocated",
    "string_value",
    "structure_table",
    "transcribe",
    "wide_codec",
]
