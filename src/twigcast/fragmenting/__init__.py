"""Documents in parts: fragments with headers, the rules by which documents are cut, and their assembly."""

from __future__ import annotations

from twigcast.fragmenting.assembly import assemble
from twigcast.fragmenting.cut_rules import Aware, CutRule, Cuts, Spans, Subtrees
from twigcast.fragmenting.cutting import Cutter, fragment
from twigcast.fragmenting.encoding import (
    MANIFEST_NAME,
    SUFFIX,
    decode,
    decode_cut_header,
    decode_manifest,
    decode_with_header,
    encode,
    encode_cut_header,
    encode_header,
    encode_manifest,
)
from twigcast.fragmenting.fragments import (
    Fragment,
    Header,
    HeaderKind,
    Opening,
    fragment_number,
    number_in_fragment,
    printed_numbers,
)
from twigcast.fragmenting.headers import Manifest, opening_of
from twigcast.fragmenting.joining import DocumentJoin, EvaluatedFragments, evaluate_fragment
from twigcast.fragmenting.matching import Certain, FragmentIndex, FragmentLimits, News, Outcome, match_large
from twigcast.fragmenting.open_holes import OpenHole, outline
from twigcast.fragmenting.scheduling import by_novelty

__all__ = [
    "MANIFEST_NAME",
    "SUFFIX",
    "Aware",
    "Certain",
    "CutRule",
    "Cuts",
    "Cutter",
    "DocumentJoin",
    "EvaluatedFragments",
    "Fragment",
    "FragmentIndex",
    "FragmentLimits",
    "Header",
    "HeaderKind",
    "Manifest",
    "News",
    "OpenHole",
    "Opening",
    "Outcome",
    "Spans",
    "Subtrees",
    "assemble",
    "by_novelty",
    "decode",
    "decode_cut_header",
    "decode_manifest",
    "decode_with_header",
    "encode",
    "encode_cut_header",
    "encode_header",
    "encode_manifest",
    "evaluate_fragment",
    "fragment",
    "fragment_number",
    "match_large",
    "number_in_fragment",
    "opening_of",
    "outline",
    "printed_numbers",
]
