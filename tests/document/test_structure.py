"""The structure of a document: what it keeps, its bytes, and bytes that are none."""

from __future__ import annotations

from random import Random
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import documents
from twigcast.document import DocumentLimits, NameTable, Shape, Structure, descendants, read
from twigcast.errors import StructureError

SETTINGS = settings(deadline=None, max_examples=60)
TABLES = (None, NameTable(()), NameTable((("", "a"), ("urn:p", "b"), ("", "unused"))))


def structure(text: str) -> Structure:
    return Structure.of(read(text.encode()))


def sealed(content: bytes) -> bytes:
    """The content of an encoding with its checksum."""
    return content + crc32(content).to_bytes(4, "little")


def encoding(elements: int, shapes: bytes, count: int, names: bytes = b"\x01\x01a") -> bytes:
    """An encoding without a table, attributes, or a check of anything."""
    out = bytearray([1, 0])
    for number in (elements, 0):
        while number >= 0x80:
            out.append(number & 0x7F | 0x80)
            number >>= 7
        out.append(number)
    return sealed(bytes(out) + names + bytes([count]) + shapes)


def test_equal_siblings_have_one_shape() -> None:
    """The example of the module."""
    found = structure("<r><a><b/></a><a><b/></a><a/></r>")
    assert found.shapes == (
        Shape(("", "b"), ()),
        Shape(("", "a"), (0,)),
        Shape(("", "a"), ()),
        Shape(("", "r"), (1, 2)),
    )
    assert (found.elements, found.depth, found.attributes, found.tree_size) == (6, 3, 0, 4)


def test_order_and_number_of_siblings_do_not_count() -> None:
    """Only which shapes stand below an element does; text, comments and values do not count either."""
    one = structure("<r><a/><b/></r>")
    other = structure("<r>x<a/><!--c--><b y='1'/><a>5</a></r>")
    assert one.shapes == other.shapes
    assert (other.elements, other.attributes) == (4, 1)


def test_a_shape_stands_below_each_of_its_parents() -> None:
    """The tree that the shapes stand for is larger than the number of shapes."""
    assert structure("<r><a><b/></a><c><b/></c></r>").tree_size == 5
    assert len(structure("<r><a><b/></a><c><b/></c></r>").shapes) == 4


def test_attribute_names_are_recorded_on_demand() -> None:
    """Then elements with different attributes have different shapes; names are in order."""
    document = read(b"<r xmlns:p='urn:p'><a y='1' x='2' p:a=''/><a/></r>")
    assert len(Structure.of(document).shapes) == 2
    recorded = Structure.of(document, "names")
    assert recorded.shapes[0] == Shape(("", "a"), (), (("", "x"), ("", "y"), ("urn:p", "a")))
    assert len(recorded.shapes) == 3
    assert Structure.decode(recorded.encode()) == recorded


def test_deep_documents_need_no_recursion() -> None:
    """A document as deep as the limits allow has a structure."""
    found = structure("<a>" * 1000 + "</a>" * 1000)
    assert found.depth == len(found.shapes) == 1000
    assert Structure.decode(found.encode()) == found


@SETTINGS
@given(documents(), st.sampled_from(TABLES), st.sampled_from(["count", "names"]))
def test_decoding_gives_what_was_encoded(body: bytes, table: NameTable | None, detail: str) -> None:
    """With and without a table of names, which may lack names or have others."""
    found = Structure.of(read(body), detail)  # type: ignore[arg-type]
    data = found.encode(table)
    assert Structure.decode(data, table) == found
    assert Structure.decode(data, table).encode(table) == data


@SETTINGS
@given(documents())
def test_the_figures_are_those_of_the_document(body: bytes) -> None:
    """Merging does not change the depth, and never makes a tree larger."""
    document = read(body)
    found = Structure.of(document)
    assert found.elements == sum(1 for _ in descendants(document)) >= found.tree_size >= len(found.shapes)
    assert found.attributes == max(len(each.attributes) for each in descendants(document))


def test_a_table_saves_the_names() -> None:
    """Names of the table are numbers; names that it lacks are written."""
    found = structure("<nitf><headline/><byline/></nitf>")
    table = NameTable((("", "nitf"), ("", "headline")))
    data = found.encode(table)
    assert b"headline" not in data
    assert b"byline" in data
    assert b"headline" in found.encode()


def test_a_table_is_known_by_its_names() -> None:
    """Tables with the same names in the same order have the same id, and no others."""
    names = (("", "a"), ("", "b"))
    assert NameTable(names).id == NameTable(tuple(names)).id != NameTable(names[::-1]).id
    assert NameTable(names) == NameTable(tuple(names))
    assert len(NameTable(names).id) == 8
    assert len({NameTable(names), NameTable(tuple(names)), NameTable(names[::-1])}) == 2


@pytest.mark.parametrize("names", [(("", "a"), ("", "a")), (("", ""),), (("", "a{"),), (("", "a\f"),)])
def test_a_table_has_names_only_and_each_once(names: tuple[tuple[str, str], ...]) -> None:
    """A wrong table is noticed when it is made."""
    with pytest.raises(ValueError, match="name"):
        NameTable(names)


@pytest.mark.parametrize("table", [None, NameTable((("", "b"),))])
def test_another_table_is_noticed(table: NameTable | None) -> None:
    """A structure that was written with a table cannot be read without it."""
    data = structure("<a/>").encode(NameTable((("", "a"),)))
    with pytest.raises(StructureError) as raised:
        Structure.decode(data, table)
    assert raised.value.code == "unknown-names"
    assert Structure.decode(structure("<a/>").encode(), table).elements == 1  # without one, any is fine


def test_every_truncated_or_altered_encoding_is_refused() -> None:
    """The checksum finds each changed byte and each missing one."""
    data = structure("<r xmlns='u'><a><b/></a><a/></r>").encode()
    for length in range(len(data)):
        with pytest.raises(StructureError):
            Structure.decode(data[:length])
    for at in range(len(data)):
        for change in (1, 0x80, 0xFF):
            altered = bytearray(data)
            altered[at] ^= change
            with pytest.raises(StructureError):
                Structure.decode(bytes(altered))
    with pytest.raises(StructureError):
        Structure.decode(data + b"\0")


@SETTINGS
@given(documents(), st.randoms(use_true_random=False))
def test_a_forged_encoding_is_refused_or_is_a_structure(body: bytes, random: Random) -> None:
    """A checksum can be forged; then the content is checked, and the invariants hold for what is accepted."""
    content = bytearray(Structure.of(read(body), random.choice(["count", "names"])).encode()[:-4])
    for _ in range(random.randint(1, 3)):
        at = random.randrange(2, len(content))
        content[at] = random.choice([0, 1, 2, 0x7F, 0x80, 0xFF, content[at] ^ 1])
    try:
        found = Structure.decode(sealed(bytes(content)))
    except StructureError:
        return
    assert found.encode() == sealed(bytes(content))
    assert found.tree_size <= found.elements
    assert len(set(found.shapes)) == len(found.shapes)
    assert {child for shape in found.shapes for child in shape.children} == set(range(len(found.shapes) - 1))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "truncated"),
        (b"\x02" + bytes(10), "format 2"),
        (sealed(b"\x01\x08\x01\x00"), "flags"),
        (encoding(1, b"", 0, b"\x00"), "no root element"),
        (encoding(2, b"\0\0\0\0", 2), "twice"),
        (encoding(3, b"\0\0\1\0\1\1\0", 3, b"\x02\x01a\x01b"), "no root element, or several"),
        (encoding(1, b"\0\1\0", 1), "before its parent"),
        (encoding(1, b"\1\0", 1), "name number"),
        (encoding(1, b"\0\0", 1, b"\x02\x01a\x01b"), "no shape uses"),
        (encoding(1, b"\0\0", 1, b"\x02\x01a\x01a"), "name twice"),
        (encoding(1, b"\0\0", 1, b"\x01\x00"), "none"),
        (encoding(1, b"\0\0", 1, b"\x01\x04Q{}a"), "none"),
        (encoding(1, b"\0\0", 1, b"\x01\x01\xff"), "none"),
        (encoding(1, b"\0\0", 1, b"\x01\x01\f"), "none"),
        (encoding(1, b"\0\0\0", 1), "after its end"),
        (encoding(1, b"\x80\x00\0", 1), "leading zero"),
        (encoding(1, b"\xff" * 9 + b"\0", 1), "large a number"),
        (encoding(1, b"\0\0", 100), "truncated"),
        (encoding(1, b"\0\0\0\1\0", 2), "larger tree"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, problem: str) -> None:
    """Each check has its sentence."""
    with pytest.raises(StructureError, match=problem) as raised:
        Structure.decode(data)
    assert raised.value.code == "structure"


def test_a_tree_of_two_to_the_n_elements_is_refused() -> None:
    """A few hundred bytes that describe a tree larger than memory are refused before it is expanded."""
    shapes = b"\0\0" + b"\0\1\0" + b"\0\2\0\0" * 120  # each has the two before it as children
    for elements in (122, 1 << 20, 1 << 26):
        with pytest.raises(StructureError, match="larger tree"):
            Structure.decode(encoding(elements, shapes, 122))


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (DocumentLimits(bytes=15), "4 elements"),
        (DocumentLimits(depth=2), "3 levels"),
        (DocumentLimits(attributes=1), "2 attributes"),
    ],
)
def test_trap_16_a_document_beyond_a_limit_is_refused_unread(limits: DocumentLimits, problem: str) -> None:
    """A router that reads only the structure applies its own limits to the figures of the document."""
    data = structure("<r><a x='1' y='2'><b/></a><a/></r>").encode()
    with pytest.raises(StructureError, match=problem) as raised:
        Structure.decode(data, limits=limits)
    assert raised.value.code == "limit"
    assert Structure.decode(data, limits=DocumentLimits(bytes=16, depth=3, attributes=2)).elements == 4


def test_entities_can_bring_in_more_elements_than_the_body_has_bytes() -> None:
    """The structure exists, but a receiver whose limit on bytes is that low refuses it."""
    many = "<!ENTITY x '<b/><b/><b/><b/><b/><b/><b/><b/>'>"
    body = f"<!DOCTYPE a [{many}]><a>&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;&x;</a>".encode()
    found = Structure.of(read(body))
    assert found.elements == 129 > len(body) // 4
    with pytest.raises(StructureError) as raised:
        Structure.decode(found.encode(), limits=DocumentLimits(bytes=len(body)))
    assert raised.value.code == "limit"
