"""Answers from chunks are those of the whole document, for any prefixes, division and outline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

from experiments.engines.chunking.printed_prefixes import printed_prefixes
from tests.chunking.strategies import (
    answered,
    any_document,
    differences,
    expected,
    outline_of,
    queries_of,
    random_scheme,
)
from twigcast.chunking import ChunkQuery, in_order, plan, profile, run_queries
from twigcast.chunking import planning as planning_module
from twigcast.chunking.answers import PartRunner
from twigcast.chunking.outline import Outline
from twigcast.chunking.planning import assemble, place_query
from twigcast.chunking.reach import needs as needs_module
from twigcast.chunking.reach.needs import Need, exactly
from twigcast.document import Keep, read
from twigcast.pattern import Pattern


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_the_whole_document(seed: int) -> None:
    """By byte range, for random prefixes, divided, filtered, lean and whole."""
    wrong, total = differences(Random(seed), 18)
    assert (wrong, total) == (0, 108)


@pytest.mark.parametrize("seed", range(2))
def test_documents_that_are_not_of_the_outline_have_the_same_answers(seed: int) -> None:
    """A second pass answers what the outline does not have."""
    wrong, total = differences(Random(100 + seed), 12, foreign=True)
    assert (wrong, total) == (0, 72)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_answers_are_those_of_the_whole_document_for_long(seed: int) -> None:
    """The same for thousands of pairs."""
    assert differences(Random(1000 + seed), 400)[0] == 0
    assert differences(Random(2000 + seed), 200, foreign=True)[0] == 0


@pytest.mark.parametrize("algorithm", [None, printed_prefixes])
def test_planned_schemes_have_the_same_answers(algorithm: object) -> None:
    """Also the prefixes that the two algorithms choose."""
    random = Random(7)
    for _ in range(12):
        body = any_document(random)
        document = read(body)
        queries = queries_of(random, document, 8)
        options = {} if algorithm is None else {"algorithm": printed_prefixes}
        scheme = plan(queries, profile=profile([body]), chunks=random.choice([1, 2, 8]), **options)
        found = answered(body, scheme, random.choice([1, 100]))
        assert found == sum((expected(query, document) for query in queries), Counter())


def _without_positions(*_: object) -> Iterator[Need]:
    return iter(())


RULES = ["positions", "own", "values", "ownership", "filter nodes"]


@pytest.mark.parametrize("rule", RULES)
def test_leaving_a_rule_out_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of the test: without one of the rules some answers are wrong."""
    original = needs_module.target_needs

    def weakened(pattern: Pattern, target: needs_module.Target, *, content: bool) -> Iterator[Need]:
        for need in original(pattern, target, content=content):
            if need.steps == exactly(target.path):
                yield need
            elif (rule, need.keep) in (("own", Keep.OWN), ("values", Keep.TREE)):
                yield Need(need.steps, Keep.TAG)
            elif rule != "filter nodes":
                yield need

    monkeypatch.setattr(planning_module, "target_needs", weakened)
    if rule == "positions":
        monkeypatch.setattr(needs_module, "_sibling_needs", _without_positions)
    if rule == "ownership":
        monkeypatch.setattr(PartRunner, "_owns", lambda *_: True)
    random = Random(3)
    assert any(differences(random, 10)[0] for _ in range(20))


def test_keeping_more_changes_no_answer() -> None:
    """The sandwich: further nodes of the document in a chunk are harmless."""
    random = Random(11)
    for _ in range(15):
        body = any_document(random)
        document = read(body)
        queries = queries_of(random, document, 5)
        scheme = random_scheme(random, queries, outline_of(body))
        paths = [path for path in profile([body]).paths if len(path) > 1]
        chunks = []
        for chunk in scheme.chunks:
            keeps = [Keep.TREE] if chunk.is_divided else [Keep.TAG, Keep.OWN, Keep.TREE]
            more = [Need(exactly(path), random.choice(keeps)) for path in paths if random.random() < 0.3]
            chunks.append(replace(chunk, needs=chunk.needs | set(more)))
        found = answered(body, replace(scheme, chunks=tuple(chunks), _owners={}), 50)
        assert found == sum((expected(query, document) for query in queries), Counter())


# The traps of the design, each with its counter-example; every one is right if the answers are.

TRAPS = {
    "6 filter nodes from predicates above the prefix only": ("/a[d]/b/e", "<a><b><e/></b><d/></a>", ["a/b"]),
    "7 values": ("/a/b[c='5']/d", "<a><b><c>5</c><d/></b><b><c/><d/></b></a>", ["a/b/d"]),
    "8 attributes of ancestors": ("/a[@x='1']/b/c", "<a x='1'><b><c/></b></a>", ["a/b/c"]),
    "9 siblings of a position": ("/a/b[2]/c", "<a><b/><b><c/></b></a>", ["a/b/c"]),
    "9 counts": ("/a[count(b)=2]/b/c", "<a><b/><b><c/></b></a>", ["a/b/c"]),
    "10 the string-value of an ancestor": ("/a[. = 'xy']/b", "<a>x<b/>y</a>", ["a/b"]),
    "11 an element between texts": ("/a[text()='x']/b", "<a>x<z/>y<b/></a>", ["a/b"]),
    "14 document order": ("//c", "<a><m><c/></m><l><c/></l><m><c/></m></a>", ["a/l", "a/m"]),
    "15 a node in two chunks": ("//c", "<a><b><c/><d><c/></d></b></a>", ["a/b", "a/b/d"]),
    "16 positions on parts": ("/a/b[2]", "<a><b/><b/><b/></a>", ["a/b"]),
    "16 last on parts": ("/a/b[last()]", "<a><b/><b/><b>1</b></a>", ["a/b"]),
    "19 names by namespace": ("/a/Q{u}b", "<a xmlns:p='u'><p:b/><b/><b xmlns='u'/></a>", ["a/b"]),
    "21 selecting above the prefixes": ("/a/b", "<a><b><c/><d/></b></a>", ["a/b/c", "a/b/d"]),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_trap(trap: str) -> None:
    """The counter-example has the answers of the whole document."""
    text, xml, prefixes = TRAPS[trap]
    body = xml.encode()
    query = ChunkQuery("q", text)
    outline = outline_of(body)
    placed = [place_query(query, outline)]
    named = {tuple(local for _, local in path): path for path in profile([body]).paths}
    scheme = assemble(placed, [named[tuple(prefix.split("/"))] for prefix in prefixes], outline)
    found = answered(body, scheme, 1)
    assert found == expected(query, read(body))
    assert found
    starts = [answer.start for answer in in_order(run_queries(body, scheme, part_bytes=1), scheme)]
    assert starts == sorted(starts)


def test_trap_12_a_husk_is_no_answer() -> None:
    """A tag that is kept for another query's predicate is not selected."""
    body = b"<a><b><l><c><e/></c></l><m/></b></a>"
    outline = outline_of(body)
    queries = [ChunkQuery("husk", "//c[not(e)]"), ChunkQuery("tags", "/a/b[l/c]/m")]
    placed = [place_query(query, outline) for query in queries]
    prefix = (("", "a"), ("", "b"), ("", "m"))
    found = answered(body, assemble(placed, [prefix], outline), 1)
    assert [key[0] for key in found] == ["tags"]


def test_trap_13_what_the_schema_does_not_have_is_found_in_a_second_pass() -> None:
    """``<a><c/></a>`` is not valid, but ``//c`` selects in it; a stream leaves the query unsettled."""
    outline = Outline.of_profile(profile([b"<a><b><c/></b></a>"]))
    body = b"<a><b><c/></b><c/></a>"
    scheme = assemble([place_query(ChunkQuery("q", "//c"), outline)], [], outline)
    cut = run_queries(body, scheme)
    assert sorted(answer.start for answer in cut) == [6, 14]
    assert cut.foreign == [(("", "a"), ("", "c"))]
    stream = run_queries(iter([body]), scheme)
    assert [answer.start for answer in stream] == [6]
    assert stream.unsettled == ["q"]


def test_trap_17_the_longest_prefix_is_not_the_best() -> None:
    """``/db/student`` can be divided and needs nothing; ``/db/student/name`` could not."""
    body = b"<db>" + b"<student><email/><name>x</name></student>" * 3 + b"</db>"
    scheme = plan([ChunkQuery(1, "/db/student[email]/name")], profile=profile([body]))
    (chunk,) = scheme.chunks
    assert (chunk.name, chunk.kind, len(chunk.needs)) == ("student", "divided", 1)


def test_trap_18_a_prefix_with_one_instance_is_divided_below_it() -> None:
    """At the items of all continents, which are the records of the one prefix."""
    continents = "".join(f"<{name}><item/><item/></{name}>" for name in ("africa", "asia"))
    body = f"<site><regions>{continents}</regions></site>".encode()
    scheme = plan([ChunkQuery(1, "/site/regions/*/item")], profile=profile([body]), chunks=1)
    (chunk,) = scheme.chunks
    assert (chunk.name, chunk.kind) == ("regions", "divided")
    assert ["/".join(local for _, local in path) for path in chunk.records] == [
        *("site/regions/africa/item", "site/regions/asia/item"),
    ]
    cut = run_queries(body, scheme, part_bytes=1)
    assert len(list(cut)) == cut.parts == 4


def test_what_is_under_no_prefix_is_the_rest() -> None:
    """``/a/d`` with the prefixes ``/a/b`` and ``/a/c``."""
    body = b"<a><b/><b/><c/><c/><d/><d/></a>"
    outline = outline_of(body)
    placed = [place_query(ChunkQuery(name, f"/a/{name}"), outline) for name in "bcd"]
    scheme = assemble(placed, [(("", "a"), ("", name)) for name in "bc"], outline)
    assert [(chunk.name, list(chunk.targets)) for chunk in scheme.chunks] == [
        ("b", [0]),
        ("c", [1]),
        ("rest", [2]),
    ]


def test_trap_20_the_rest_is_not_the_document() -> None:
    """One leftover query keeps what it looks at."""
    body = b"<a><b>1</b><b>2</b><c><d/></c></a>"
    queries = [ChunkQuery(1, "/a/b"), ChunkQuery(2, "/a/b"), ChunkQuery(3, "/a/c/d")]
    scheme = plan(queries, profile=profile([body]), chunks=1)
    assert [(chunk.name, chunk.kind) for chunk in scheme.chunks] == [("b", "divided"), ("rest", "one")]
    from twigcast.chunking import DocumentPass
    from twigcast.document import DocumentLimits

    parts = list(DocumentPass([body], scheme, 1 << 20, 1 << 20, DocumentLimits()))
    assert [part.body for part in parts] == [b"<a><b>1</b><b>2</b></a>", b"<a><c><d/></c></a>"]


def test_a_query_for_ranges_keeps_tags_only() -> None:
    """Trap 21: what is selected above other chunks is not kept whole, but predicates see their values."""
    from twigcast.chunking.running import DocumentPass
    from twigcast.document import DocumentLimits

    body = b"<a><b><n>1</n><c>long</c></b><b><n>2</n><c>long</c></b></a>"
    query = ChunkQuery("q", "/a/b[n > 1][last()]", answers="ranges")
    scheme = plan([query], profile=profile([body]), chunks=1)
    (part,) = DocumentPass([body], scheme, 1 << 20, 1 << 20, DocumentLimits())
    assert part.body == b"<a><b><n>1</n></b><b><n>2</n></b></a>"
    (answer,) = run_queries(body, scheme)
    assert (body[answer.start : answer.end], answer.content) == (b"<b><n>2</n><c>long</c></b>", None)


def test_first_answers_come_before_the_end_of_the_document() -> None:
    """Parts are run while the document is read."""
    outline = profile([b"<a><b/><b/></a>"])
    scheme = plan([ChunkQuery("q", "/a/b")], profile=outline)

    def blocks() -> Iterator[bytes]:
        yield b"<a><b>1</b>"
        yield b"<b>2</b>"
        raise AssertionError("the second answer was not taken")

    answers = iter(run_queries(blocks(), scheme, part_bytes=1))
    assert next(answers).content == b"<b>1</b>"
    assert next(answers).content == b"<b>2</b>"


def test_answers_before_an_error_stand() -> None:
    """What was complete is kept; answers of chunks that are one document are partial."""
    body = b"<a><b>1</b><b>2</b><c/><b>"
    sample = profile([b"<a><b/><b/><c/></a>"])
    queries = [ChunkQuery("parts", "/a/b"), ChunkQuery("one", "/a/b[2]")]
    cut = run_queries(body, plan(queries, profile=sample), part_bytes=1)
    found = [(answer.query, answer.content, answer.is_partial) for answer in cut]
    assert found == [("parts", b"<b>1</b>", False), ("parts", b"<b>2</b>", False), ("one", b"<b>2</b>", True)]
    assert cut.error is not None
    assert cut.error.code == "truncated"


def test_a_chunk_that_is_too_wide_is_refused_with_its_queries() -> None:
    """The others have their answers."""
    body = b"<a>" + b"<b>1</b>" * 50 + b"</a>"
    queries = [ChunkQuery(1, "/a/b[1]"), ChunkQuery(2, "/a/b[. > 1]")]
    cut = run_queries(body, plan(queries, profile=profile([body])), most_bytes=99)
    assert list(cut) == []
    assert [(query, error.code) for query, error in cut.failures.items()] == [(1, "too-wide")]


def test_the_start_of_a_part_is_that_of_its_first_record() -> None:
    """Also if the record has children, and in parts after the first; a chunk that is one document has 0."""
    from twigcast.chunking import DocumentPass
    from twigcast.document import DocumentLimits

    body = b"<a><b><c/></b><d/><b><c/></b></a>"
    queries = [ChunkQuery(1, "/a/b"), ChunkQuery(2, "/a/d[last()]")]
    parts = DocumentPass([body], plan(queries, profile=profile([body])), 1, 1 << 20, DocumentLimits())
    assert sorted((part.chunk.kind, part.start) for part in parts) == [
        ("divided", 3),
        ("divided", 18),
        ("one", 0),
    ]
