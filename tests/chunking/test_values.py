"""Queries for a number, a string or a truth value: the value on the whole document is the answer."""

from __future__ import annotations

from typing import Any

import pytest

from twigcast.chunking import ChunkQuery, plan, profile, run_queries
from twigcast.chunking.reach.variables import with_values

PEOPLE = b"<site><people>" + b"".join(b"<person id='p%d'><age>%d</age></person>" % (n, n) for n in range(9))
PEOPLE += b"</people></site>"


def answers(text: str, **options: Any) -> list[tuple[str, Any]]:
    """Kinds and contents of the answers of one query, in parts of one record each."""
    cut = run_queries(
        PEOPLE, plan([ChunkQuery("q", text, **options)], profile=profile([PEOPLE])), part_bytes=1
    )
    found = [(answer.kind, answer.content) for answer in cut]
    assert not cut.failures
    return found


@pytest.mark.parametrize("engine", ["auto", "select", "lxml"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("count(//person)", 9.0),
        ("sum(/site/people/person/age) div 2", 18.0),
        ("string(//person[2]/@id)", "p1"),
        ("//age = 8", True),
        ("count(//person) > 9", False),
        ("not(//x)", True),
        ("-count(//person)", -9.0),
        ("1 + 1", 2.0),
        ("count(//person[preceding::age])", 8.0),
    ],
)
def test_a_value_is_answered_with_the_value_of_the_document(text: str, value: object, engine: Any) -> None:
    """By every engine; no number is added up from parts."""
    ((kind, found),) = answers(text, engine=engine)
    assert (kind, found, type(found)) == ("value", value, type(value))


@pytest.mark.parametrize("engine", ["auto", "lxml"])
def test_values_of_parts_are_refused(engine: Any) -> None:
    """The author says that the query runs on parts, but nobody knows how to join their values."""
    query = ChunkQuery("q", "count(/site/people/person)", engine=engine, within="/site/people/person")
    cut = run_queries(PEOPLE, plan([query], profile=profile([PEOPLE])), part_bytes=1)
    assert list(cut) == []
    assert cut.failures["q"].code == "not-nodes"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("p7", "'p7'"),
        ("it's", '"it\'s"'),
        ("""a'b"c""", "concat('a', \"'\", 'b\"c')"),
        ("", "''"),
        (7, "7"),
        (-0.5, "(-0.5)"),
        (1e300, "1" + "0" * 300),
        (float("nan"), "(0 div 0)"),
        (float("-inf"), "(-(1 div 0))"),
        (True, "true()"),
        (None, "$x"),
    ],
)
def test_variables_are_written_into_the_expression(value: object, written: str) -> None:
    """Also next to strings that look like variables."""
    assert with_values("a[@b = $x]/c['$x']", {"x": value}) == f"a[@b = {written}]/c['$x']"


@pytest.mark.parametrize("value", ["p7", """a'b"c""", 7, -3, 2.5, True, False, float("inf")])
def test_variables_mean_the_same_to_lxml(value: object) -> None:
    """In comparisons, and as predicates, where a number is a position."""
    for text in ("/site/people/person[@id = $x]", "/site/people/person[$x]", "count(//person[age > $x])"):
        by_twigcast = answers(text, variables={"x": value})
        assert by_twigcast == answers(text, variables={"x": value}, engine="lxml")


def test_a_query_with_variables_is_divided() -> None:
    """It is analysed like any other: a number is a position, a string is none."""
    queries = [
        ChunkQuery("id", "/site/people/person[@id = $x]", variables={"x": "p3"}),
        ChunkQuery("position", "/site/people/person[$x]", variables={"x": 3}),
    ]
    scheme = plan(queries, profile=profile([PEOPLE]))
    assert [chunk.kind for chunk in scheme.chunks] == ["divided", "one"]
