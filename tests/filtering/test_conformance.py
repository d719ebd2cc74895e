"""Schemas in an index: the kernel decides conformance as ``analysis.describes`` does."""

from __future__ import annotations

import random
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twigcast.filtering.kernel._kernel import Segment, SegmentMatcher, build

from experiments.engines.routing.conformance import describes
from experiments.engines.routing.expression_automaton import expression_automaton
from experiments.engines.routing.path_expression import (
    Either,
    Label,
    PathExpression,
    Repeat,
    Series,
    parse_path_expression,
)
from tests.routing.overlay import any_document, graph, subscription, valid_document
from twigcast import Index, Tuning
from twigcast.analysis import SchemaAutomaton, schema_automaton
from twigcast.document import read
from twigcast.errors import SchemaError, SubscriptionError
from twigcast.filtering.compiling import Compiler
from twigcast.pattern import ANY, NameTest, Pattern, matches, parse

TINY = Tuning(cache_bytes=1)
"""With such small caches everything is evicted again, also in the middle of a document."""


def announced(*expressions: str) -> SchemaAutomaton:
    return expression_automaton(map(parse_path_expression, expressions))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<a><b/></a>", True),
        (b"<a><b><c><d/><d><c/></d></c></b></a>", True),
        (b"<b/>", False),
        (b"<a><c/></a>", False),
        (b"<a><b><e/></b><b/></a>", False),
        (b"<a xmlns='urn:p'/>", False),
        (b"<p:a xmlns:p='urn:p'/>", False),
        (b"<a xmlns:p='urn:p'><b/></a>", True),
        (b"<!DOCTYPE a [<!ENTITY e '<c/>'>]><a>&e;</a>", False),
        (b"<!DOCTYPE a [<!ENTITY e '<b/>'>]><a>&e;</a>", True),
    ],
)
def test_a_schema_matches_the_documents_that_it_describes(body: bytes, expected: bool) -> None:
    """A document conforms if each of its paths is a prefix of a schema path, after expanding entities."""
    index = Index()
    index.add("schema", announced("/a/b(/c/d)+/e"))
    assert index.match(body).ids == (["schema"] if expected else [])
    assert describes(announced("/a/b(/c/d)+/e"), body) is expected


def test_elements_that_no_pattern_looks_into_are_followed() -> None:
    """The only pattern is decided at the root, and the element outside the schema is far below it."""
    index = Index([("pattern", "/a")])
    index.add("schema", announced("/a(/b)+/c"))
    assert index.match(b"<a><b><b><c/></b></b></a>").ids == ["pattern", "schema"]
    assert index.match(b"<a><b><b><d/></b></b></a>").ids == ["pattern"]


def test_the_narrowest_test_decides() -> None:
    """If several tests of the schema admit a name, the automaton follows only the narrowest of them."""
    automaton = SchemaAutomaton((ANY, NameTest("", "a"), ANY, NameTest("", "b")), (0b10, 0b100, 0, 0))
    index = Index()
    index.add("schema", automaton)
    for body in (b"<a><c/></a>", b"<a><b/></a>", b"<a><a/></a>"):
        assert (index.match(body).ids == ["schema"]) is describes(automaton, body)


def test_a_schema_is_added_removed_and_never_taken_for_a_pattern() -> None:
    """``pattern`` refuses the id of a schema, and a removed schema matches nothing."""
    index = Index()
    index.add(1, announced("/a"))
    with pytest.raises(SubscriptionError) as refused:
        index.pattern(1)
    assert refused.value.code == "not-a-pattern"
    index.remove(1)
    assert index.match(b"<a/>").ids == []


def test_an_automaton_in_which_a_name_leads_to_two_positions_is_refused() -> None:
    """An automaton with a follower that does not exist is refused as well."""
    a = NameTest("", "a")
    for follow in ((0b110, 0, 0), (0b1000, 0, 0), (0b1, 0, 0), (0b10, 0)):
        with pytest.raises(SchemaError):
            SchemaAutomaton((ANY, a, a), follow)


@pytest.mark.slow
@pytest.mark.parametrize("tuning", [Tuning(), TINY], ids=["warm", "forgetful"])
@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_kernel_agrees_with_describes(tuning: Tuning, random: Random) -> None:
    """Answers agree for many schemas at once, beside patterns, after changes, and from a file."""
    graphs = [graph(random) for _ in range(2)]
    entries: dict[str, Pattern | SchemaAutomaton] = {
        **{f"graph {number}": schema_automaton(each) for number, each in enumerate(graphs)},
        **{f"schema {number}": expression_automaton(_expressions(random)) for number in range(3)},
        **{f"pattern {number}": subscription(random) for number in range(random.randint(0, 4))},
    }
    index = Index(tuning=tuning)
    for id in random.sample(list(entries), len(entries)):
        index.add(id, entries[id])
    bodies = [valid_document(random, each) for each in graphs]
    bodies += [any_document(random), *(_namespaced(random) for _ in range(6))]
    _compare(index, entries, bodies)
    gone = random.choice(list(entries))
    index.remove(gone)
    del entries[gone]
    _compare(index, entries, bodies)
    with TemporaryDirectory() as folder:
        index.save(Path(folder) / "index")
        opened = Index.open(Path(folder) / "index", tuning=tuning)
        _compare(opened, entries, bodies)
        entries["new"] = expression_automaton(_expressions(random))
        opened.add("new", entries["new"])
        opened.save(Path(folder) / "again")
        _compare(Index.open(Path(folder) / "again"), entries, bodies)


def _compare(index: Index, entries: dict[str, Pattern | SchemaAutomaton], bodies: list[bytes]) -> None:
    batch = index.match_batch(pa.array(bodies))
    for row, body in enumerate(bodies):
        expected = {
            id
            for id, entry in entries.items()
            if (matches(entry, read(body)) if isinstance(entry, Pattern) else describes(entry, body))
        }
        assert set(index.match(body).ids) == set(batch.ids(row)) == expected


NAMES = [
    *(NameTest(namespace, local) for namespace in ("", "urn:p", None) for local in ("a", "b", None)),
]


def _expressions(random: Random) -> list[PathExpression]:
    def expression(depth: int) -> PathExpression:
        kind = random.randint(0, 3) if depth else 0
        if kind == 0:
            return Label(random.choice(NAMES))
        if kind == 1:
            return Repeat(expression(depth - 1))
        parts = tuple(expression(depth - 1) for _ in range(random.randint(1, 3)))
        return Series(parts) if kind == 2 else Either(parts)

    return [expression(3) for _ in range(random.randint(1, 2))]


def _namespaced(random: Random) -> bytes:
    def element(depth: int) -> str:
        inside = "".join(element(depth - 1) for _ in range(random.randint(0, 2) if depth else 0))
        name = random.choice(["", "", "p:"]) + random.choice(["a", "a", "b", "c"])
        default = random.choice(["", "", "", " xmlns='urn:p'", " xmlns=''"])
        return f"<{name}{default}>{inside}</{name}>"

    return f"<p:a xmlns:p='urn:p'>{element(3)}</p:a>".encode() if random.randint(0, 1) else _bare(random)


def _bare(random: Random) -> bytes:
    def element(depth: int) -> str:
        inside = "".join(element(depth - 1) for _ in range(random.randint(0, 2) if depth else 0))
        name = random.choice(["a", "a", "b", "c"])
        return f"<{name}>{inside}</{name}>"

    return element(4).encode()


def test_an_altered_segment_is_refused_or_harmless() -> None:
    """A segment with forged words is refused, or can be matched without a crash."""
    compiler = Compiler()
    programs = [
        compiler.compile(each).words for each in (announced("/a(/b)+/c"), parse("/a[b]"), announced("/*"))
    ]
    sound = build(compiler.vocabulary, [0, 1, 2], programs)
    source = random.Random(5)
    accepted = 0
    for _ in range(3000):
        forged = bytearray(sound)
        for _ in range(source.choice([1, 1, 2, 4])):
            at = source.randrange(len(forged) // 4) * 4
            word = source.choice([0, 1, 2, 3, 7, 8, 0x80000000, 0xFFFFFFFF])
            forged[at : at + 4] = word.to_bytes(4, "little")
        try:
            segment = Segment(bytes(forged))
        except ValueError:
            continue
        if segment.end > 64:
            continue
        matcher = SegmentMatcher(1 << 16, True, True, 1 << 20, 100, 100, 100.0, 1 << 20)
        matcher.use(object(), (segment,), 64, b"", b"")
        matcher.match(b"<a><b><b><c/><d/></b></b><e/></a>")
        accepted += 1
    assert accepted
