"""Pure functions that decide and compute properties of patterns, alone and under a schema.

``covers`` says whether one pattern matches every document that another one matches, ``overlaps`` whether some
document of a schema can match a pattern.  Other functions count the label paths that patterns select,
generalise patterns and merge them.
"""

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton, members, schema_automaton
from twigcast.analysis.covering import Summary, covers, summary, summary_covers
from twigcast.analysis.covering_index import CoveringIndex
from twigcast.analysis.generalization import common_pattern, shorter_patterns
from twigcast.analysis.implication import proof_budget
from twigcast.analysis.merge_rules import Key, MergeRules, Order
from twigcast.analysis.overlap import overlaps
from twigcast.analysis.path_counts import DEPTH, Measure, PathCounter
from twigcast.analysis.selectivity import Selectivity, sample_selectivity, schema_selectivity
from twigcast.analysis.twig import Twig, step_count, twig
from twigcast.analysis.witness import Witness

__all__ = [
    "DEPTH",
    "DOCUMENT",
    "CoveringIndex",
    "Key",
    "Measure",
    "MergeRules",
    "Order",
    "PathCounter",
    "SchemaAutomaton",
    "Selectivity",
    "Summary",
    "Twig",
    "Witness",
    "common_pattern",
    "covers",
    "members",
    "overlaps",
    "proof_budget",
    "sample_selectivity",
    "schema_automaton",
    "schema_selectivity",
    "shorter_patterns",
    "step_count",
    "summary",
    "summary_covers",
    "twig",
]
