"""Documents in parts: fragments with headers, the rules by which documents are cut, and their assembly."""

from __future__ import annotations

from twigcast.fragmenting.assembly import assemble, holes_of
from twigcast.fragmenting.by_the_letter import (
    ByTheLetter,
    Eliminate,
    LetterMatching,
    LetterOptions,
    LetterWork,
)
from twigcast.fragmenting.cut_rules import CutRule, Cuts, Spans, Subtrees
from twigcast.fragmenting.cutting import Cutter, fragment
from twigcast.fragmenting.encoding import (
    MANIFEST_NAME,
    SUFFIX,
    decode,
    decode_manifest,
    encode,
    encode_manifest,
)
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
from twigcast.fragmenting.headers import Manifest, PathDictionary, expanded_names, opening_of, reduced
from twigcast.fragmenting.open_holes import OpenHole, elements_at_holes, outline
from twigcast.fragmenting.scheduling import POLICIES, PolicyName, relevant_nodes

__all__ = [
    "DOCUMENT_NODE",
    "HEADER_KINDS",
    "MANIFEST_NAME",
    "POLICIES",
    "SUFFIX",
    "ByTheLetter",
    "CutRule",
    "Cuts",
    "Cutter",
    "Eliminate",
    "Fragment",
    "Header",
    "HeaderKind",
    "HeaderRow",
    "Hole",
    "LabelPaths",
    "LetterMatching",
    "LetterOptions",
    "LetterWork",
    "Manifest",
    "OpenElement",
    "OpenHole",
    "Opening",
    "PathDictionary",
    "PathEntry",
    "PolicyName",
    "Run",
    "Spans",
    "SubtreeRoots",
    "Subtrees",
    "assemble",
    "decode",
    "decode_manifest",
    "elements_at_holes",
    "encode",
    "encode_manifest",
    "expanded_names",
    "fragment",
    "fragment_number",
    "holes_of",
    "namespaces_in_scope",
    "node_id",
    "number_in_fragment",
    "opening_of",
    "outline",
    "reduced",
    "relevant_nodes",
]
