"""Covering: sound on all documents, complete for linear paths, and correct on examples."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import (
    general_pattern,
    linear_patterns,
    small_document,
    twig_pattern,
    twig_patterns,
)
from twigcast.analysis.covering import covers, known, summary, summary_covers
from twigcast.analysis.generalization import common_pattern, shorter_patterns
from twigcast.analysis.merge_rules import MergeRules
from twigcast.document import Document, read
from twigcast.pattern import Pattern, matches, parse


@given(st.integers(0, 1 << 32))
@settings(max_examples=150, deadline=None)
def test_no_document_refutes_covering(seed: int) -> None:
    """A document that matches a covered pattern matches its coverer."""
    random = Random(seed)
    patterns = [twig_pattern(random) for _ in range(10)]
    for document in [small_document(random) for _ in range(6)]:
        matching = [(pattern, matches(pattern, document)) for pattern in patterns]
        for (p, p_matches), (q, q_matches) in product(matching, matching):
            if q_matches and not p_matches:
                assert not covers(p, q)


@given(st.integers(0, 1 << 32))
@settings(max_examples=150, deadline=None)
def test_no_document_refutes_covering_of_general_expressions(seed: int) -> None:
    """A general expression is implied by itself only; what is merged or generalised covers its parts."""
    random = Random(seed)
    patterns = [general_pattern(random) for _ in range(6)] + [twig_pattern(random) for _ in range(3)]
    patterns += [parse(str(pattern)) for pattern in patterns[:2]]
    assert all(covers(pattern, parse(str(pattern))) for pattern in patterns)
    parts = list(product(patterns[:4], patterns[:4]))
    mergers = [(common_pattern(p, q), p, q) for p, q in parts]
    shorter = [(each, p) for p in patterns for each in shorter_patterns(p)]
    rules = MergeRules()
    above = [(rules.pattern(key), p) for p in patterns for key in rules.above(rules.key(p))]
    for document in [small_document(random) for _ in range(5)]:
        matching = [(pattern, matches(pattern, document)) for pattern in patterns]
        for (p, p_matches), (q, q_matches) in product(matching, matching):
            if q_matches and not p_matches:
                assert not covers(p, q)
        for merger, p, q in mergers:
            assert parse(str(merger)) == merger
            assert matches(merger, document) or not (matches(p, document) or matches(q, document))
        for general, special in [*shorter, *above]:
            assert matches(general, document) or not matches(special, document), (str(general), str(special))


@given(twig_patterns())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_pattern_covers_itself(pattern: Pattern) -> None:
    """This holds also for an equal pattern that is another object."""
    assert covers(pattern, parse(str(pattern)))


@given(linear_patterns(), linear_patterns())
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_linear_paths_are_covered_or_refuted(p: Pattern, q: Pattern) -> None:
    """If a linear path does not cover another, a document with new names and long gaps refutes it."""
    refuted = any(matches(q, chain) and not matches(p, chain) for chain in chains(q))
    assert covers(p, q) is not refuted


@given(linear_patterns(), linear_patterns())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_ranks_grow_along_covering(p: Pattern, q: Pattern) -> None:
    """A linear coverer has a lower rank, or the same rank if both paths are equivalent."""
    if covers(p, q):
        assert summary(p).least <= summary(q).most
        assert (summary(p).least == summary(q).most) is covers(q, p)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("/a", "/a/b"),
        ("/a/*", "/a/b/c"),
        ("//b", "/a/b"),
        ("//b/c", "/a[b/c]/d"),
        ("/a[b]", "/a/b/c"),
        ("/a[b][c]/d", "/a[c][b/e]/d"),
        ("/a | /b", "/a/c"),
        ("/a | /b", "/b/c | /a"),
        ("/a[b]//c", "/a[b/d]/e/c"),
        ("//*[c]/d", "/a//b[c]/d/e"),
        ("/a[.//c]", "/a//b/c"),
        ("/a/*[.//c]", "/a//b/c"),
    ],
)
def test_structure(p: str, q: str) -> None:
    """Steps can be mapped to steps or branches at which their predicates are implied."""
    assert covers(parse(p), parse(q))
    assert not covers(parse(q), parse(p))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("//a[@price<10]", "//a[@price<5]"),
        ("//a[@price<10]", "//a[@price=5]"),
        ("//a[@price]", "//a[@price<5]"),
        ("//a", "//a[@price<5]"),
        ("//a/@price", "//a[@price<5]"),
        ("//a[@*<10]", "//a[@price<5]"),
        ("//a[@k!='x']", "//a[@k='y']"),
        ("//a[contains(@k,'b')]", "//a[starts-with(@k,'abc')]"),
        ("//a[contains(@k,'b')]", "//a[@k='abc']"),
        ("//a[b='x']", "//a[b[.='x']]/c"),
        ("//a[b[@k=1]]", "//a/b[@k=1]/c"),
        ("//a[b/@k=1]", "//a[b[@k=1][c]]"),
        ("//a[b[contains(.,'x')]]", "//a[contains(b,'xy')]"),
        ("//a[count(b)>1]", "//a[count(b)>2]"),
        ("//a[b]", "//a[count(b)>2]"),
        ("//a[text()]", "//a[text()='x']"),
        ("//a[string-length(@k)>1]", "//a[starts-with(@k,'abc')]"),
        ("//a[not(@k=1)]", "//a[@k>1]"),
        ("//a[not(@k<1)]", "//a[@k=1]"),
        ("//b[position()<3]", "//b[2]"),
    ],
)
def test_values(p: str, q: str) -> None:
    """A range covers its subranges and points; substrings, lengths and counts are similar."""
    assert covers(parse(p), parse(q))
    assert not covers(parse(q), parse(p))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("//a[b or c]", "//a[b]"),
        ("//a[b or c or d]", "//a[b or d]"),
        ("//a[*]", "//a[b or c]"),
        ("//a[@k<9]", "//a[@k=1 or @k=2]"),
        ("//a[not(b/c)]", "//a[not(b)]"),
        ("//a[not(b[c])]", "//a[not(b or d)]"),
        ("//a[not(b and c)]", "//a[not(b)]"),
    ],
)
def test_conditions(p: str, q: str) -> None:
    """Alternatives are resolved by case analysis, and negations are reversed."""
    assert covers(parse(p), parse(q))
    assert not covers(parse(q), parse(p))


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ("//a[contains(b,'x')]", "//a[b[contains(.,'x')]]"),
        ("//a[contains(text(),'x')]", "//a[text()='x']"),
        ("//a[@k='5']", "//a[@k=5]"),
        ("//a[@k!=5]", "//a[@k!='5']"),
        ("//a[b][c]", "//a[b]/../a[c]"),
        ("/a/b[c][d]", "/a[b/c]/b/d"),
        ("//a[not(b)]", "//a[not(b/c)]"),
        ("//b[2]", "//b[c][2]"),
        ("//b[1]", "//b"),
    ],
)
def test_not_covered(p: str, q: str) -> None:
    """Similar patterns are told apart: the first node or any node, a text or a number, two nodes or one."""
    assert not covers(parse(p), parse(q))


def test_equivalent_patterns_cover_each_other() -> None:
    """Patterns with the same meaning cover each other."""
    one, other = parse("/a[b]/c"), parse("/a[c]/b")
    assert covers(one, other)
    assert covers(other, one)
    assert not covers(parse("/a/b"), parse("/a"))


def test_the_document_covers_everything() -> None:
    """``/`` matches every document."""
    assert covers(parse("/"), parse("//a[b]"))
    assert not covers(parse("//*/*"), parse("/"))


def test_summaries_answer_as_patterns_do() -> None:
    """Verdicts from kept summaries are the same."""
    p, q = parse("//a"), parse("//a[b]")
    assert summary(p) is summary(p)
    assert summary_covers(summary(p), summary(q))
    assert not summary_covers(summary(q), summary(p))


def test_facts_are_taken_apart() -> None:
    """A conjunction implies its parts; a position implies the conditions of the counted elements."""
    (step,) = parse("//a[b][2][c and not(d or e)]").alternatives[0].steps
    assert len(known(step.predicates)) == 5


def chains(pattern: Pattern) -> list[Document]:
    """Yield chains that match a linear path, with new names for ``*`` and in gaps of several lengths."""
    pieces = []
    for step in pattern.alternatives[0].steps:
        name = step.test.local or "new"
        gaps = [0, 1, 2, 5] if step.axis.value == "//" else [0]
        pieces.append([["new"] * gap + [name] for gap in gaps])
    documents = []
    for choice in product(*pieces):
        names = [name for piece in choice for name in piece]
        text = "".join(f"<{name}>" for name in names) + "".join(f"</{name}>" for name in reversed(names))
        documents.append(read(text.encode()))
    return documents
