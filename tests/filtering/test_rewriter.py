"""The kernel's rewriter: what it matches is what the evaluator finds on the rewritten tree."""

from __future__ import annotations

import random
import threading
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twigcast.filtering.kernel._kernel import Plan

from experiments.engines.routing.expression_automaton import expression_automaton
from experiments.engines.routing.path_expression import parse_path_expression
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.strategies import Case, random_case, random_pattern
from twigcast import DocumentLimits, Index, PatternError, Tuning
from twigcast.document import read
from twigcast.errors import DocumentError, MappingError
from twigcast.filtering.mediation.rewriting import Rewriting
from twigcast.pattern import Pattern, matches, parse
from twigcast.rewriting import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    Mapping,
    Operator,
    Rename,
    SchemaTree,
    ToElement,
    Upgrade,
)
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll, UpgradeAll
from twigcast.schema import read_dtd

SETTINGS = settings(deadline=None, max_examples=60)


def name(local: str) -> QName:
    return QName("", local)


def mapping(dtd: str, *operators: Operator) -> Mapping:
    return Mapping("m", SchemaTree.of(read_dtd(dtd.encode())), operators)


def tuning(source: random.Random) -> Tuning:
    return Tuning(
        cache_bytes=source.choice([512 << 20, 1 << 14, 1 << 10]),
        programs=source.random() < 0.8,
        memo=source.random() < 0.8,
        dead_places=source.random() < 0.5,
        shared_copies=source.random() < 0.5,
    )


def some_patterns(source: random.Random, count: int = 12) -> dict[int, Pattern]:
    found = {}
    for number in range(count):
        try:
            found[number] = parse(random_pattern(source).ours, namespaces=NAMESPACES)
        except PatternError:
            continue
    return found


def expected(case: Case, patterns: dict[int, Pattern]) -> list[int]:
    image = case.mapping.apply(read(case.body))
    return [number for number, each in patterns.items() if matches(each, image)]


# Every answer is that of the definition


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_the_kernel_matches_what_the_evaluator_finds_on_the_image(source: random.Random) -> None:
    """For all operators and the whole language, whatever is cached, also the second time."""
    case, patterns = random_case(source, 6), some_patterns(source)
    index = Index(patterns.items(), tuning=tuning(source))
    for _ in range(2):
        found = index.match(case.body, rewriting=case.mapping)
        assert found.ids == expected(case, patterns)
        assert found.strangers == case.mapping.apply(read(case.body)).strangers
        assert found.mapping == case.mapping.reference
    assert index.count(case.body, rewriting=case.mapping) == len(expected(case, patterns))


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_long_lists_of_operators(source: random.Random) -> None:
    """More stages than the kernel has bits for."""
    case, patterns = random_case(source, 90), some_patterns(source, 4)
    index = Index(patterns.items(), tuning=tuning(source))
    assert index.match(case.body, rewriting=case.mapping).ids == expected(case, patterns)


@settings(deadline=None, max_examples=25)
@given(st.randoms(use_true_random=False))
def test_batches_of_mixed_plans(source: random.Random) -> None:
    """Each document by its own mapping, with documents between them that are malformed or not rewritten."""
    cases = [random_case(source, 4) for _ in range(4)]
    mappings = [
        Mapping(f"m{number}", case.mapping.source, case.mapping.operators)
        for number, case in enumerate(cases)
    ]
    patterns = some_patterns(source)
    index = Index(patterns.items(), tuning=tuning(source))
    rows = [source.choice([*range(4), -1]) for _ in range(12)]
    bodies = [b"<a><b></a>" if row < 0 else cases[row].body for row in rows]
    which = ["m0" if row < 0 else f"m{row}" for row in rows]
    found = index.match_batch(bodies, mappings, which)
    for at, row in enumerate(rows):
        error = found.errors[at]
        if row < 0:
            assert error is not None
            assert error.code in ("malformed", "no-mapping")
        else:
            assert found.ids(at) == expected(cases[row], patterns)
            assert found.mappings[at] == mappings[row].reference
    plain = [index.match(body).ids if row >= 0 else [] for body, row in zip(bodies, rows, strict=True)]
    assert [each.as_py() or [] for each in index.match_batch(bodies).matches] == [
        [index.position(id) for id in ids] for ids in plain
    ]


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_copies_are_bounded_as_in_the_definition(source: random.Random) -> None:
    """A document is too large after rewriting for the kernel if and only if it is for the tree."""
    case = random_case(source, 8)
    limits = DocumentLimits(
        amplification=source.choice([0.5, 1.0, 2.0, 4.0]), amplification_threshold=source.randint(1, 3000)
    )
    index = Index([(0, "//*")], limits=limits)
    if index.match(case.body).error is not None:
        return  # its own entities are too large
    try:
        case.mapping.apply(read(case.body, limits), limits)
        code = None
    except DocumentError as error:
        code = error.code
    found = index.match(case.body, rewriting=case.mapping)
    assert (found.error and found.error.code) == code


# Single behaviours

BOOKS = """
<!ELEMENT books (article*)> <!ELEMENT article (#PCDATA|title|author|note)*>
<!ATTLIST article nr CDATA #IMPLIED lang CDATA #IMPLIED>
<!ELEMENT title (#PCDATA)> <!ELEMENT author (#PCDATA|name)*>
<!ELEMENT name (#PCDATA)> <!ELEMENT note (#PCDATA)>
"""


def ids(body: bytes, rewriting: Rewriting, *patterns: str) -> list[str]:
    return Index([(each, each) for each in patterns]).match(body, rewriting=rewriting).ids  # type: ignore[return-value]


def test_text_that_became_adjacent_is_one_node() -> None:
    """Unless a comment stands between."""
    upgrade = mapping(BOOKS, Upgrade("books/article", ("books/article/note",)))
    both = ["//article[text()='xy']", "//article[text()='x']"]
    assert ids(b"<books><article>x<note/>y</article></books>", upgrade, *both) == both[:1]
    assert ids(b"<books><article>x<note/><!---->y</article></books>", upgrade, *both) == both[1:]


def test_an_image_may_have_several_roots() -> None:
    """Each is a root for absolute paths, and a document has them all."""
    root = "<!ELEMENT article (author*)> <!ELEMENT author (#PCDATA)>"
    exchange = mapping(root, Exchange("article", "article/author"))
    patterns = ["/author[article]", "/author[.='b']", "/article", "/*[2]", "/*[3]", "count(/author) = 2"]
    body = b"<article><author>a</author><author>b</author></article>"
    assert ids(body, exchange, *patterns) == [patterns[0], patterns[1], patterns[3], patterns[5]]


def test_the_depth_limit_is_that_of_the_source() -> None:
    """A path that a mapping inserts does not make a document too deep."""
    path = tuple(name(f"p{number}") for number in range(20))
    insert = mapping(BOOKS, Insert("books/article", path, ("books/article/title",)))
    body = b"<books><article><title/></article></books>"
    index = Index([(0, "//p18/p19/title")], limits=DocumentLimits(depth=3))
    assert index.match(body, rewriting=insert).ids == [0]


def test_white_space_and_comments_are_content() -> None:
    """A path around all content is made if there is any, even if no pattern asks for text."""
    wrap = mapping(BOOKS, InsertAll("books/article", (name("content"),)))
    for inside, made in (
        (b"", []),
        (b" ", ["//content"]),
        (b"<!---->", ["//content"]),
        (b"<?p?>", ["//content"]),
    ):
        assert ids(b"<books><article>" + inside + b"</article></books>", wrap, "//content") == made


def test_text_that_is_kept_is_content_even_if_no_pattern_reads_it() -> None:
    """An element that waits for others is sent with its text, so that a path around its content is made."""
    dtd = "<!ELEMENT a (c)><!ELEMENT c (#PCDATA)>"
    waiting = mapping(dtd, Exchange("a", "a/c"), Hide("a"), InsertAll("a/c", (name("d"),)))
    index = Index([("d", "/c/d")])  # which needs no text
    assert index.match(b"<a><c>5</c></a>", rewriting=waiting).ids == ["d"]
    assert index.match(b"<a><c/></a>", rewriting=waiting).ids == []


def test_prefixes_of_the_image_are_those_of_the_source() -> None:
    """The function name() sees a prefix where the namespace has stayed the same."""
    dtd = '<!ELEMENT p:r (p:a)> <!ATTLIST p:r xmlns:p CDATA #FIXED "urn:p"> <!ELEMENT p:a EMPTY>'
    tree = SchemaTree.of(read_dtd(dtd.encode()))
    rename = Mapping(
        "m", tree, (Rename("Q{urn:p}r/Q{urn:p}a", QName("urn:p", "b")), Rename("Q{urn:p}r", name("r")))
    )
    body = b"<x:r xmlns:x='urn:p'><x:a/></x:r>"
    patterns = ["//*[name() = 'x:b']", "/*[name() = 'r']", "//*[name() = 'x:a']"]
    assert ids(body, rename, *patterns) == patterns[:2]


def test_a_document_with_namespaces_is_read_again_with_its_plan() -> None:
    """The parse that is started again at the first prefix uses the same mapping."""
    to_element = mapping(BOOKS, ToElement("books/article/@nr", name("number")))
    body = b"<books><article nr='7'/><article xmlns:x='urn:x' x:y='' nr='8'/></books>"
    assert ids(body, to_element, "//number[.='7']", "//number[.='8']", "//@nr") == [
        "//number[.='7']",
        "//number[.='8']",
    ]


def test_a_schema_in_the_index_describes_the_image() -> None:
    """A conformance automaton sees the events that the patterns see."""
    schema = expression_automaton([parse_path_expression("/books/paper/title")])
    index = Index([("schema", schema)])
    body = b"<books><article><title/></article></books>"
    assert index.match(body).ids == []
    assert index.match(body, rewriting=mapping(BOOKS, Rename("books/article", name("paper")))).ids == [
        "schema"
    ]


def test_bytes_that_are_kept_are_counted() -> None:
    """What an operator keeps until the end of an element, not what passes through."""
    insert = mapping(BOOKS, Insert("books/article", (name("by"),), ("books/article/author",)))
    body = b"<books>" + b"<article><title>long title</title><author>abc</author></article>" * 50 + b"</books>"
    index = Index([(0, "//by[. = 'abc']")])
    assert index.match(body, rewriting=insert).cached_bytes == len("author") + len("abc")
    assert index.match(body, rewriting=mapping(BOOKS, Hide("books/article/note"))).cached_bytes == 0


def test_an_explosive_copy_is_refused() -> None:
    """Before memory is taken for it."""
    exchange = mapping(BOOKS, Exchange("books/article", "books/article/author"))
    body = b"<books><article>" + b"x" * 100_000 + b"<author/>" * 10_000 + b"</article></books>"
    found = Index([(0, "//article")]).match(body, rewriting=exchange)
    assert found.error is not None
    assert found.error.code == "rewriting-expansion"


def test_a_malformed_document_is_malformed_whatever_its_mapping() -> None:
    """Even if it has no mapping, or copies too much before the fault."""
    exchange = mapping(BOOKS, Exchange("books/article", "books/article/author"))
    body = b"<books><article>" + b"x" * 100_000 + b"<author/>" * 10_000 + b"</article>"
    index = Index([(0, "//article")])
    for each in (body, b"<other><a></other>"):
        error = index.match(each, rewriting=exchange).error
        assert error is not None
        assert error.code in ("malformed", "truncated")


def test_threads_share_an_index_and_its_mappings() -> None:
    """Each thread has an engine of its own, with its own state of the rewriting."""
    cases = [random_case(random.Random(seed), 5) for seed in range(6)]
    patterns = some_patterns(random.Random(1))
    index = Index(patterns.items())
    wrong: list[int] = []

    def work(seed: int) -> None:
        source = random.Random(seed)
        for _ in range(60):
            case = source.choice(cases)
            if index.match(case.body, rewriting=case.mapping).ids != answers[id(case)]:
                wrong.append(seed)

    answers = {id(case): expected(case, patterns) for case in cases}
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# Plans that no mapping made


class Forged:
    """A mapping with a plan of its own."""

    def __init__(self, plan: bytes, number: int, original: Mapping) -> None:
        self.name = self.reference = f"forged {number}"
        self.plan, self.root, self.apply = plan, original.root, original.apply


def test_bytes_that_are_no_plan_are_refused() -> None:
    """With what is wrong with them."""
    plan = mapping(BOOKS, UpgradeAll("books/article")).plan
    for data, problem in (
        (b"", "shorter"),
        (b"x" * 100, "not a plan"),
        (plan[:-4], "another size"),
        (plan + b"\0\0\0\0", "another size"),
        (plan[:8] + b"\x09" + plan[9:], "version"),
    ):
        with pytest.raises(ValueError, match=problem):
            Plan(data)


def test_altered_plans_are_refused_or_harmless() -> None:
    """Whatever words are changed: no crash, and no endless document."""
    source = random.Random(7)
    index = Index([(0, "//*[a]/b"), (1, "//a[. = 'x']"), (2, "//b[1]")])
    refused = used = 0
    for number in range(1500):
        case = random_case(source, 6)
        words = array("I", case.mapping.plan)
        for _ in range(source.choice([1, 1, 2, 5])):
            at = source.randrange(2, len(words))
            words[at] = source.choice([0, 1, 2, 5, words[at] ^ 1, words[at] + 1 & 0xFFFFFFFF, 0xFFFFFFFF])
        forged = Forged(words.tobytes(), number, case.mapping)
        try:
            index.match(case.body, rewriting=forged)
            used += 1
        except MappingError:
            refused += 1
    assert refused > 300
    assert used > 300


def test_operators_that_name_each_other_in_a_circle_are_bounded() -> None:
    """A forged plan in which stages feed each other makes no more than a mapping could."""
    downgrade = mapping(
        BOOKS,
        *[Downgrade("books/article", ("books/article/title",), "books/article/author")],
        *[InsertAll("books/article", (name("p"),)) for _ in range(40)],
    )
    words = array("I", downgrade.plan)
    nodes = words[3]
    source = random.Random(3)
    body = b"<books>" + b"<article><title/><author/></article>" * 20 + b"</books>"
    index = Index([(0, "//*")])
    for number in range(300):
        forged = array("I", words)
        for at in range(2 + 11 + 6 * nodes, len(forged) - 20):
            if forged[at] < nodes and source.random() < 0.2:
                forged[at] = source.randrange(nodes)
        try:
            index.match(body, rewriting=Forged(forged.tobytes(), number, downgrade))
        except MappingError:
            continue
