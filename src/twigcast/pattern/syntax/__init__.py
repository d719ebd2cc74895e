"""Parses the text of a subscription into its pattern: tokens, recursive descent, and cleaning.

text ──► tokens ──► paths, conditions ──► cleaning ──► Pattern
  └── part_cache: most texts are assembled from steps and predicates that were parsed before
"""

from twigcast.pattern.syntax.cursor import check_text, shortened, total_length
from twigcast.pattern.syntax.parsing import parse, parse_alone, parse_value
from twigcast.pattern.syntax.part_cache import LENGTH, cut, part_conditions, part_step
from twigcast.pattern.syntax.tokens import is_prefix

__all__ = [
    "LENGTH",
    "check_text",
    "cut",
    "is_prefix",
    "parse",
    "parse_alone",
    "parse_value",
    "part_conditions",
    "part_step",
    "shortened",
    "total_length",
]
