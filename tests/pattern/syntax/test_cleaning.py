"""Steps up and tests of the node itself, cleaned into filters: worked examples."""

from __future__ import annotations

import pytest

from twigcast.errors import PatternError
from twigcast.pattern import And, PatternLimits, parse, render
from twigcast.pattern.syntax.cleaning import Route, has_more_steps
from twigcast.pattern.syntax.node_conditions import above


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/a/b/../c", "/a[b]/c"),
        ("/a//b/..", "/a//*[b] | /a[b]"),
        ("//b/..", "//*[b] | /self::node()[b]"),
        ("/b/../c", "/self::node()[b]/c"),
        ("/a/b/c/../..", "/a[b[c]]"),
        ("/a/b[d]/../c", "/a[b[d]]/c"),
        ("/a/@x/..", "/a[@x]"),
        ("/a/text()/..", "/a[text()]"),
        ("/a//@x/..", "/a//*[@x] | /a[@x]"),
    ],
)
def test_a_step_up_turns_the_step_before_into_a_filter(text: str, cleaned: str) -> None:
    """Going up asks of the parent that it has such a child."""
    assert render(parse(text)) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/*/b/parent::a", "/a[b]"),
        ("//b/parent::a", "//a[b]"),
        ("//b/parent::*", "//*[b]"),
        ("/a/b/parent::*:a", "/a[b]"),
        ("/*:a/b/parent::Q{u}*", "/Q{u}a[b]"),
    ],
)
def test_a_named_parent_meets_the_name_of_the_step(text: str, cleaned: str) -> None:
    """Both names must fit; the document has none."""
    assert render(parse(text)) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/a/b[../x]", "/a[x]/b"),
        ("/a//b[../x]", "/a//*[x]/b | /a[x]/b"),
        ("/a/b[not(../x)]", "/a[not(x)]/b"),
        ("/a/b[../x or y]", "/a/b[y] | /a[x]/b"),
        ("/a/b[../x and y]", "/a[x]/b[y]"),
        ("/a/b[not(../x and y)]", "/a/b[not(y)] | /a[not(x)]/b"),
        ("/a/b[not(../x or y)]", "/a[not(x)]/b[not(y)]"),
        ("/a/b[../@id='1']", "/a[@id='1']/b"),
        ("/a/b[contains(../t, 'x')]", "/a[contains(t, 'x')]/b"),
        ("/a/b[count(../b)>2]", "/a[count(b)>2]/b"),
        ("/a/b[string-length(../@t)>2]", "/a[string-length(@t)>2]/b"),
        ("/a/b/c[../../x]", "/a[x]/b/c"),
        ("/a/b[c[../../x]]", "/a[x]/b[c]"),
        ("/a/b[c[../x]]", "/a/b[c][x]"),
        ("/a/b[.//c[../x]]", "/a/b[.//*[x]/c or c and x]"),
        ("/a/b[../x | y]", "/a/b[y] | /a[x]/b"),
        ("/a/b[..]", "/a/b"),
        ("/a/b[parent::a]", "/a/b"),
        ("/*/b[parent::a]", "/a/b"),
        ("/a/b[parent::c or d]", "/a/b[d]"),
        ("/a[not(../..)]", "/a"),
        ("b[../@x]", "//*[@x]/b"),
    ],
)
def test_a_predicate_that_looks_up_moves_up(text: str, cleaned: str) -> None:
    """The upward part of a predicate becomes a predicate of the parent; a disjunction, alternatives."""
    assert render(parse(text)) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("/*[self::a]", "/a"),
        ("/*[self::a or self::b]/c", "/a/c | /b/c"),
        ("/a[not(self::b)]", "/a"),
        ("/a/self::*/b", "/a/b"),
        ("/a/./b/.", "/a/b"),
        ("/a/descendant-or-self::a", "/a | /a//a"),
        ("/a//self::b", "/a//b"),
        ("/a/.[b]/c", "/a[b]/c"),
        ("//.[b]/c", "//*[b]/c | /self::node()[b]/c"),
        ("/a[.]", "/a"),
        ("/a[count(.[b]/c)>1]", "/a[count(self::node()[b]/c)>1]"),
    ],
)
def test_a_test_of_the_node_itself_meets_its_step(text: str, cleaned: str) -> None:
    """``self::`` and ``.`` add to the step they follow."""
    assert render(parse(text)) == cleaned


@pytest.mark.parametrize(
    "text", ["/..", "/a/parent::b", "/a/b/parent::c", "/a[self::b]", "/a[../..]", "/@x", "/a/@x/b"]
)
def test_what_no_document_can_satisfy_is_refused(text: str) -> None:
    """The parent of the document, two names at once and children of attributes do not exist."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert caught.value.code == "never-matches"


def test_an_impossible_alternative_is_dropped() -> None:
    """What cannot hold beside something that can is left out."""
    assert render(parse("/a | /@x | /b[self::c] | /c[@x/d or e]")) == "/a | /c[e]"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("//*[not(self::a)]", "//*[not(self::a)]"),
        ("//*[not(self::a)]/self::a", None),
        ("//*[not(self::a)]/self::b", "//b"),
        ("/a[contains(../x | y, 'z')]", "/a[contains(../x | y, 'z')]"),
        ("//..", "//.."),
        ("../a", "//../a"),
        ("a//../b", "//a//../b"),
    ],
)
def test_what_cannot_be_cleaned_is_a_general_expression(text: str, canonical: str | None) -> None:
    """Negated names of wildcards, mixed unions in functions, and steps up from anywhere."""
    if canonical is not None:
        assert render(parse(text)) == canonical
        return
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert caught.value.code == "never-matches"


def test_too_many_alternatives_are_refused() -> None:
    """The disjunctive form of upward predicates is bounded."""
    text = "/a/b" + "".join([f"[../x{i} or y{i}]" for i in range(7)])
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert caught.value.code == "too-complex"
    limits = PatternLimits(alternatives=128, steps=2000, predicates=2000)
    assert len(parse(text, limits=limits).alternatives) == 128


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("/a/b", 2),
        ("/a[b/c][d]", 4),
        ("/a[not(b and c[d])]", 4),
        ("/a[b | c = 5][count(d) > 1]", 4),
        ("/a[@x]", 1),
    ],
)
def test_steps_in_conditions_count(text: str, steps: int) -> None:
    """Every step counts, also those in predicates."""
    (path,) = parse(text).alternatives
    assert not has_more_steps([Route(path.steps)], steps)
    assert has_more_steps([Route(path.steps)], steps - 1)


def test_conditions_above_and_guards_count() -> None:
    """Conditions on the nodes that a route leaves upwards are part of the route."""
    (predicate,) = parse("/*[a/b]").alternatives[0].steps[0].predicates
    route = Route(filters=above(predicate, 2), guards=(predicate, True))
    assert not has_more_steps([route], 4)
    assert has_more_steps([route], 3)


def test_counting_stops_at_the_limit() -> None:
    """A condition whose copies share their parts would take for ever to count to its end."""
    (predicate,) = parse("/*[a]").alternatives[0].steps[0].predicates
    for _ in range(200):
        predicate = And((predicate, predicate))
    heavy = has_more_steps([Route(filters=predicate)], 1000)
    assert heavy
