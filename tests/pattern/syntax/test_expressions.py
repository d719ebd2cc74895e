"""General expressions: what becomes a plain predicate, what stays general, and that no text takes long."""

from __future__ import annotations

import pytest

from twigcast.errors import PatternError
from twigcast.pattern import Comparison, PatternLimits, Test, parse, render
from twigcast.pattern.syntax.parsing import _Parser


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("/a[b = c]", "/a[b=c]"),
        ("/a[b + 1 = 2 and c = 3]", "/a[b + 1=2][c=3]"),
        ("/a[last()]", "/a[position()=last()]"),
        ("/a/b[x][last()][y]", "/a/b[x][position()=last()][y]"),
        ("/a/b[x][2][last() = 1]", "/a/b[x][2][last()=1]"),
        ("/a/b[2 = position()]", "/a/b[2]"),
        ("/a/b[1 + 1]", "/a/b[2]"),
        ("/a/*[3][self::b][last() = 1]", "/a/*[position()=3][self::b][last()=1]"),
        ("//*[local-name() = 'a' and namespace-uri() = 'u']", "//Q{u}a"),
        ("//*[local-name(..) = 'a']", "//*:a/*"),
        ("//*[local-name() = 'a'][2]", "//*:a[2]"),
        ("//*[name() = 'p:a']", "//*:a[name(.)='p:a']"),
        ("/a[string(@x) = 's']", "/a[@x='s']"),
        ("/a[string(@x) = '']", "/a[not(@x!='')]"),
        ("/a[number(@x) >= 3]", "/a[@x>=3]"),
        ("/a[number(.) != 3]", "/a[not(.=3)]"),
        ("/a[contains(string(.), 'x')]", "/a[contains(., 'x')]"),
        ("/a[b = concat('x', 'y')]", "/a[b='xy']"),
        ("/a[exists(b) and empty(c)]", "/a[b][not(c)]"),
        ("/a[true() and b]", "/a[b]"),
        ("/a[count(b)]", "/a[position()=count(b)]"),
        ("/a[c and count(b)]", "/a[boolean(count(b))][c]"),
        ("/a[(b | c)/d = 1]", "/a[b/d | c/d=1]"),
        ("/a/(b | c)/d", "/a/b/d | /a/c/d"),
        ("(//a | //b)/c", "//a/c | //b/c"),
        ("(//a)[1]/b", "(//a)[position()=1]/b"),
        ("/a/@x[. = 5]", "/a/@x[.=5]"),
        ("/a/@*[local-name() = 'x']", "/a/@*:x"),
        ("/a/descendant::b[1]/c", "/a/descendant::b[position()=1]/c"),
        ("/a/b/ancestor::c", "/a/b/ancestor::c"),
        ("/a//.", "/a/descendant-or-self::node()"),
        ("/a[--b = 1]", "/a[--b=1]"),
        ("/a[b - -1 = -2]", "/a[b - -1=-2]"),
        ("/a[(b - 1) - 1 = 0]", "/a[b - 1 - 1=0]"),
        ("/a[b - (1 - c) = 0]", "/a[b - (1 - c)=0]"),
        ("/a[1 div 0 = b]", "/a[1 div 0=b]"),
        ("/a[b < '2024-01-31']", "/a[b<'2024-01-31']"),
        ("/a[b < '20240131']", "/a[b<'20240131']"),
        ("/a[b < '20241399']", "/a[b<20241399]"),
        ("/a[b < '201201']", "/a[b<201201]"),
        ("/a[number(@b) < '20240131']", "/a[@b<20240131]"),
        ("/a[/b/c = 3]", "/a[/b/c=3]"),
        ("/a[/ = 'x']", "/a[/self::node()='x']"),
        ("/a[b = true()]", "/a[b=true()]"),
        ("count(//a) > 3", "/self::node()[count(.//a)>3]"),
        ("/p/c = 'x' or not(//d)", "/self::node()[not(.//d) or p/c='x']"),
        ("string(//a)", "/self::node()[string(.//a)]"),
    ],
)
def test_canonical_texts(text: str, canonical: str) -> None:
    """Each form has one text, which is its own."""
    assert render(parse(text)) == canonical
    assert parse(canonical) == parse(text)


def test_only_the_operand_that_needs_it_is_general() -> None:
    """The others stay predicates that the index understands."""
    comparison, test = parse("/a[@x = '1' and normalize-space(b) = 'x']").alternatives[0].steps[0].predicates
    assert isinstance(comparison, Comparison)
    assert isinstance(test, Test)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("/a[b < 'x']", "never-matches", "'x' is not a number: XPath 1.0 orders numbers only"),
        ("//a > 'x'", "never-matches", "'x' is not a number: XPath 1.0 orders numbers only"),
        ("/a[$x]", "unsupported", "a subscription has no variables"),
        ("/a[b ne c]", "unsupported", "'ne' is an operator of XPath 2.0"),
        ("/a[count(b, c) = 1]", "syntax", "expected ')'"),
        ("/a[last(b) = 1]", "syntax", "last() has no arguments"),
        ("/ancestor::a", "never-matches", "no document can satisfy this expression"),
    ],
)
def test_a_refusal_says_why(text: str, code: str, message: str) -> None:
    """In one sentence."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_functions_may_have_the_prefix_of_their_namespace() -> None:
    """If the map binds it."""
    namespaces = {"fn": "http://www.w3.org/2005/xpath-functions"}
    assert render(parse("/a[fn:normalize-space(b) = 'x']", namespaces)) == "/a[normalize-space(b)='x']"


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ("a[{} + 1]", 24),
        ("({} + 1)", 24),
        ("not({} = b)", 24),
        ("a[{} = concat('x', 'y')]", 24),
        ("(a | {})/b", 5),
    ],
)
def test_nesting_does_not_multiply_the_work(inner: str, outer: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level is parsed a few times, not twice as often as the one inside it."""
    text = "x"
    for _ in range(outer):
        text = inner.format(text)
    work = 0
    token = _Parser.path_expression

    def counted(self: _Parser) -> object:
        nonlocal work
        work += 1
        return token(self)

    monkeypatch.setattr(_Parser, "path_expression", counted)
    try:
        parse(f"/a[{text} = 1]", limits=PatternLimits(nesting=64))
    except PatternError as error:
        assert error.code == "too-complex"  # noqa: PT017
    assert work < 60 * outer * outer


def test_long_chains_are_no_deep_trees() -> None:
    """Conjunctions and disjunctions are balanced; a chain of sums is limited."""
    many = " or ".join([f". = 'x{number}'" for number in range(200)])
    assert parse(f"/a[count(b[{many}]) > 1]") == parse(render(parse(f"/a[count(b[{many}]) > 1]")))
    with pytest.raises(PatternError) as caught:
        parse("/a[" + " + ".join(["b"] * 200) + " = 1]")
    assert caught.value.code == "too-complex"
