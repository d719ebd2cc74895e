"""From text to pattern: what is read how, and what is refused where."""

from __future__ import annotations

import gzip
from pathlib import Path as File
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.errors import PatternError
from twigcast.pattern import (
    AttributeTail,
    Axis,
    Comparison,
    Exists,
    NameTest,
    Not,
    Or,
    Path,
    Pattern,
    PatternLimits,
    Step,
    parse,
    parse_alone,
    render,
)


def child(name: str, *predicates: object) -> Step:
    return Step(Axis.CHILD, NameTest("", name), predicates)  # type: ignore[arg-type]


def below(name: str, *predicates: object) -> Step:
    return Step(Axis.DESCENDANT, NameTest("", name), predicates)  # type: ignore[arg-type]


def path(*steps: Step) -> Path:
    return Path(steps)


def test_the_example_of_the_tree() -> None:
    """The expression drawn in the module of the pattern tree has that tree."""
    assert parse("/nitf//p[@lang='en'][em or not(b/c)]/person") == Pattern(
        (
            path(
                child("nitf"),
                below(
                    "p",
                    Comparison((Path((), AttributeTail(NameTest("", "lang"))),), "=", "en"),
                    Or((Exists((path(child("em")),)), Not(Exists((path(child("b"), child("c")),))))),
                ),
                child("person"),
            ),
        )
    )


def test_the_same_text_under_other_maps_is_another_pattern() -> None:
    """Nothing remembered under one map is used under another."""
    maps = [None, {}, {"": "u"}, {"": "v"}, {"p": "u"}, {"p": "v"}]
    texts = [render(parse("/a[b]", each)) for each in maps for _ in range(2)]
    assert texts[::2] == texts[1::2]
    assert texts[::2] == ["/a[b]", "/a[b]", "/Q{u}a[Q{u}b]", "/Q{v}a[Q{v}b]", "/a[b]", "/a[b]"]
    assert [render(parse("/p:a[p:b]", each)) for each in maps[4:]] == ["/Q{u}a[Q{u}b]", "/Q{v}a[Q{v}b]"]


SIGNS = "/ // [ ] [ ] ( ) @ * . .. :: | = != < >= ' \" 'x' \"y\" 5 -1 .5 Q{ , $ - + # 1e5 :"
NAMES = "a b é p:a *:b Q{u}c self:: parent:: child:: descendant:: attribute:: text() node() position()"
CALLS = "not( contains( count( string-length( boolean("
WORDS = [*SIGNS.split(), *NAMES.split(), *CALLS.split(), " ", " and ", " or "]

SYNTAX = [
    ("", 1, "a name test"),
    ("   ", 4, "a name test"),
    ("/a/", 4, "a name test"),
    ("/a//", 5, "a name test"),
    ("/a///b", 5, "a name test"),
    ("//", 3, "a name test"),
    ("/a[", 4, "a name test"),
    ("/a[]", 4, "a name test"),
    ("/a[b", 5, "']'"),
    ("/a[b c]", 6, "']'"),
    ("/a[b=]", 6, "a name test"),
    ("/a[b and]", 9, "a name test"),
    ("/a]", 3, "the end of the expression"),
    ("/a b", 4, "the end of the expression"),
    ("/a[(b]", 6, "')'"),
    ("/a[not(b]", 9, "')'"),
    ("/a[contains(b)]", 14, "','"),
    ("/a['x]", 4, "a closing quote"),
    ("/a[b='x]", 6, "a closing quote"),
    ("/a/@", 5, "a name test"),
    ("/a/@5", 5, "a name test"),
    ("/a/text(", 9, "')'"),
    ("/a/5", 4, "a name test"),
    ("/nowhere::a", 2, "the name of an axis"),
    ("/child::", 9, "a name test"),
    ("/a |", 5, "a name test"),
    ("| /a", 1, "a name test"),
    ("/a#", 3, "the end of the expression"),
    ("(/a", 4, "')'"),
    ("/p::a", 2, "the name of an axis"),
    ("/a:/b", 3, "the end of the expression"),
]


@pytest.mark.parametrize(("text", "column", "expected"), SYNTAX)
def test_what_is_not_xpath_is_refused_where_it_stops_being_it(text: str, column: int, expected: str) -> None:
    """The error has the column and says what was expected there."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    error = caught.value
    assert (error.code, error.column, error.expected) == ("syntax", column, expected)
    assert str(error) == f"expected {expected} at column {column}"


UNSUPPORTED = [
    ("/a[$v]", 4),
    ("/a[b = $v]", 8),
    ("/a[count(1) = 1]", 10),
    ("/a[b | 'x']", 8),
    ("/a[b = 9" + "9" * 400 + "]", 8),
    ("/a/namespace::b", 4),
    ("'x'", 1),
    ("5", 1),
    ("true()", 1),
    ("1 = 1", 1),
    ("position() = 1", 1),
    ("/a/count(b)", 4),
    ("/a/b/string()", 6),
    ("id('x')/a", 1),
    ("/a[matches(b, 'x')]", 4),
    ("/a[tokenize(b, ',') = 'x']", 4),
    ("/a[if (b) then c else d]", 4),
    ("/a[some $x in b satisfies $x]", 4),
    ("/a[every $x in b satisfies $x]", 4),
    ("for $x in //a return $x", 1),
    ("/a[b eq 'x']", 6),
    ("/a[b lt 5]", 6),
    ("/a[b = ('x', 'y')]", 12),
    ("/a[number(b) idiv 2 = 1]", 14),
    ("/a[b castable as xs:date]", 6),
    ("/a/(b | c)[1]", 11),
    ("//a except //b", 5),
    ("in:body()/a", 1),
]


@pytest.mark.parametrize(("text", "column"), UNSUPPORTED)
def test_what_is_outside_the_language_is_refused(text: str, column: int) -> None:
    """Later XPath, variables and constants are refused, with the column and what was expected instead."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.column) == ("unsupported", column)
    assert caught.value.expected


@pytest.mark.parametrize(
    "text",
    [
        "/a" * 5000,
        "/a" * 257,
        "/a" + "[b]" * 257,
        "/a" + "[b" * 33 + "]" * 33,
        "/a[" + "(" * 33 + "b" + ")" * 33 + "]",
        "/a[" + "not(" * 2000 + "b" + ")" * 2000 + "]",
        " | ".join([f"/a{i}" for i in range(65)]),
        "/a[" + " | ".join([f"b{i}" for i in range(65)]) + " = 5]",
        "/a" + "/b" * 40 + "/.." * 40,
        "/a" + "[../b" * 33,
    ],
)
def test_a_subscription_beyond_a_limit_is_refused(text: str) -> None:
    """Whatever its size, an expression is read or refused, never a crash."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert caught.value.code == "too-complex"


def test_limits_can_be_set() -> None:
    """What the defaults allow can be refused, and the other way round."""
    with pytest.raises(PatternError) as caught:
        parse("/a/b/c", limits=PatternLimits(steps=2))
    assert caught.value.code == "too-complex"
    assert len(parse("/a" * 300, limits=PatternLimits(steps=300)).alternatives[0].steps) == 300


def test_a_limit_beyond_the_stack_is_an_error_too() -> None:
    """Depth that Python cannot follow is refused like any other."""
    text = "/a" + "[b" * 2000 + "]" * 2000
    with pytest.raises(PatternError) as caught:
        parse(text, limits=PatternLimits(nesting=5000, predicates=5000, steps=5000, length=50000))
    assert caught.value.code == "too-complex"


@pytest.mark.slow
@pytest.mark.data
def test_all_published_subscriptions_are_read(data: File) -> None:
    """The sets of the papers' generators parse and survive their canonical text."""
    files = sorted([*data.glob("subscriptions/*.txt.gz"), *data.glob("nitf/subscriptions/*")])
    assert len(files) >= 21
    for file in files:
        body = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for text in {line.strip() for line in body.decode().splitlines()} - {""}:
            pattern = parse(text)
            assert parse(render(pattern)) == pattern


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=25).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but a ``PatternError`` with a column in the text, whatever the text."""
    try:
        pattern = parse(f"/a{text}", {"p": "u"})
    except PatternError as error:
        found = error.column
    else:
        found = 1
        assert parse(render(pattern)) == pattern
    assert 1 <= found <= len(text) + 3


@pytest.mark.parametrize(
    "text",
    [
        "//a" + "[.//b[../../x or y]" * 15 + "]" * 15,
        "//a" + "//b" * 20 + "[" + "../" * 20 + "x]",
        "//a" + "//b/.." * 10,
        "/a/b[not(" + " or ".join([f"../x{i} and y{i}" for i in range(30)]) + ")]",
    ],
)
def test_a_subscription_that_grows_by_cleaning_is_refused_in_time(text: str) -> None:
    """Steps up that double at each level are stopped before they are written out."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert caught.value.code == "too-complex"


BAD = ["\0", "\x1b", "\ud800", "\uffff"]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    "text",
    ["/a{}", "/a[b='x{}y']", "/a[@b='{}']", '/a[contains(b, "{}")]', "//Q{{u{}}}a", "/{}", "/a[b='{}'] | /c"],
)
def test_a_character_that_xml_does_not_allow_is_refused(text: str, bad: str) -> None:
    """In names, literals and URIs, with and without the cache; the column is that of the character."""
    text = text.format(bad)
    for parser in (parse, parse_alone):
        with pytest.raises(PatternError, match=f"U.{ord(bad):04X}") as error:
            parser(text)
        assert (error.value.code, error.value.column) == ("character", text.index(bad) + 1)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize(
    ("prefix", "uri"), [("p{}", "urn:p"), ("p", "urn:{}"), ("", "{}"), ("unused", "u{}")]
)
def test_a_namespace_with_such_a_character_is_refused(prefix: str, uri: str, bad: str) -> None:
    """Whether the expression uses the prefix or not."""
    with pytest.raises(PatternError, match="at position") as error:
        parse("//a", {prefix.format(bad): uri.format(bad)})
    assert error.value.code == "character"


@pytest.mark.parametrize(
    ("text", "namespaces"), [(None, None), (7, None), ("//a", {"p": None}), ("//a", {None: "u"})]
)
def test_what_is_no_text_is_refused(text: Any, namespaces: Any) -> None:
    """A null of a table is a refusal like any other, not an exception that stops the rest."""
    with pytest.raises(PatternError, match="got ") as error:
        parse(text, namespaces)
    assert error.value.code == "syntax"


def test_namespaces_count_towards_the_size() -> None:
    """A short expression with long URIs is refused; the message names the limit."""
    for namespaces in ({"p": "u" * 40_000}, {"p" * 40_000: "u"}, {f"p{n}": "u" * 100 for n in range(400)}):
        with pytest.raises(PatternError, match=r"PatternLimits\.size") as error:
            parse("//a", namespaces)
        assert error.value.code == "too-complex"
    assert parse("//a", {"p": "u" * 40_000}, PatternLimits(size=50_000)) == parse("//a")


def test_the_canonical_text_counts_towards_the_size() -> None:
    """The canonical text repeats the URI of every name, so that it can be much longer than the text."""
    with pytest.raises(PatternError, match=r"PatternLimits\.size") as error:
        parse("/p:a" * 20, {"p": "u" * 2_000})
    assert error.value.code == "too-complex"
    assert len(render(parse("/p:a" * 10, {"p": "u" * 2_000}))) > 20_000


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("/a" * 5000, "length"),
        ("/a" * 300, "steps"),
        ("/a" + "[@b]" * 300, "predicates"),
        ("/a" + "[b" * 40 + "]" * 40, "nesting"),
        (" | ".join(f"/a{n}" for n in range(70)), "alternatives"),
        ("/a[" + " | ".join(f"b{n}" for n in range(70)) + "]", "alternatives"),
        ("/a/b" + "/.." * 40, "nesting"),
    ],
)
def test_a_refusal_names_the_limit_that_was_exceeded(text: str, limit: str) -> None:
    """The message says which field of ``PatternLimits`` to raise."""
    with pytest.raises(PatternError, match=rf"PatternLimits\.{limit}\b") as error:
        parse(text)
    assert error.value.code == "too-complex"


def test_an_unbound_prefix_says_how_to_bind_it() -> None:
    """The hint can be pasted into the call."""
    with pytest.raises(PatternError) as caught:
        parse("//a[cbc:Name]")
    assert str(caught.value) == (
        'the prefix \'cbc\' is not bound at column 5: bind it with namespaces={"cbc": "…"}'
    )
