"""Pure functions that decide and compute properties of patterns, alone and under a schema.

``covers`` says whether one pattern matches every document that another one matches, ``overlaps`` whether some
document of a schema can match a pattern, and ``describes`` whether a document conforms to a schema.  Other
functions count the label paths that patterns select, generalise patterns and merge them.
"""

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton, members, schema_automaton
from twigcast.analysis.conformance import describes, describes_document
from twigcast.analysis.covering import Summary, covers, summary, summary_covers
from twigcast.analysis.covering_index import CoveringIndex
from twigcast.analysis.generalization import common_pattern, shortened
from twigcast.analysis.implication import proof_budget
from twigcast.analysis.merge_rules import Key, MergeRules, Order
from twigcast.analysis.overlap import admissible_paths, overlaps
from twigcast.analysis.path_counts import DEPTH, Measure, PathCounter, degree
from twigcast.analysis.path_expression import (
    Either,
    Kind,
    Label,
    PathExpression,
    Repeat,
    Series,
    kind,
    parse_path_expression,
    render_expression,
)
from twigcast.analysis.schema_expressions import path_expressions
from twigcast.analysis.selectivity import Selectivity, sample_selectivity, schema_selectivity
from twigcast.analysis.twig import Twig, step_count, twig
from twigcast.analysis.witness import Witness

__all__ = [
    "DEPTH",
    "DOCUMENT",
    "CoveringIndex",
    "Either",
    "Key",
    "Kind",
    "Label",
    "Measure",
    "MergeRules",
    "Order",
    "PathCounter",
    "PathExpression",
    "Repeat",
    "SchemaAutomaton",
    "Selectivity",
    "Series",
    "Summary",
    "Twig",
    "Witness",
    "admissible_paths",
    "common_pattern",
    "covers",
    "degree",
    "describes",
    "describes_document",
    "kind",
    "members",
    "overlaps",
    "parse_path_expression",
    "path_expressions",
    "proof_budget",
    "render_expression",
    "sample_selectivity",
    "schema_automaton",
    "schema_selectivity",
    "shortened",
    "step_count",
    "summary",
    "summary_covers",
    "twig",
]
