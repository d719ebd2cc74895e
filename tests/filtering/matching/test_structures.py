"""Structures in the kernel: written as defined, and matched without a wrong answer."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random
from zlib import crc32

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.expression_automaton import expression_automaton
from experiments.engines.routing.path_expression import parse_path_expression
from tests.pattern.strategies import NAMESPACES, document, general_pattern, pattern
from tests.rewriting.strategies import random_case
from twigcast import DocumentLimits, Index, Tuning
from twigcast.document import AttributeDetail, NameTable, Structure, elements, read
from twigcast.errors import DocumentError, PatternError, StructureError
from twigcast.pattern import Pattern, matches, parse

SETTINGS = settings(deadline=None, max_examples=60)
TABLES = (None, None, NameTable(()), NameTable((("", "a"), ("urn:p", "b"), ("", "unused"))))
SOURCES = st.randoms(use_true_random=False)


def some_patterns(source: Random, count: int = 20) -> dict[int, Pattern]:
    found: dict[int, Pattern] = {}
    while len(found) < count:
        texts = (pattern(source).ours, general_pattern(source).ours, structural(source))
        try:
            found[len(found)] = parse(source.choice([texts[0], *texts]), NAMESPACES)
        except PatternError:
            continue
    return found


def structural(source: Random, depth: int = 2) -> str:
    """A pattern of names, axes, wildcards, nested paths, and, or, not and unions."""
    paths = [
        "".join([source.choice(["/", "//"]) + _step(source, depth) for _ in range(source.randint(1, 3))])
        for _ in range(source.choice([1, 1, 1, 2]))
    ]
    return " | ".join(paths)


def _step(source: Random, depth: int) -> str:
    name = source.choice(["a", "b", "c", "é", "*", "p:a", "p:*", "*:b", "Q{urn:q}c"])
    conditions = [f"[{_condition(source, depth - 1)}]" for _ in range(source.choice([0, 0, 1, 2])) if depth]
    return name + "".join(conditions)


def _condition(source: Random, depth: int) -> str:
    kind = source.randint(0, 5)
    if kind == 0:
        return f"not({_condition(source, depth)})"
    if kind == 1:
        word = source.choice(["and", "or"])
        return f"({_condition(source, depth)}) {word} ({_condition(source, depth)})"
    more = "".join(
        [source.choice(["/", "//"]) + _step(source, depth) for _ in range(source.choice([0, 0, 1]))]
    )
    return source.choice(["", "", ".//"]) + _step(source, depth) + more


def tuning(source: Random) -> Tuning:
    return Tuning(
        cache_bytes=source.choice([512 << 20, 1 << 14, 1 << 10]),
        programs=source.random() < 0.8,
        memo=source.random() < 0.8,
        dead_places=source.random() < 0.5,
        shared_copies=source.random() < 0.5,
    )


def unordered(structure: Structure) -> object:
    """The root element as nested sets, which do not depend on the order of siblings."""
    made: list[object] = []
    for shape in structure.shapes:
        made.append((shape.name, shape.attributes, frozenset(made[child] for child in shape.children)))
    return made[-1]


def sealed(content: bytes) -> bytes:
    return content + crc32(content).to_bytes(4, "little")


# Written as defined


@SETTINGS
@given(SOURCES)
def test_the_kernel_writes_the_structure_of_the_definition(source: Random) -> None:
    """Byte by byte, whatever was read before, with names and attributes or without, matching or not."""
    index = Index(some_patterns(source, 5).items(), tuning=tuning(source))
    for _ in range(4):
        body = document(source)
        table = source.choice(TABLES)
        detail: AttributeDetail = source.choice(["count", "names"])
        expected = Structure.of(read(body), detail)
        assert index.structure(body, table, detail) == expected.encode(table)
        found = index.match_with_structure(body, table, detail)
        assert found.structure == expected.encode(table)
        assert found.figures == (expected.elements, expected.depth, expected.attributes)
        plain = index.match(body)
        assert (plain.ids, plain.figures, plain.structure) == (found.ids, found.figures, None)


@SETTINGS
@given(SOURCES)
def test_the_structure_of_a_rewritten_document_is_that_of_its_image(source: Random) -> None:
    """Also of places that no pattern sees, and of elements that are copied into several parents.

    The order of siblings, by which shapes are numbered, is left to the tests of the rewriter.
    """
    case, patterns = random_case(source, 6), some_patterns(source, 8)
    index = Index(patterns.items(), tuning=tuning(source))
    image = case.mapping.apply(read(case.body))
    detail: AttributeDetail = source.choice(["count", "names"])
    before = index.match(case.body, rewriting=case.mapping)
    found = index.match_with_structure(case.body, attributes=detail, rewriting=case.mapping)
    assert found.ids == before.ids == index.match(case.body, rewriting=case.mapping).ids
    if len(list(elements(image))) != 1:
        assert found.structure is None
        for no_structure in (
            lambda: Structure.of(image),
            lambda: index.structure(case.body, rewriting=case.mapping),
        ):
            with pytest.raises(StructureError, match="several root elements"):
                no_structure()
        return
    expected = Structure.of(image, detail)
    assert found.structure is not None
    assert index.structure(case.body, attributes=detail, rewriting=case.mapping) == found.structure
    written = Structure.decode(found.structure)
    assert unordered(written) == unordered(expected)
    assert (written.elements, written.attributes) == (expected.elements, expected.attributes)
    told = index.match_structure(found.structure)
    assert set(told.ids) <= set(found.ids) <= {*told.ids, *told.open_ids}


def test_a_malformed_document_has_no_structure() -> None:
    """The error is that of the document."""
    index = Index([("a", "//a")])
    with pytest.raises(DocumentError, match="mismatched tag"):
        index.structure(b"<a><b></a>")
    found = index.match_with_structure(b"<a><b></a>")
    assert found.structure is None
    assert found.error is not None
    assert found.figures == (0, 0, 0)


def test_a_structure_beyond_a_limit_is_not_written() -> None:
    """With more elements than the limit on bytes lets a document have, it would be refused elsewhere."""
    many = "<!ENTITY x '<b/><b/><b/><b/><b/><b/><b/><b/>'>"
    body = f"<!DOCTYPE a [{many}]><a>&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;</a>".encode()
    index = Index([("b", "//b")], limits=DocumentLimits(bytes=len(body)))
    found = index.match_with_structure(body)
    assert (found.ids, found.structure) == (["b"], None)
    with pytest.raises(StructureError) as raised:
        index.structure(body)
    assert raised.value.code == "no-structure"


def test_a_document_without_equal_siblings_has_no_large_structure() -> None:
    """The kernel gives up when the encoding must become larger than it may be, and goes on matching."""
    parts = [f"<a><n{i}><b/></n{i}></a>" for i in range(400_000)]
    body = ("<r>" + "".join(parts) + "</r>").encode()
    found = Index([("b", "//b")]).match_with_structure(body)
    assert (found.ids, found.structure) == (["b"], None)
    small = Index([("b", "//b")]).match_with_structure(("<r>" + "".join(parts[:1000]) + "</r>").encode())
    assert small.structure is not None


def test_an_option_is_checked() -> None:
    """Attributes are counted, or their names recorded."""
    with pytest.raises(ValueError, match="'count' or 'names'"):
        Index([]).structure(b"<a/>", attributes="all")  # type: ignore[arg-type]


# Matched without a wrong answer


@SETTINGS
@given(SOURCES)
def test_what_a_structure_tells_is_true(source: Random) -> None:
    """A certain subscription matches, and one that is neither certain nor open does not.

    For the whole language, several segments, removed subscriptions, and whatever is cached.
    """
    patterns = some_patterns(source)
    cut = source.randint(0, len(patterns))
    index = Index(list(patterns.items())[:cut], tuning=tuning(source))
    index.add_all(list(patterns.items())[cut:])
    removed = source.sample(range(len(patterns)), 3)
    for number in removed:
        index.remove(number)
    for _ in range(4):
        body = document(source)
        table = source.choice(TABLES)
        structure = index.structure(body, table, source.choice(["count", "names"]))
        told = index.match_structure(structure, table)
        assert told.error is None
        tree = read(body)
        expected = {
            number for number, each in patterns.items() if number not in removed and matches(each, tree)
        }
        assert set(told.ids) <= expected <= {*told.ids, *told.open_ids}
        assert not {*told.ids, *told.open_ids} & set(removed)
        assert not set(told.ids) & set(told.open_ids)


@SETTINGS
@given(SOURCES)
def test_structural_patterns_are_decided(source: Random) -> None:
    """Patterns of names, axes, wildcards, nested paths, and, or, not and unions are never left open.

    They stand beside others in one index.
    """
    patterns = {f"s{number}": structural(source) for number in range(12)}
    others = {f"o{number}": each for number, each in some_patterns(source, 4).items()}
    index = Index([*patterns.items(), *others.items()], namespaces=NAMESPACES, tuning=tuning(source))
    for _ in range(4):
        body = document(source)
        told = index.match_structure(index.structure(body))
        decided = [id for id in told.ids if id in patterns]
        assert decided == [id for id in index.match(body).ids if id in patterns]
        assert not set(told.open_ids) & set(patterns)


@pytest.mark.parametrize(
    ("text", "body", "told"),
    [
        ("//a[b]", "<r><a><b/></a></r>", "yes"),
        ("//a[not(b)]", "<r><a><b/></a></r>", "no"),
        ("//a[@x='1']", "<r><a/></r>", "open"),
        ("//a[@x='1']", "<r><b/></r>", "no"),
        ("//a[not(@x='1')]", "<r><a x='1'/></r>", "open"),
        ("//a[not(@x='1')]", "<r/>", "no"),
        ("//a[b[@x='1']]", "<r><a><b/></a></r>", "open"),
        ("//a[b[@x='1']]", "<r><a/></r>", "no"),
        ("//a[not(b[@x='1'])]", "<r><a><b/></a></r>", "open"),  # the negation of what is possible
        ("//a[not(b[@x='1']) and c]", "<r><a><b/></a></r>", "no"),
        ("//a[not(b[c[.='1']])]", "<r><a><b><c/></b></a></r>", "open"),
        ("//a[not(b[not(c='1')])]", "<r><a><b><c/></b></a></r>", "open"),
        ("//a[.='x' or b]", "<r><a><b/></a></r>", "open"),
        ("//a[text()]", "<r><a/></r>", "open"),
        ("//a | //b[@x='1']", "<r><b/></r>", "open"),
        ("//a/@x", "<r><a/></r>", "open"),
        ("/*[count(a) > 1]", "<r><a/></r>", "open"),
        ("/*[count(a) > 0]", "<r><a/></r>", "yes"),
    ],
)
def test_what_a_structure_tells(text: str, body: str, told: str) -> None:
    """Every value test, negated or not, is possible; the names and places around it are decided."""
    index = Index([("it", text)])
    found = index.match_structure(index.structure(body.encode()))
    assert (found.ids, found.open_ids) == {
        "yes": (["it"], []),
        "no": ([], []),
        "open": ([], ["it"]),
    }[told]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("//a[@x]", "yes"),
        ("//a[@y]", "no"),
        ("//b[not(@x)]", "yes"),
        ("//a[not(@x)]", "no"),
        ("//a[b/@y]", "yes"),
        ("//a/@*", "yes"),
        ("//a[not(b[@x])]", "yes"),
        ("//a[@x='1']", "open"),
        ("//a[@y='1']", "open"),
        ("//a[@x and @x='1']", "open"),
        ("//a[not(@x) and @x='1']", "no"),
    ],
)
def test_the_existence_of_attributes_is_decided_if_their_names_are_there(text: str, told: str) -> None:
    """Without the names these are open; both kinds of structures can be matched in turn."""
    index = Index([("it", text)])
    body = b"<r><a x='1'><b y='2'/></a></r>"
    found = index.match_structure(index.structure(body, attributes="names"))
    assert (found.ids, found.open_ids) == {
        "yes": (["it"], []),
        "no": ([], []),
        "open": ([], ["it"]),
    }[told]
    assert index.match_structure(index.structure(body)).open_ids == ["it"]


def test_schemas_are_decided() -> None:
    """Conformance depends on label paths only, which a structure keeps."""
    index = Index([("value", "//b[@x='1']")])
    index.add("schema", expression_automaton([parse_path_expression("/a/b/c")]))
    for body, expected in ((b"<a><b><c/></b><b/></a>", ["schema"]), (b"<a><b/><c/></a>", [])):
        assert index.match_structure(index.structure(body)).ids == expected


def test_an_empty_index_matches_nothing() -> None:
    """A router without subscriptions can still check a structure."""
    index = Index([])
    found = index.match_structure(index.structure(b"<a><b/></a>"))
    assert (found.ids, found.open_ids, found.error, len(found)) == ([], [], None, 0)


def test_after_save_and_open(tmp_path: Path) -> None:
    """What is certain and what is open does not change with the file, nor with later changes."""
    texts = {"s": "//a[b]", "v": "//a[@x='1']", "i": "//a[b][2]", "n": "//zz", "w": "//b[not(@y='2')]"}
    index = Index(texts.items())
    structure = index.structure(b"<r><a x='1'><b/></a></r>")
    index.save(tmp_path / "index")
    opened = Index.open(tmp_path / "index")
    assert opened.match_structure(structure).ids == index.match_structure(structure).ids == ["s"]
    assert opened.match_structure(structure).open_ids == ["v", "i", "w"]
    opened.add("later", "//b")
    opened.add("valued", "//b[@z]")
    opened.remove("v")
    assert opened.match_structure(structure).ids == ["s", "later"]
    assert opened.match_structure(structure).open_ids == ["i", "w", "valued"]


def test_structures_of_many_documents(tmp_path: Path) -> None:
    """A batch has the answer of each, a null for a null, and an error for bytes that are no structure."""
    index = Index([("s", "//a[b]"), ("v", "//a[@x='1']")])
    bodies = [b"<r><a><b/></a></r>", b"<r><a/></r>", b"<r/>"]
    structures = [index.structure(body) for body in bodies]
    rows = [*structures, None, b"nothing", index.structure(bodies[0], attributes="names")]
    for batch in (rows, pa.array(rows, pa.large_binary()), pa.chunked_array([pa.array(rows, pa.binary())])):
        found = index.match_structures(batch)
        assert found.matches.to_pylist() == [[0], [], [], None, None, [0]]
        assert found.open.to_pylist() == [[1], [1], [], None, None, [1]]
        assert [error is None for error in found.errors] == [True, True, True, True, False, True]
        assert (found.ids(0), found.open_ids(1), len(found)) == (["s"], ["v"], 6)
        with pytest.raises(StructureError):
            found.ids(4)
    assert index.match_structures(pa.array([], pa.binary())).matches.to_pylist() == []


def test_an_error_is_raised_where_ids_are_asked_for() -> None:
    """Nothing is known then: neither that a subscription matches, nor that it does not."""
    index = Index([("a", "//a")])
    found = index.match_structure(b"nothing at all")
    assert isinstance(found.error, StructureError)
    assert (list(found.positions), list(found.open)) == ([], [])
    with pytest.raises(StructureError):
        _ = found.ids
    with pytest.raises(StructureError):
        _ = found.open_ids


# Traps


def test_trap_21_a_structure_is_that_of_the_events() -> None:
    """Entities, default attributes and namespaces are not in the bytes of the tags."""
    dtd = "<!ENTITY e '<p:b><c/></p:b>'><!ATTLIST a xmlns:p CDATA 'urn:p' x CDATA '1'>"
    body = f"<!DOCTYPE a [{dtd}]><a>&e;</a>".encode()
    index = Index([("b", "/a/Q{urn:p}b[c]"), ("x", "/a[@x]"), ("plain", "//b")])
    told = index.match_structure(index.structure(body, attributes="names"))
    assert told.ids == index.match(body).ids == ["b", "x"]
    tags = body[body.index(b"]>") + 2 :]  # what a scanner of tags would see
    assert Structure.of(read(tags.replace(b"&e;", b""))).shapes != Structure.of(read(body)).shapes
    assert index.match_with_structure(body).figures == (3, 3, 1)


def test_trap_22_counts_and_positions_are_open() -> None:
    """Equal siblings are merged, so a structure has too few of them, but a document with more may match."""
    texts = {"count": "//r[count(a) = 3]", "position": "//a[3]", "first": "//r[starts-with(a, '5')]"}
    index = Index([*texts.items(), ("none", "//r[count(zz) = 3]")])
    body = b"<r><a>5</a><a/><a/></r>"
    merged = b"<r><a/></r>"  # the tree that the structure stands for
    assert Structure.of(read(merged)).shapes == Structure.of(read(body)).shapes
    assert index.match(merged).ids == []  # so to match the merged tree would be wrong
    told = index.match_structure(index.structure(body))
    assert (told.ids, told.open_ids) == ([], list(texts))
    assert index.match(body).ids == list(texts)


def test_trap_22_label_paths_are_not_enough() -> None:
    """Both documents have the same label paths; only one matches, and the structures differ."""
    index = Index([("twig", "//p[a]/b")])
    apart, together = b"<r><p><a/></p><p><b/></p></r>", b"<r><p><a/><b/></p></r>"
    assert index.match_structure(index.structure(apart)).ids == []
    assert index.match_structure(index.structure(together)).ids == ["twig"]


# Bytes that are not trusted


def refusal(data: bytes, table: NameTable | None, limits: DocumentLimits) -> str | None:
    try:
        Structure.decode(data, table, limits)
    except StructureError as error:
        return error.code
    return None


@SETTINGS
@given(SOURCES)
def test_both_decoders_refuse_the_same(source: Random) -> None:
    """With a forged checksum, the kernel refuses what ``Structure.decode`` refuses, with the same code."""
    table = source.choice(TABLES)
    limits = source.choice([DocumentLimits(), DocumentLimits(bytes=64, depth=3, attributes=1)])
    index = Index([("a", "//a[b]"), ("v", "//b[@x]")], limits=limits)
    for _ in range(4):
        detail: AttributeDetail = source.choice(["count", "names"])
        content = bytearray(Structure.of(read(document(source, 2)), detail).encode(table)[:-4])
        for _ in range(source.randint(0, 3)):
            at = source.randrange(len(content))
            if source.random() < 0.2:
                del content[at:]
            else:
                content[at : at + source.randint(0, 1)] = source.choice(
                    [b"\0", b"\1", b"\2", b"\x7f", b"\x80", b"\xff", b"\f", b"{", b"\xef\xbf\xbe", b""]
                )
            if not content:
                break
        data = sealed(bytes(content))
        error = index.match_structure(data, table).error
        assert (error.code if error else None) == refusal(data, table, limits)


def test_every_altered_byte_is_noticed() -> None:
    """By the checksum; a truncated structure, too."""
    index = Index([("a", "//a[b]")])
    data = index.structure(b"<r xmlns='u'><a><b/></a><a/></r>")
    for at in range(len(data)):
        altered = bytearray(data)
        altered[at] ^= 1 + at % 255
        assert index.match_structure(bytes(altered)).error is not None
        assert index.match_structure(data[:at]).error is not None
    assert index.match_structure(data).error is None


def test_a_table_must_be_the_one_that_was_used() -> None:
    """Else numbers would stand for other names."""
    first, other = NameTable((("", "a"), ("", "b"))), NameTable((("", "b"), ("", "a")))
    index = Index([("a", "//a[b]")])
    data = index.structure(b"<a><b/></a>", first)
    assert index.match_structure(data, first).ids == ["a"]
    for wrong in (None, other):
        error = index.match_structure(data, wrong).error
        assert error is not None
        assert error.code == "unknown-names"


def hostile(shapes: int, elements: int) -> bytes:
    """A structure in which each shape has the two before it as children."""
    number, stated = elements, bytearray()
    while number >= 0x80:
        stated.append(number & 0x7F | 0x80)
        number >>= 7
    stated.append(number)
    body = b"\0\0" + b"\0\1\0" + b"\0\2\0\0" * (shapes - 2)
    return sealed(b"\x01\x00" + bytes(stated) + b"\0\x01\x01a" + bytes([shapes]) + body)


def test_a_tree_of_two_to_the_n_elements_is_refused() -> None:
    """Before it is expanded."""
    index = Index([("a", "//a//zz")])
    error = index.match_structure(hostile(120, 1 << 26)).error
    assert error is not None
    assert "larger tree" in error.message


def test_the_work_on_a_structure_is_limited() -> None:
    """Of a tree that is far larger than its encoding; what no pattern sees costs nothing."""
    limits = DocumentLimits(matching_work_threshold=1 << 20)
    data = hostile(36, 1 << 26)  # 40 million elements in 150 bytes
    began = time.thread_time()
    error = Index([("a", "//a//zz")], limits=limits).match_structure(data).error
    assert error is not None
    assert error.code == "too-costly"
    assert Index([("a", "/b/c")], limits=limits).match_structure(data).error is None
    assert time.thread_time() - began < 5


def test_an_engine_is_usable_after_a_refusal() -> None:
    """A structure that was given up halfway leaves nothing behind."""
    index = Index([("a", "//a[b]")], limits=DocumentLimits(matching_work_threshold=1 << 12))
    good = index.structure(b"<r><a><b/></a></r>")
    for _ in range(3):
        assert index.match_structure(hostile(30, 1 << 26)).error is not None
        assert index.match_structure(good).ids == ["a"]
        assert index.match(b"<r><a><b/></a></r>").ids == ["a"]
