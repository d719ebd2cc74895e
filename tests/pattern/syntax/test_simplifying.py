"""Simplifications change no value."""

from __future__ import annotations

import pytest

from twigcast.pattern.expression import CONTEXT, Call, Date, Negative, Number, Operation, String
from twigcast.pattern.syntax.simplifying import (
    FALSE,
    TRUE,
    call,
    constant,
    junction,
    kind,
    looks_at_document,
    negative,
    operation,
)


def test_constants_are_folded() -> None:
    """Unless no literal can say the result: infinity, not-a-number, minus zero, both quotes."""
    assert operation("+", Number(1.0), String("2")) == Number(3.0)
    assert operation("div", Number(1.0), Number(0.0)) == Operation("div", Number(1.0), Number(0.0))
    assert negative(Number(0.0)) == Negative(Number(0.0))
    assert call("concat", [String("'"), String('"')]) == Call("concat", (String("'"), String('"')))
    assert operation("<", String("1"), Number(2.0)) == TRUE
    assert junction("and", [TRUE, String("")]) == FALSE


def test_only_a_path_or_a_string_is_compared_with_a_date() -> None:
    """A number is compared with the number that the literal is not."""
    date = String("2024-01-31")
    assert operation("<", CONTEXT, date) == Operation("<", CONTEXT, Date("2024-01-31"))
    assert operation(">", date, CONTEXT) == Operation(">", Date("2024-01-31"), CONTEXT)
    assert operation("<", call("count", [CONTEXT]), date) == FALSE
    assert operation("=", CONTEXT, date) == Operation("=", CONTEXT, date)


@pytest.mark.parametrize("operator", ["and", "or"])
def test_junctions_are_flat_and_balanced(operator: str) -> None:
    """However they are nested."""
    operands = [call("contains", [CONTEXT, String(str(each))]) for each in range(5)]
    left = junction(operator, [junction(operator, operands[:3]), *operands[3:]])
    assert (
        left
        == junction(operator, operands)
        == junction(operator, [operands[0], junction(operator, operands[1:])])
    )


def test_types_are_static() -> None:
    """And constants do not look at the document."""
    assert [kind(each) for each in (CONTEXT, Number(1.0), Date("x"), TRUE)] == [
        "nodes",
        "number",
        "string",
        "boolean",
    ]
    assert constant(CONTEXT) is None
    assert looks_at_document(call("string", [CONTEXT]))
    assert not looks_at_document(operation("div", Number(1.0), Number(0.0)))
