"""Why a pattern matches, or where it stops."""

from __future__ import annotations

import json
from random import Random

from tests.pattern.strategies import NAMESPACES, document, pattern
from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.pattern import explain, matches, parse

BODY = b"<nitf><body><p lang='de'>x<em/></p><p>y</p></body></nitf>"


def test_the_example_of_the_module() -> None:
    """Counts for each step and predicate, an example of each, and where it stopped."""
    assert str(explain(parse("/nitf/body//p[@lang='en'][em]/person"), read(BODY))).splitlines() == [
        "✗ /nitf/body//p[@lang='en'][em]/person",
        "  ✓ /nitf            1 of 1   /nitf",
        "  ✓ /body            1 of 1   /nitf/body",
        "  ✗ //p              0 of 2   /nitf/body/p[1]   ← stopped here",
        "      ✗ @lang='en'   0 of 2   found 'de'",
        "      ✓ em           1 of 2",
        "  · /person",
    ]


def test_a_match_has_an_example() -> None:
    """A pattern that matches shows where."""
    found = explain(parse("//p[em]/@lang"), read(BODY))
    assert found.matched
    assert [step.example for step in found.alternatives[0].steps] == [
        "/nitf/body/p[1]",
        "/nitf/body/p[1]/@lang",
    ]
    assert found.alternatives[0].stopped is None


def test_a_filter_of_the_document_is_a_step() -> None:
    """A condition on the document itself stands before the steps."""
    found = explain(parse("/a/../nitf"), read(BODY))
    assert not found.matched
    assert found.alternatives[0].stopped == "/"
    assert [step.reached for step in found.alternatives[0].steps] == [True, False]


def test_a_name_that_is_not_there() -> None:
    """A step that leads nowhere says so."""
    assert "✗ //b   none   ← stopped here" in str(explain(parse("//b"), read(BODY)))


def test_a_union_is_explained_one_by_one() -> None:
    """Each alternative stops for itself."""
    found = explain(parse("//p | //q"), read(BODY))
    assert [(each.path, each.selected, each.stopped) for each in found.alternatives] == [
        ("//p", 2, None),
        ("//q", 0, "//q"),
    ]


def test_a_dictionary_is_json() -> None:
    """Machines get the same as people."""
    found = explain(parse("//p[em]"), read(BODY))
    assert json.loads(json.dumps(found.to_dict()))["alternatives"][0]["steps"][0] == {
        "step": "//p",
        "reached": True,
        "found": 2,
        "kept": 1,
        "example": "/nitf/body/p[1]",
        "predicates": [
            {
                "predicate": "em",
                "held": 1,
                "asked": 2,
                "note": None,
                "values": [],
                "more": 0,
                "hint": None,
                "parts": [],
            }
        ],
        "hint": None,
    }


def test_explains_what_the_evaluator_finds() -> None:
    """On random cases, the outcome is the evaluator's, and a failure has a place."""
    random = Random(11)
    for _ in range(40):
        tree = read(document(random))
        for _ in range(4):
            try:
                each = parse(pattern(random).ours, NAMESPACES)
            except PatternError:
                continue
            found = explain(each, tree)
            assert found.matched == matches(each, tree)
            assert all((part.stopped is None) == bool(part.selected) for part in found.alternatives)
            assert str(found)
