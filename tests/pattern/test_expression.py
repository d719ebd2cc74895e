"""The parts of general expressions."""

from __future__ import annotations

from twigcast.pattern import NameTest, SiblingPosition, Test, parse
from twigcast.pattern.expression import Expression, String, counted_siblings, height, parts, step_total, walk


def expression(text: str) -> Expression:
    (predicate,) = parse(f"/a[{text}]").alternatives[0].steps[0].predicates
    assert isinstance(predicate, Test)
    return predicate.expression


def test_an_expression_consists_of_its_operands_and_predicates() -> None:
    """All of them are found, at any depth."""
    found = [
        each for each in walk(expression("b[c = 'x'] + (//d['y'])[e = 'z'] = -f")) if isinstance(each, String)
    ]
    assert {each.text for each in found} == {"x", "y", "z"}
    assert parts(String("x")) == ()


def test_height_and_steps_are_counted() -> None:
    """A step that ``//`` abbreviates is not counted, so that canonical text has no more steps."""
    assert height(expression("b = c")) == 3
    assert step_total(expression("b//c[d] = e")) == 4


def test_siblings_are_found() -> None:
    """Wherever a position is used, but not inside another step, where it counts something else."""
    assert counted_siblings(expression("position() = b + 1")) == SiblingPosition(NameTest("", "a"))
    assert counted_siblings(expression("b[last()] = c")) is None
