"""Data patterns: what a subscription demands, what closes it, and where a chain ends last in a document."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.analysis.subscriptions import (
    general_pattern,
    linear_pattern,
    linear_patterns,
    small_document,
    twig_pattern,
)
from tests.routing.piggyback.running_example import DOCUMENT, PREFIXES, chain
from twigcast.analysis import covers
from twigcast.document import Document, Element, Structure, descendants, elements, read
from twigcast.pattern import And, Not, Or, Path, Pattern, Position, Predicate, Test, matches, parse
from twigcast.routing.piggyback.questions import (
    LONGEST,
    Chain,
    chain_pattern,
    chains_of,
    closing_chains,
    demanded_chains,
    last_positions,
)


def chains(*texts: str) -> set[Chain]:
    return set(map(chain, texts))


# What a pattern demands


@pytest.mark.parametrize(
    ("pattern", "demanded"),
    [
        ("/a/b/c", ["a", "b", "c", "a/b", "b/c", "a/b/c"]),
        ("//a//b", ["a", "b"]),
        ("/a/*/b", ["a", "b"]),
        ("/r[a/b/@k=1]//c", ["r", "a", "b", "c", "r/a", "a/b", "r/a/b"]),
        ("//a[b]/c", ["a", "b", "c", "a/b", "a/c"]),
        ("//a[.//b/c]", ["a", "b", "c", "b/c"]),
        ("//a[b/x or b/y]", ["a", "b", "a/b"]),
        ("//a/b | //c/a/b", ["a", "b", "a/b"]),
        ("//a[b/x | b/y]", ["a", "b", "a/b"]),
        ("//a[not(not(b) or c)]", ["a", "b", "a/b"]),
        ("//a[b][2]", ["a", "b", "a/b"]),
        ("//a[count(b) > 1]", ["a", "b", "a/b"]),
        ("//a[contains(b, 'x')]", ["a", "b", "a/b"]),
        ("/self::node()[a/b]/c", ["a", "b", "c", "a/b"]),
        ("//a/b/following::c", ["a", "b", "a/b"]),
        ("//a[b = following::c]", ["a"]),
        ("//p:a/b", ["p:a", "b", "p:a/b"]),
        ("//p:*/b/*:c/d", ["b", "d"]),
        ("/", []),
    ],
)
def test_a_pattern_demands_chains(pattern: str, demanded: list[str]) -> None:
    """Names that child steps join are demanded wherever a node must be selected."""
    assert demanded_chains(parse(pattern, PREFIXES)) == chains(*demanded)


def test_chains_are_limited_in_length() -> None:
    """All contiguous parts up to the limit are chains, none beyond it."""
    assert demanded_chains(parse("/a/b/c"), longest=2) == chains("a", "b", "c", "a/b", "b/c")
    assert max(map(len, demanded_chains(parse("/a/b/c/d/e/f")))) == LONGEST


@pytest.mark.parametrize(
    ("pattern", "without"),
    [
        ("//x[not(a/b)]", "<x/>"),
        ("//x[a/b or c]", "<x><c/></x>"),
        ("//a/b | //c", "<c/>"),
        ("//x[count(a/b) < 2]", "<x/>"),
        ("//x[string-length(a/b) = 0]", "<x/>"),
        ("//a//b", "<a><c><b/></c></a>"),
        ("//*:a/b", "<q:a xmlns:q='urn:q'><b/></q:a>"),
    ],
)
def test_trap_03_a_chain_in_the_text_may_not_be_demanded(pattern: str, without: str) -> None:
    """These patterns mention a and b, or even a/b, and match a document that lacks the chain."""
    row, document = parse(pattern), read(without.encode())
    assert "a" in str(row)
    assert "b" in str(row)
    assert matches(row, document)
    assert not matches(chain_pattern(chain("a/b")), document)
    assert not covers(chain_pattern(chain("a/b")), row)
    assert chain("a/b") not in demanded_chains(row)


@pytest.mark.parametrize("pattern", ["//a[b]", "//x[a/b != '1']"])
def test_trap_03_a_chain_of_a_branch_is_demanded(pattern: str) -> None:
    """A chain may lie in a predicate, or begin on the trunk and end in a predicate."""
    assert covers(chain_pattern(chain("a/b")), parse(pattern))
    assert chain("a/b") in demanded_chains(parse(pattern))


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_a_document_that_matches_has_the_demanded_chains(seed: int) -> None:
    """A document without a demanded chain never matches, and covering proves it where there is no ``or``.

    ``covers`` does not resolve an ``or`` within a step, so it is not asked there.
    """
    random = Random(seed)
    documents = [small_document(random) for _ in range(5)]
    for row in (twig_pattern(random), twig_pattern(random), general_pattern(random)):
        demanded = demanded_chains(row)
        for document in documents:
            if matches(row, document):
                assert demanded <= chains_of(Structure.of(document))
        if not any(map(has_alternatives, row.alternatives)):
            assert all(covers(chain_pattern(each), row) for each in demanded), str(row)


@given(linear_patterns())
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_chain_of_a_linear_pattern_is_missed(row: Pattern) -> None:
    """For linear patterns the demanded chains are exactly those whose pattern covers the row."""
    names = [("", name) for name in "abc"]
    possible = {each for length in range(1, LONGEST + 1) for each in product(names, repeat=length)}
    assert demanded_chains(row) == {each for each in possible if covers(chain_pattern(each), row)}


# What closes a pattern


@pytest.mark.parametrize(
    ("pattern", "closing"),
    [
        ("/a/b/c", ["a", "b", "c", "a/b", "b/c", "a/b/c"]),
        ("/r/a[b]/c", ["r", "a", "r/a", "r/a/b", "r/a/c", "a/b", "a/c"]),
        ("/r[a/b]", ["r", "a", "b", "r/a", "a/b", "r/a/b"]),
        ("/r[@k]/a", ["r", "r/a"]),
        ("/r//a[not(b)]/c", ["r", "a", "a/c"]),
        ("/*[a]/b", []),
        ("/self::node()[a]/b", []),
        ("/self::node()[a/b]", ["a", "b", "a/b"]),
        ("//a/b | //c/a/b", ["a", "b", "a/b"]),
        ("/r/a[2]/b", ["r", "r/a", "r/a/b", "a", "a/b"]),
        ("/r/a[last()]/b", []),
        ("/r/a[b = following::c]", []),
        ("/r/a/following::b", []),
    ],
)
def test_chains_close_a_pattern(pattern: str, closing: list[str]) -> None:
    """A closing chain begins at a step above which there is only one way and no condition."""
    assert closing_chains(parse(pattern)) == chains(*closing)


def test_trap_01_a_half_matched_twig_is_not_closed() -> None:
    """The chain a/b ends at tag 2, and what the row needs beside it comes after."""
    row, document = parse("/r[a/b]/c"), read(b"<r><a><b/></a><c/></r>")
    ((_, last),) = last_positions(document, chains("a/b")).items()
    assert last == 2
    assert chain("a/b") in demanded_chains(row)  # by the rule as printed, the row is switched off at tag 2
    assert matches(row, document)
    assert not matches(row, prefix(document, last))
    assert chain("a/b") not in closing_chains(row)


def test_trap_02_the_last_occurrence_is_the_one_that_ends_last() -> None:
    """With recursion, the occurrence that begins last ends before one that contains it."""
    row, document = parse("//a[b]/z"), read(b"<a><b/><a><b/></a><z/></a>")
    assert chain("a/b") in closing_chains(row)
    assert last_positions(document, chains("a/b")) == {chain("a/b"): 5}
    assert matches(row, prefix(document, 5))
    assert not matches(row, prefix(document, 3))  # the end of the inner a, which begins last


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_a_closed_pattern_matches_what_comes_before(seed: int) -> None:
    """A pattern has the same answer on the document and on its part up to the chain's last position."""
    random = Random(seed)
    documents = [small_document(random) for _ in range(4)]
    for row in (twig_pattern(random), twig_pattern(random), general_pattern(random), linear_pattern(random)):
        closing = closing_chains(row)
        assert closing <= demanded_chains(row)
        for document in documents:
            answer = matches(row, document)
            positions = last_positions(document, closing)
            assert positions.keys() == closing or not answer
            for last in set(positions.values()):
                assert matches(row, prefix(document, last)) == answer, str(row)


# Positions and chains of documents


def test_positions_of_the_running_example() -> None:
    """Of the chains h/m, d/m and d/e only the last occurs; its d has the fourth end tag."""
    assert last_positions(DOCUMENT, chains("h/m", "d/m", "d/e")) == {chain("d/e"): 4}


def test_positions_distinguish_namespaces() -> None:
    """A name is a namespace and a local name."""
    document = read(b"<r><a xmlns='urn:p'><b xmlns=''/></a><a/></r>")
    asked = chains("a", "p:a", "p:a/b", "a/b")
    assert last_positions(document, asked) == {chain("p:a"): 2, chain("p:a/b"): 2, chain("a"): 3}


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_positions_are_those_of_the_definition(seed: int) -> None:
    """The position of a chain is the greatest number of an end tag of an element where it begins."""
    random = Random(seed)
    document = small_document(random)
    names = [("", "a"), ("", "b"), ("urn:p", "a")]
    asked = [tuple(random.choice(names) for _ in range(random.randint(1, 3))) for _ in range(6)]
    numbers = end_tags(document)
    expected: dict[Chain, int] = {}
    for each in asked:
        found = [numbers[element.order] for element in descendants(document) if begins(each, element)]
        if found:
            expected[each] = max(found)
    assert last_positions(document, asked) == expected


def test_positions_in_a_deep_document() -> None:
    """The depth of a document is not limited by that of the interpreter's stack."""
    document = read(b"<a>" * 900 + b"</a>" * 900)
    assert last_positions(document, chains("a/a")) == {chain("a/a"): 900}


@given(st.integers(0, 1 << 32))
@settings(max_examples=50, deadline=None)
def test_chains_of_a_structure_are_those_of_the_document(seed: int) -> None:
    """Merging equal siblings keeps all chains."""
    document = small_document(Random(seed))
    found = chains_of(Structure.of(document), longest=3)
    names = {(element.namespace, element.local) for element in descendants(document)}
    possible = {each for length in (1, 2, 3) for each in product(names, repeat=length)}
    assert found == {each for each in possible if matches(chain_pattern(each), document)}


def prefix(document: Document, last: int) -> Document:
    """The part of a document up to its end tag number ``last``, with the elements closed that are open."""
    numbers = end_tags(document)
    cut = next(each for each in descendants(document) if numbers[each.order] == last)
    part = document.body[: cut.end].decode()
    above = cut.parent
    while isinstance(above, Element):
        name = f"{above.prefix}:{above.local}" if above.prefix else above.local
        part += f"</{name}>"
        above = above.parent
    return read(part.encode())


def end_tags(document: Document) -> dict[int, int]:
    """The numbers of the end tags of all elements, by their order."""
    ends = sorted(descendants(document), key=lambda each: (each.end, -each.start))
    return {element.order: number for number, element in enumerate(ends, 1)}


def begins(each: Chain, element: Element) -> bool:
    """Whether a chain begins at an element."""
    if (element.namespace, element.local) != each[0]:
        return False
    return len(each) == 1 or any(begins(each[1:], child) for child in elements(element))


def has_alternatives(path: Path) -> bool:
    """Whether some predicate of the path has an ``or``, a union, or a negation that hides one."""
    predicates = [*path.filters, *[each for step in path.steps for each in step.predicates]]
    return any(map(is_alternative, predicates))


def is_alternative(predicate: Predicate) -> bool:
    match predicate:
        case Or():
            return True
        case And(operands) | Position(among=operands):
            return any(map(is_alternative, operands))
        case Not() | Test():
            return False
        case _:
            return len(predicate.paths) > 1 or any(map(has_alternatives, predicate.paths))
