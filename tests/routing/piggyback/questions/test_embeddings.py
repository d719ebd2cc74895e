"""Embeddings: all bindings of one embedding each, every one of them true, whatever the document."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.analysis.subscriptions import small_document, twig_pattern
from tests.routing.piggyback.running_example import DOCUMENT, PREFIXES, ROWS, TOLD, binding
from twigcast.analysis import covers
from twigcast.document import Document, Element, Shape, Structure, descendants, elements, read
from twigcast.pattern import Axis, Exists, Path, Pattern, Predicate, Step, matches, parse
from twigcast.pattern.evaluating import Evaluation
from twigcast.routing.piggyback.questions import Binding, bound, embeddings, wildcards

EXAMPLE = Structure.of(DOCUMENT)


def test_bindings_of_the_running_example() -> None:
    """The bindings of P example 4.2 and T example 4.5; that of y comes second."""
    assert embeddings(TOLD["s'1"], EXAMPLE, {2}) == [binding(_2="x"), binding(_2="y")]
    assert embeddings(TOLD["s'2"], EXAMPLE, {2}) == []
    assert embeddings(TOLD["s'3"], EXAMPLE, {1, 2}) == [binding(_1="b", _2="e")]
    assert covers(ROWS["s5"], bound(TOLD["s'3"], binding(_1="b", _2="e")))


def test_a_binding_of_a_gap_proves_a_row_unread() -> None:
    """A router that told ``/a//d`` sends on for ``/a/b/c/d`` without the document (P and T example 1.1)."""
    told, row = parse("/a//d"), parse("/a/b/c/d")
    (names,) = embeddings(told, structure("<a><b><c><d/></c></b></a>"), {1})
    assert names == binding(_1="b/c")
    assert covers(row, bound(told, names))


def test_trap_04_names_are_of_one_embedding() -> None:
    """Of the names {a, d} × {b, e} only two pairs are there; ``//a/e/c`` is not."""
    told = parse("//*/*/c")
    document = read(b"<r><a><b><c/></b></a><d><e><c/></e></d></r>")
    found = embeddings(told, Structure.of(document), {2, 3})
    assert found == [binding(_2="a", _3="b"), binding(_2="d", _3="e")]
    crossed = bound(told, binding(_2="a", _3="e"))
    assert str(crossed) == "//a/e/c"
    assert not matches(crossed, document)


def test_trap_04_names_of_two_branches_are_of_one_embedding() -> None:
    """A branch and the trunk bind names below the same element."""
    document = read(b"<r><p><a/><b/></p><p><c/><d/></p></r>")
    found = embeddings(parse("/r/p[*]/*"), Structure.of(document), {1, 2}, most=100)
    assert len(found) == 8
    assert binding(_1="a", _2="d") not in found


def test_trap_05_a_condition_is_tested_but_not_bound() -> None:
    """The wildcard in the ``or`` has no number; it must hold all the same."""
    told = parse("/*/*[not(c) and (* or d)]/*")
    found = embeddings(told, structure("<r><a><c/></a><b><e/></b><f/></r>"), {1, 2, 3})
    assert found == [binding(_1="r", _2="b", _3="e")]


def test_trap_07_the_first_binding_may_prove_nothing() -> None:
    """With (1, x) alone the next router must parse; the second binding proves its row (P example 3.1)."""
    told, row = parse("/b/a/*/c"), parse("/b/a/y/c")
    (first,) = embeddings(told, EXAMPLE, {1}, most=1)
    assert first == binding(_1="x")
    assert matches(row, DOCUMENT)
    assert not covers(row, bound(told, first))
    assert any(covers(row, bound(told, each)) for each in embeddings(told, EXAMPLE, {1}))


def test_trap_08_without_numbers_there_is_one_empty_binding() -> None:
    """It says that the pattern matches."""
    assert embeddings(TOLD["s'3"], EXAMPLE, ()) == [()]
    assert embeddings(TOLD["s'2"], EXAMPLE, ()) == []


def test_names_have_namespaces() -> None:
    """A wildcard of one part binds the full name, and a test of one namespace admits no other."""
    told = parse("/p:*/*:b//*", PREFIXES)
    body = "<q:a xmlns:q='urn:p'><b/><q:b><c/></q:b></q:a>"
    assert embeddings(told, structure(body), {1, 2, 3, 4}) == [binding(_1="p:a", _2="p:b", _3="", _4="c")]
    assert embeddings(told, structure("<a><b><c/></b></a>"), {1}) == []


def test_recursion_gives_gaps_of_all_lengths() -> None:
    """Shorter gaps come first."""
    found = embeddings(parse("/a//a"), structure("<a><a><a><a/></a></a></a>"), {1}, most=10)
    assert found == [binding(_1=""), binding(_1="a"), binding(_1="a/a")]


def test_attributes_are_known_if_the_structure_has_their_names() -> None:
    """Where it has not, there is no binding for a pattern that asks for one."""
    told, document = parse("/*[@k]/*[not(@*)]"), read(b"<a k='1'><b k='1'/><c/></a>")
    with_names = Structure.of(document, attributes="names")
    assert embeddings(told, with_names, {1, 2}) == [binding(_1="a", _2="c")]
    assert embeddings(told, Structure.of(document), {1, 2}) == []


@pytest.mark.parametrize("pattern", ["//a | //b", "/*[@k=1]", "/*[2]", "/*[count(b) > 1]", "/*/text()"])
def test_patterns_that_a_structure_does_not_decide_have_no_bindings(pattern: str) -> None:
    """Unions are left out too: which alternative held is not known."""
    assert embeddings(parse(pattern), structure("<a k='1'><b/><b/>x</a>"), {1}) == []


def test_a_structure_of_many_paths_is_searched_by_its_shapes() -> None:
    """Below each of 100 levels there are two shapes of one name, so there are 2^100 paths to the leaf."""
    shapes = [Shape(("", "x"), ())]
    for at in range(100):
        first = len(shapes)
        below = (first - 1,) if at == 0 else (first - 2, first - 1)
        shapes += [Shape(("", "a"), below), Shape(("", "a"), (*below, first))]
    wide = Structure(tuple(shapes), elements=1 << 100, attributes=0)
    assert len(embeddings(parse("/a//a//x"), wide, {1, 2})) == 4


def test_a_search_that_takes_too_long_is_given_up() -> None:
    """Then there is no binding, which is never wrong."""
    told = parse("//a//x")
    assert len(embeddings(told, structure("<a>" * 200 + "<x/>" + "</a>" * 200), {1, 2})) == 4
    assert embeddings(told, structure("<a>" * 900 + "<x/>" + "</a>" * 900), {1, 2}) == []


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_bindings_are_those_of_all_embeddings(seed: int) -> None:
    """With no limit, all bindings of the definition are found; with a limit, as many of them."""
    random = Random(seed)
    document = small_document(random, depth=3)
    found = Structure.of(document, attributes="names")
    for _ in range(3):
        told = told_pattern(random)
        numbers = {number for number, _ in enumerate(wildcards(told), 1) if random.random() > 0.3}
        every = {
            tuple([pair for pair in each if pair[0] in numbers])
            for each in embedded(told.alternatives[0], document, 1)
        }
        assert set(embeddings(told, found, numbers, most=10**6)) == every, str(told)
        few = embeddings(told, found, numbers)
        assert set(few) <= every
        assert len(few) == len(set(few)) == min(4, len(every))


@given(st.integers(0, 1 << 32))
@settings(max_examples=100, deadline=None)
def test_a_bound_pattern_matches_and_proves_rows_that_match(seed: int) -> None:
    """Each binding is a true claim, by the evaluator and by lxml, and so is what covering infers from it."""
    random = Random(seed)
    document = small_document(random)
    rows = [twig_pattern(random) for _ in range(5)]
    for _ in range(3):
        told = told_pattern(random)
        numbers = range(1, len(wildcards(told)) + 1)
        for each in embeddings(told, Structure.of(document), numbers):
            claim = bound(told, each)
            assert matches(claim, document)
            assert covers(told, claim)
            assert parse(str(claim)) == claim
            if not set(str(claim)) & set("{:"):
                assert etree.fromstring(document.body).getroottree().xpath(str(claim))
            for row in rows:
                assert matches(row, document) or not covers(row, claim)


def structure(body: str) -> Structure:
    return Structure.of(read(body.encode()))


def told_pattern(random: Random) -> Pattern:
    """A random pattern with numbered wildcards."""
    while True:
        pattern = twig_pattern(random)
        if wildcards(pattern):
            return pattern


# The definition: every embedding of a path in a document


def embedded(path: Path, node: Document | Element, first: int) -> Iterator[Binding]:
    """The bindings of all embeddings of a path from a node; its wildcards are numbered from ``first``."""
    for before in embedded_predicates(path.filters, node, first):
        for after in embedded_steps(path, node, first + sum(map(size_of_predicate, path.filters))):
            yield before + after


def embedded_steps(path: Path, node: Document | Element, first: int) -> Iterator[Binding]:
    if not path.steps:
        if path.tail is None or Evaluation().holds(Exists((Path((), path.tail),)), node):
            yield ()
        return
    step, rest = path.steps[0], Path(path.steps[1:], path.tail)
    for element in elements(node) if step.axis is Axis.CHILD else descendants(node):
        if not step.test.admits(element.namespace, element.local):
            continue
        here: Binding = ()
        number = first
        if step.axis is Axis.DESCENDANT:
            here += ((number, tuple(between(node, element))),)
            number += 1
        if None in step.test:
            here += ((number, ((element.namespace, element.local),)),)
            number += 1
        for inside in embedded_predicates(step.predicates, element, number):
            for after in embedded_steps(rest, element, first + size_of_step(step)):
                yield here + inside + after


def embedded_predicates(
    predicates: tuple[Predicate, ...], node: Document | Element, first: int
) -> Iterator[Binding]:
    if not predicates:
        yield ()
        return
    predicate, *others = predicates
    path = branch(predicate)
    without: list[Binding] = [()] if path is None and Evaluation().holds(predicate, node) else []
    for each in without if path is None else embedded(path, node, first):
        for after in embedded_predicates(tuple(others), node, first + size_of_predicate(predicate)):
            yield each + after


def branch(predicate: Predicate) -> Path | None:
    """The path that a predicate asks for, if it is only one."""
    match predicate:
        case Exists((path,)):
            return path
        case _:
            return None


def size_of_predicate(predicate: Predicate) -> int:
    """The number of numbered wildcards in a predicate."""
    path = branch(predicate)
    if path is None:
        return 0
    return sum(map(size_of_predicate, path.filters)) + sum(map(size_of_step, path.steps))


def size_of_step(step: Step) -> int:
    own = (step.axis is Axis.DESCENDANT) + (None in step.test)
    return own + sum(map(size_of_predicate, step.predicates))


def between(above: Document | Element, element: Element) -> list[tuple[str, str]]:
    """The names of the elements between two nodes, from above."""
    names: list[tuple[str, str]] = []
    while element.parent is not above:
        assert isinstance(element.parent, Element)
        element = element.parent
        names.append((element.namespace, element.local))
    return names[::-1]
