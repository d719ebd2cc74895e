"""Bindings: numbers of wildcards, bound patterns, and what makes a row of the told pattern."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import linear_pattern, small_document, twig_pattern
from tests.routing.piggyback.running_example import AGGREGATED, PREFIXES, ROWS, TOLD, binding
from twigcast.analysis import common_pattern, covers
from twigcast.document import Structure
from twigcast.pattern import Pattern, matches, parse
from twigcast.routing.piggyback.questions import Binding, Pieces, bound, embeddings, pieces, wildcards


def wish(told: Pattern, rows: list[Pattern]) -> tuple[int, set[int]]:
    """How many rows ``told`` is simple for, and which of its wildcards they replace."""
    found = [each for row in rows if (each := pieces(told, row)) is not None]
    return len(found), {number for each in found for number in each.numbers}


# Numbers


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("/a/b", []),
        ("/*/d//g", ["*", "//"]),
        ("//*", ["//", "*"]),
        ("//a[*/b][.//c]/*", ["//", "*", "//", "*"]),
        ("/*:a/p:*", ["*:a", "Q{urn:p}*"]),
        ("/self::node()[.//b]/*", ["//", "*"]),
        ("/*[@*]/@*", ["*"]),
    ],
)
def test_wildcards_are_numbered_in_the_order_of_the_text(pattern: str, expected: list[str]) -> None:
    """``//`` comes before the test of its step, predicates come before the steps after them."""
    assert wildcards(parse(pattern, PREFIXES)) == tuple(expected)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("/a[not(*)]//b", ["//"]),
        ("/a[* or c]//b", ["//"]),
        ("/a[*/c | d]//b", ["//"]),
        ("//a | /*/b", []),
        ("/a[count(*) > 1]//b", []),
        ("/a[@k = 1]//b", []),
        ("/*/a[2]", []),
        ("/*/text()", []),
        ("/*/following::a", []),
    ],
)
def test_trap_05_wildcards_of_unknown_meaning_have_no_number(pattern: str, expected: list[str]) -> None:
    """Which operand of an ``or`` or which path of a union held is unknown; values are not in a structure."""
    assert wildcards(parse(pattern)) == tuple(expected)


def test_trap_05_conditions_must_be_equal() -> None:
    """A row that differs from the told pattern under ``not`` or ``or`` is not made of it by bindings."""
    assert pieces(parse("/a[not(*/b)]//c"), parse("/a[not(x/b)]/d/c")) is None
    assert pieces(parse("/a[* or c]//d"), parse("/a[b or c]/d")) is None
    assert pieces(parse("/a[not(b)]//c"), parse("/a[not(b)]/d/c")) == Pieces(((1, "d"),), 1)
    assert pieces(parse("/*/a | /b"), parse("/c/a | /b")) is None


# Bound patterns


@pytest.mark.parametrize(
    ("told", "names", "expected"),
    [
        ("/*/d//g", binding(_1="b", _2="e"), "/b/d/e/g"),
        ("/*/d//g", binding(_1="b"), "/b/d//g"),
        ("/a//d", binding(_1="b/c"), "/a/b/c/d"),
        ("/a//d", binding(_1=""), "/a/d"),
        ("//*", binding(_1="", _2="a"), "/a"),
        ("/a[*][.//z]/*", binding(_1="y", _2="x", _3="b"), "/a[x/z][y]/b"),
        ("/a[*][b]", binding(_1="b"), "/a[b]"),
        ("/*:a/p:*/@*", binding(_1="p:a", _2="p:b"), "/p:a/p:b/@*"),
        ("/a[* or b]//c", binding(_1="d"), "/a[* or b]/d/c"),
        ("/a//b", (), "/a//b"),
    ],
)
def test_names_take_the_place_of_wildcards(told: str, names: Binding, expected: str) -> None:
    """The bound pattern is canonical, and the told pattern covers it."""
    pattern = parse(told, PREFIXES)
    assert bound(pattern, names) == parse(expected, PREFIXES)
    assert covers(pattern, bound(pattern, names))


@pytest.mark.parametrize(
    ("told", "names"),
    [
        ("/a//b", binding(_2="c")),
        ("/a//b", ((0, ()),)),
        ("/a//b", ((1, ()), (1, (("", "c"),)))),
        ("/*", binding(_1="a/b")),
        ("/*", binding(_1="")),
        ("/p:*", binding(_1="a")),
        ("/*:a", binding(_1="b")),
        ("/*/@k | /b", binding(_1="a")),
    ],
)
def test_a_binding_of_another_pattern_is_refused(told: str, names: Binding) -> None:
    """A binding that comes from outside may have wrong numbers, or names that a test does not admit."""
    with pytest.raises(ValueError, match=r"has no wildcards|cannot stand for"):
        bound(parse(told, PREFIXES), names)


# Simple aggregation


def test_a_told_pattern_is_simple_for_some_of_its_rows() -> None:
    """No name in place of a wildcard makes the branch d/m of the second row (P example 2.1)."""
    told, third, fourth = TOLD["s'3"], ROWS["s5"], ROWS["s6"]
    assert covers(told, third)
    assert covers(told, fourth)
    assert pieces(told, third) == Pieces(((1, "b"), (2, "e")), 2)
    assert pieces(told, fourth) is None


def test_what_a_router_wishes_for() -> None:
    """The numbers of wildcards and the rows of the running example (P example 4.1, T example 4.4)."""
    rows = {name: [ROWS[row] for row in AGGREGATED[name]] for name in TOLD}
    assert wish(TOLD["s'1"], rows["s'1"]) == (2, {2})
    assert wish(TOLD["s'3"], rows["s'3"]) == (1, {1, 2})


def test_a_gap_that_rows_fill_is_worth_a_wish() -> None:
    """By the definition ``//h//m`` is simple for ``//h/k/m`` and, with an empty gap, for ``//h/m``.

    The papers name no wish for s'2, whose text is in a drawing; rows with branches in place of the gap fit
    every sentence about it, and have none.
    """
    assert wish(TOLD["s'2"], [ROWS["s3"], ROWS["s4"]]) == (2, {2})
    assert wish(parse("//h/n"), [parse("//h[m]/n"), parse("//h[k]/n")]) == (0, set())


def test_trap_06_a_piece_may_be_a_pattern() -> None:
    """The piece ``b//`` is no path of names, yet the binding b/c proves the row; so does an empty gap."""
    told, row = parse("/a//d"), parse("/a/b//d")
    assert pieces(told, row) == Pieces(((1, "b//"),), 1)
    assert bound(told, binding(_1="b/c")) != row
    assert covers(row, bound(told, binding(_1="b/c")))
    assert not covers(row, bound(told, binding(_1="c/b/c")))
    assert pieces(told, parse("/a/d")) == Pieces(((1, ""),), 0)
    assert covers(parse("/a/d"), bound(told, binding(_1="")))


def test_trap_08_a_told_pattern_that_is_a_row_needs_no_binding() -> None:
    """Its pieces have size 0, by which the printed benefit divides; that it matches proves the row."""
    for text in ("/a//*", "/a[@k=1]//b", "//a | //b"):
        told = parse(text)
        found = pieces(told, parse(text))
        assert found == Pieces((), 0)
        assert bound(told, ()) == told


@pytest.mark.parametrize(
    ("told", "row", "expected"),
    [
        ("//a", "/b//a", ((1, "b//"),)),
        ("//a", "//b/a", ((1, "//b"),)),
        ("//*:a", "//p:a", ((2, "Q{urn:p}a"),)),
        ("//*", "//*:a", ((2, "*:a"),)),
        ("/a/*/c", "/a/*/c", ()),
        ("/a[*/x]/b", "/a[b]/c/x", ((1, "c"),)),
        ("/a[*]/*", "/a[b]/c", ((1, "b"), (2, "c"))),
        ("/a[*]/b", "/a[b]/c", ((1, "c"),)),
        ("//a//*", "//a/a", ((2, ""), (3, "a"))),
        ("//a", "//a/a", ((1, "//a"),)),
        ("//a", "//a/b", None),
        ("/a//b", "/a/b[c]", None),
        ("/a//b", "/a/c[d]/b", None),
        ("/a/b", "/a//b", None),
        ("/a/*", "/a//b", None),
        ("/a//b", "/a//b/@k", None),
        ("/a//b/@k", "/a/b[@k]", ((1, ""),)),
    ],
)
def test_pieces(told: str, row: str, expected: tuple[tuple[int, str], ...] | None) -> None:
    """A row is made of the told pattern by paths in place of wildcards, whichever branch is the trunk."""
    found = pieces(parse(told, PREFIXES), parse(row, PREFIXES))
    assert (None if found is None else found.paths) == expected


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_a_simple_row_that_matches_is_proven_by_a_binding(seed: int) -> None:
    """A told pattern covers the rows it is simple for, and the wildcards that they replace suffice."""
    random = Random(seed)
    draw = random.choice([linear_pattern, twig_pattern])
    rows = [draw(random) for _ in range(4)]
    told = [common_pattern(rows[0], rows[1]), common_pattern(rows[2], rows[3]), draw(random)]
    documents = [small_document(random) for _ in range(4)]
    for general in told:
        for row in rows:
            found = pieces(general, row)
            if found is None:
                continue
            assert covers(general, row)
            for document in documents if wildcards(general) else ():
                structure = Structure.of(document, attributes="names")
                bindings = embeddings(general, structure, found.numbers, most=1000)
                proven = any(covers(row, bound(general, each)) for each in bindings)
                assert proven is matches(row, document), (str(general), str(row))
