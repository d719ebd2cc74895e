"""The rules as the papers print them, beside ``derive``."""

from __future__ import annotations

import random

from experiments.engines.mapping.printed_rules import printed_rules
from tests.rewriting.random_matchings import ends_at_images, random_matching
from tests.rewriting.test_deriving import FIGURE, GLOBAL_UNIVERSITY, UNIVERSITY, tree
from twigcast.errors import MappingError
from twigcast.rewriting import derive, shown_operator
from twigcast.rewriting.operators import apply_all


def manages(seed: int) -> bool:
    source, target, pairs = random_matching(random.Random(seed))
    try:
        return ends_at_images(apply_all(source, printed_rules(source, target, pairs)), pairs, source)
    except MappingError:
        return False


def test_the_printed_rules_manage_only_some_matchings() -> None:
    """Of the same random matchings, of which ``derive`` manages all."""
    share = sum(map(manages, range(300))) / 300
    assert 0.1 < share < 0.6


def test_the_rules_insert_one_path_for_each_node() -> None:
    """Fig. 6.3 has one schedule for time and location; the printed rule makes two."""
    found = [shown_operator(each) for each in printed_rules(UNIVERSITY, GLOBAL_UNIVERSITY, FIGURE)]
    course = "university/faculty/department/course"
    assert [line for line in found if "schedule" in line] == [
        f"Insert {course} schedule {{time}}",
        f"Insert {course} schedule {{location}}",
    ]
    assert "Exchange university/author article" in found
    assert f"Downgrade {course} {{TAs}} instructor" in found
    assert "Upgrade university/faculty {department}" in found


def test_both_agree_where_one_level_is_enough() -> None:
    """A rename, and a child that moves up."""
    source = tree("<!ELEMENT r (a)><!ELEMENT a (b, c)>")
    target = tree("<!ELEMENT r (x, b)><!ELEMENT x (c)>")
    pairs = {"r": "r", "r/a": "r/x", "r/a/b": "r/b", "r/a/c": "r/x/c"}
    assert set(printed_rules(source, target, pairs)) == set(derive(source, target, pairs))
