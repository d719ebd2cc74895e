"""Patterns: the language of subscriptions, as frozen values and pure functions.

``parse`` turns text into a ``Pattern``, ``render`` turns a pattern into its canonical text.  ``matches`` and
``select`` evaluate one pattern on one document; they define which answers are correct.
"""

from __future__ import annotations

from twigcast.pattern.canonical import conjuncts, union
from twigcast.pattern.evaluating import holds, matches, select, too_costly
from twigcast.pattern.explaining import (
    AlternativeExplanation,
    Explanation,
    PredicateExplanation,
    StepExplanation,
    explain,
)
from twigcast.pattern.limits import PatternLimits
from twigcast.pattern.numbers import compare, number
from twigcast.pattern.rendering import render, render_absolute, render_name, render_path, render_predicate
from twigcast.pattern.subscription import (
    CONTENTS,
    RESERVED,
    Content,
    Subscription,
    check_content,
    check_names,
    check_size,
    printed_id,
)
from twigcast.pattern.syntax import (
    LENGTH,
    check_text,
    cut,
    parse,
    parse_alone,
    part_conditions,
    part_step,
    shortened,
)
from twigcast.pattern.tree import (
    ANY,
    TEXT,
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Selecting,
    Step,
    StringTest,
    Tail,
    TextTail,
    demands_a_node,
)

__all__ = [
    "ANY",
    "CONTENTS",
    "LENGTH",
    "RESERVED",
    "TEXT",
    "AlternativeExplanation",
    "And",
    "AttributeTail",
    "Axis",
    "Comparison",
    "Content",
    "Count",
    "Exists",
    "Explanation",
    "Length",
    "NameTest",
    "Not",
    "Or",
    "Path",
    "Pattern",
    "PatternLimits",
    "Position",
    "Predicate",
    "PredicateExplanation",
    "Selecting",
    "Step",
    "StepExplanation",
    "StringTest",
    "Subscription",
    "Tail",
    "TextTail",
    "check_content",
    "check_names",
    "check_size",
    "check_text",
    "compare",
    "conjuncts",
    "cut",
    "demands_a_node",
    "explain",
    "holds",
    "matches",
    "number",
    "parse",
    "parse_alone",
    "part_conditions",
    "part_step",
    "printed_id",
    "render",
    "render_absolute",
    "render_name",
    "render_path",
    "render_predicate",
    "select",
    "shortened",
    "too_costly",
    "union",
]
