"""What a subscription is, and what is true of subscriptions: values and pure functions."""

from __future__ import annotations

from twigcast.pattern.evaluating import holds, matches, select
from twigcast.pattern.explaining import (
    AlternativeExplanation,
    Explanation,
    PredicateExplanation,
    StepExplanation,
    explain,
)
from twigcast.pattern.limits import PatternLimits
from twigcast.pattern.parsing import parse
from twigcast.pattern.rendering import render, render_path, render_predicate
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
    Step,
    StringTest,
    Tail,
    TextTail,
)

__all__ = [
    "ANY",
    "TEXT",
    "AlternativeExplanation",
    "And",
    "AttributeTail",
    "Axis",
    "Comparison",
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
    "Step",
    "StepExplanation",
    "StringTest",
    "Tail",
    "TextTail",
    "explain",
    "holds",
    "matches",
    "parse",
    "render",
    "render_path",
    "render_predicate",
    "select",
]
