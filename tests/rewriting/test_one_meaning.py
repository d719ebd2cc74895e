"""The four forms of a mapping have one meaning: tree, stream, stylesheet and kernel.

                ┌─ rewrite ───────► tree ────► evaluator ─┐
document ───────┼─ rewrite_events ► events of the tree    ├─► the same answer
                ├─ to_xslt, lxml ─► text ────► evaluator ─┤
                └─ plan ──────────► kernel ───────────────┘
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.mapping.streaming import events, rewrite_events
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.strategies import random_case, random_pattern
from tests.rewriting.test_xslt import run, unwrapped
from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.filtering import Index
from twigcast.pattern import Pattern, matches, parse


def agree(random: Random) -> int:
    """Compare all forms on one mapping, document and twelve patterns; returns how many match."""
    case = random_case(random, 8)
    mapping, document = case.mapping, read(case.body)
    image = mapping.apply(document)
    assert list(rewrite_events(events(document), mapping, len(case.body))) == list(events(image))
    written = unwrapped(run(mapping, case.body))
    patterns = _patterns(random, 12)
    expected = {number for number, pattern in enumerate(patterns) if matches(pattern, image)}
    index = Index()
    for number, pattern in enumerate(patterns):
        index.add(number, pattern)
    assert set(index.match(case.body, rewriting=mapping).ids) == expected
    assert {number for number, pattern in enumerate(patterns) if matches(pattern, written)} == expected
    return len(expected)


def _patterns(random: Random, wanted: int) -> list[Pattern]:
    found: list[Pattern] = []
    while len(found) < wanted:
        text = random_pattern(random).ours
        if "name(" in text.replace("local-name(", ""):
            continue  # the prefixes of a text that was written anew are the writer's choice
        try:
            found.append(parse(text, NAMESPACES))
        except PatternError:
            continue
    return found


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False))
def test_all_forms_of_a_mapping_agree(random: Random) -> None:
    """Over the whole language, with all operators, strangers, namespaces and recursion."""
    agree(random)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_all_forms_of_a_mapping_agree_on_many(seed: int) -> None:
    """The same on many more cases, and enough patterns match."""
    random = Random(seed)
    assert sum(agree(random) for _ in range(100)) > 150
