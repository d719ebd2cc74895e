"""What a subscription is, and what is true of subscriptions: values and pure functions."""

from __future__ import annotations

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
    Predicate,
    Step,
    StringTest,
    Tail,
    TextTail,
)

__all__ = [
    "ANY",
    "TEXT",
    "And",
    "AttributeTail",
    "Axis",
    "Comparison",
    "Count",
    "Exists",
    "Length",
    "NameTest",
    "Not",
    "Or",
    "Path",
    "Pattern",
    "PatternLimits",
    "Predicate",
    "Step",
    "StringTest",
    "Tail",
    "TextTail",
    "parse",
    "render",
    "render_path",
    "render_predicate",
]
