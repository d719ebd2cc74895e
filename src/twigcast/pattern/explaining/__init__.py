"""Explains why a pattern matches a document, or at which step it fails and what is there instead.

explain ──► steps.py          counts the nodes of each step and predicate
            evidence.py       why a predicate holds for none of them
            found_values.py   the values that it met, as a sentence
            names.py          elements and attributes that a name test missed narrowly
            prefixes.py       names as the user writes them
            ──► Explanation (explanation.py), for people and for machines
"""

from twigcast.pattern.explaining.explanation import (
    AlternativeExplanation,
    Explanation,
    PredicateExplanation,
    StepExplanation,
)
from twigcast.pattern.explaining.steps import explain

__all__ = [
    "AlternativeExplanation",
    "Explanation",
    "PredicateExplanation",
    "StepExplanation",
    "explain",
]
