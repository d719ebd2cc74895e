"""Documents in parts: fragments with headers, the rules by which documents are cut, and their assembly."""

from __future__ import annotations

from twigcast.fragmenting.assembly import assemble, holes_of
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
from twigcast.fragmenting.fragment_index import FragmentIndex, FragmentLimits
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
from twigcast.fragmenting.outcomes import Certain, Outcome
from twigcast.fragmenting.scheduling.sending_order import by_novelty

__all__ = [
    "DOCUMENT_NODE",
    "HEADER_KINDS",
    "MANIFEST_NAME",
    "SUFFIX",
    "Certain",
    "CutRule",
    "Cuts",
    "Cutter",
    "Fragment",
    "FragmentIndex",
    "FragmentLimits",
    "Header",
    "HeaderKind",
    "HeaderRow",
    "Hole",
    "LabelPaths",
    "Manifest",
    "OpenElement",
    "OpenHole",
    "Opening",
    "Outcome",
    "PathDictionary",
    "PathEntry",
    "Run",
    "Spans",
    "SubtreeRoots",
    "Subtrees",
    "assemble",
    "by_novelty",
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
]
