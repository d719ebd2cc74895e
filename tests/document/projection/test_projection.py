"""Tests of projection: the definition on the tree, and the compiled projector against it."""

from __future__ import annotations

import random
from array import array
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.document.projection.documents import decided, generated, streamed
from twigcast.document import (
    Keep,
    PathDecisions,
    ProjectedPart,
    Projector,
    descendants,
    element_ranges,
    project,
    read,
)
from twigcast.errors import DocumentError


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from([1, 2, 7, 1 << 20]),
    st.sampled_from(["utf-8", "ISO-8859-1", "UTF-16"]),
    st.sampled_from([1, 100, 400]),
)
def test_projector_writes_what_the_definition_says(seed: int, step: int, encoding: str, part: int) -> None:
    """The same bytes and the same source maps, for any blocks, encoding and division."""
    body = generated(random.Random(seed), encoding=encoding)
    divided = [False, True, False]
    expected = project(read(body), decided(seed, divided), divided, part)
    found, error = streamed(body, decided(seed, divided), divided, part, step)
    assert error is None
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_parts_are_documents_and_their_maps_lead_to_equal_bytes(seed: int) -> None:
    """Each part is well-formed, and each element in it is where its map says."""
    body = generated(random.Random(seed))
    divided = [True, False]
    for part in chain.from_iterable(project(read(body), decided(seed, divided), divided, 1)):
        document = read(part.body)
        assert part.source_map.is_rising() or b"&e;" in body
        for element in descendants(document):
            start = part.source_map.start(element.start)
            assert body[start : start + 1] == part.body[element.start : element.start + 1]


def test_filter_nodes_are_tags_without_content() -> None:
    """Figure 8: ``c`` stays as a tag beside the whole ``d``."""
    keeps = {
        ("a",): Keep.ABOVE,
        ("a", "b"): Keep.ABOVE,
        ("a", "b", "c"): Keep.TAG,
        ("a", "b", "d"): Keep.TREE,
    }
    decisions = PathDecisions(lambda path: [keeps.get(tuple(local for _, local in path), Keep.DROP)])
    document = read(b"<a><b><c><x/></c><d><e/></d></b></a>")
    [[part]] = project(document, decisions, [False], 1)
    assert part.body == b"<a><b><c></c><d><e/></d></b></a>"


def test_names_of_closed_ancestors_are_in_the_encoding_of_the_document() -> None:
    """Trap 26: end tags that close a part early have the bytes of the start tag's name."""
    text = "<p:ä xmlns:p='u' x='1'><b>1</b><b>2</b></p:ä>"
    decisions = PathDecisions(lambda path: [Keep.TREE if len(path) == 2 else Keep.ABOVE])
    parts, error = streamed(text.encode("utf-16"), decisions, [True], 1, 5)
    assert error is None
    assert [part.body.decode("utf-16") for part in parts[0]] == [
        "<p:ä xmlns:p='u' x='1'><b>1</b></p:ä>",
        "<p:ä xmlns:p='u' x='1'><b>2</b></p:ä>",
    ]


@pytest.mark.parametrize("seed", range(6))
def test_a_document_that_breaks_off_leaves_well_formed_parts(seed: int) -> None:
    """At every offset: the error is that of ``read``, and what was whole before it is kept."""
    body = generated(random.Random(seed))[:900]
    divided = [False, True]
    decisions = decided(seed, divided)
    full = project(read(generated(random.Random(seed))), decided(seed, divided), divided, 1)
    for end in range(0, len(body), 3):
        found, error = streamed(body[:end], decisions, divided, 1, 1 << 20)
        with pytest.raises(DocumentError) as raised:
            read(body[:end])
        assert error == raised.value
        for part in chain.from_iterable(found):
            read(part.body)
        whole = [part for part in full[1] if part.source_map.end(part_end(part)) <= end]
        assert found[1][: len(whole)] == whole


def part_end(part: ProjectedPart) -> int:
    """The offset after the last byte of a part that was copied."""
    last = part.source_map.pairs()[-1][0]
    return max(last + 1, part.body.rindex(b"</") if part.body.count(b"</") else last + 1)


def test_a_broken_byte_is_reported_as_read_reports_it() -> None:
    """A byte that is no character, at every offset of a small document."""
    body = b"<a><b x='1'>t</b><c/><!-- c --></a>"
    decisions = PathDecisions(lambda path: [Keep.TREE if len(path) == 2 else Keep.ABOVE])
    for at in range(len(body)):
        broken = body[:at] + b"\xff" + body[at + 1 :]
        parts, error = streamed(broken, decisions, [True], 1, 1 << 20)
        with pytest.raises(DocumentError) as raised:
            read(broken)
        assert error == raised.value
        assert [read(part.body).root.local for part in parts[0]] in (["a"], ["a", "a"], [])


def test_names_that_occur_are_reported_with_the_states_of_their_parents() -> None:
    """Also below subtrees that are dropped or copied; with the offset at which they occur first."""
    decisions = PathDecisions(lambda path: [Keep.TREE if len(path) == 2 else Keep.ABOVE])
    projector = Projector(decisions, [True])
    projector.feed(b"<a><b><c/></b><b><c/></b></a>")
    steps = projector.finish().steps
    assert [(name, at) for _, name, at in steps] == [(("", "a"), 0), (("", "b"), 3), (("", "c"), 6)]


def test_an_error_of_a_decision_is_raised() -> None:
    """The pass does not hide an exception of the caller's own code."""
    projector = Projector(PathDecisions(lambda path: [Keep.TAG]), [True])
    with pytest.raises(ValueError, match="divided"):
        projector.feed(b"<a/>")


def test_limits_are_those_of_read() -> None:
    """Depth and attributes are limited; external entities are not read."""
    decisions = PathDecisions(lambda path: [Keep.ABOVE])
    external = b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///dev/null">]><a>&x;</a>'
    for body in (b"<a>" * 2000, b"<a " + b" ".join(b"a%d=''" % n for n in range(1001)) + b"/>", external):
        _, error = streamed(body, decisions, [False], 1, 1 << 20)
        with pytest.raises(DocumentError) as raised:
            read(body)
        assert error == raised.value


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from(["utf-8", "ISO-8859-1", "UTF-16"]))
def test_ranges_of_elements_are_those_of_the_tree(seed: int, encoding: str) -> None:
    """In document order; an element of an entity has the range of the reference."""
    body = generated(random.Random(seed), encoding=encoding)
    flat = array("Q", element_ranges(body))
    found = list(zip(flat[::2], flat[1::2], strict=True))
    assert found == [(element.start, element.end) for element in descendants(read(body))]
    with pytest.raises(ValueError, match="well-formed"):
        element_ranges(body[:-20])
