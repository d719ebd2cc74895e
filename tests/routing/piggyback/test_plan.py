"""Annotation plans: their epoch, their bytes, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.piggyback.running_example import chain
from twigcast.errors import RoutingError
from twigcast.pattern import parse
from twigcast.routing.piggyback import AnnotationPlan, Wish
from twigcast.routing.piggyback.questions import RangeQuestion

PLAN = AnnotationPlan(
    (chain("a/b"), chain("p:c")),
    (Wish(parse("//a/*/c"), (1, 2), 3),),
    (chain("a"),),
    (parse("//a[@x='é']"), parse("/Q{urn:p}a | //b")),
    (RangeQuestion(("", "item"), ("", "price")), RangeQuestion(("urn:p", "leaf"))),
    chain("a/b/c"),
    0.25,
)


def test_decode_reads_what_encode_writes() -> None:
    """Also as JSON, which is how a router's state has it."""
    for plan in (PLAN, AnnotationPlan()):
        read = AnnotationPlan.decode(plan.encode())
        assert read == plan
        assert (read.epoch, read.saving) == (plan.epoch, plan.saving)
        assert AnnotationPlan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_the_epoch_names_the_questions() -> None:
    """Each change of a question changes it; the time that is saved does not."""
    epochs = {
        each.epoch
        for each in (
            PLAN,
            replace(PLAN, absences=PLAN.absences[::-1]),
            replace(PLAN, wishes=()),
            replace(PLAN, positions=()),
            replace(PLAN, answers=PLAN.answers[1:]),
            replace(PLAN, ranges=()),
            replace(PLAN, names=PLAN.names[1:]),
        )
    }
    assert len(epochs) == 7
    assert 0 not in epochs
    assert replace(PLAN, saving=1.0).epoch == PLAN.epoch


def changed(**fields: Any) -> bytes:
    """The plan as bytes, with other fields."""
    return json.dumps(PLAN.to_json() | fields).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        b'"plan"',
        b"[" * 100_000,
        b"1" * 5000,
        changed(absences=[[]]),
        changed(positions=[[]]),
        changed(absences=[[["", "a b"]]]),
        changed(absences=[[["", "*"]]]),
        changed(absences=[[["", ""]]]),
        changed(absences=[[["", "\ud800"]]]),
        changed(absences=[[["\0", "a"]]]),
        changed(absences=[[[None, "a"]]]),
        changed(absences=["ab"]),
        changed(positions=[[["", "a/b"]]]),
        changed(wishes=[["//a[", [], 1]]),
        changed(wishes=[["//a", [2], 1]]),
        changed(wishes=[["//a/*", [2, 1], 1]]),
        changed(wishes=[["//a", [1, 1], 1]]),
        changed(wishes=[["//a", [-1], 1]]),
        changed(wishes=[["//a", [float("inf")], 1]]),
        changed(wishes=[["//a"]]),
        changed(answers=["//a]"]),
        changed(answers=[7]),
        changed(ranges=[[["", "a\0"], None]]),
        changed(ranges=[[["", "a"], ["", "b c"]]]),
        changed(names=[["", "\ud800"]]),
        changed(saving=float("nan")),
        changed(saving=float("inf")),
        changed(saving="x"),
    ],
)
def test_a_malformed_plan_is_refused(data: bytes) -> None:
    """It is a ``RoutingError`` in each case, never another error."""
    with pytest.raises(RoutingError) as caught:
        AnnotationPlan.decode(data)
    assert caught.value.code == "annotations"


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_altered_plans_are_refused_or_are_plans(data: st.DataObject) -> None:
    """A change of one byte may give another plan; it is one that can be used."""
    written = bytearray(PLAN.encode())
    at = data.draw(st.integers(0, len(written) - 1))
    written[at] = data.draw(st.integers(0, 255))
    try:
        plan = AnnotationPlan.decode(bytes(written))
    except RoutingError:
        return
    assert AnnotationPlan.decode(plan.encode()) == plan
