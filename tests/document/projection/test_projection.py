"""Tests of projection: the definition on the tree, and the compiled projector against it."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from itertools import chain, count, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.document.projection.documents import ENCODINGS, decided, generated, streamed
from tests.oracles.naive_projection import ProjectedPart, project
from tests.oracles.path_decisions import PathDecisions
from twigcast.document import Document, Element, Keep, Projector, descendants, element_ranges, elements, read
from twigcast.errors import DocumentError


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 1 << 32),
    st.sampled_from([1, 2, 7, 1 << 20]),
    st.sampled_from(ENCODINGS),
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
        pairs = pairwise(part.source_map.pairs())
        assert all(a < b and c < d for (a, c), (b, d) in pairs) or b"&e;" in body
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


BREAKS = [b"", b"\xff", b"<", b"&", b"\0", b"</b>", b"<b>"]


def broken(body: bytes, at: int, kind: int) -> bytes:
    """A document that ends at an offset, or that has something there that does not belong."""
    return body[:at] if kind == 0 else body[:at] + BREAKS[kind] + body[at + (kind < 5) :]


def copied(part: ProjectedPart) -> Iterator[tuple[int, int]]:
    """The ranges of the document that a part has; the last may end with made end tags."""
    pairs = part.source_map.pairs()
    ends = [*(offset for offset, _ in pairs[1:]), len(part.body)]
    yield from ((source, source + end - offset) for (offset, source), end in zip(pairs, ends, strict=True))


def records(document: Document, decisions: PathDecisions, output: int) -> Iterator[Element]:
    """The outermost elements that an output keeps as a whole."""

    def below(element: Element, state: int) -> Iterator[Element]:
        state = decisions.step(state, element.namespace, element.local)
        keep = decisions.keeps(state)[output]
        if keep is Keep.TREE:
            yield element
        elif keep is not Keep.DROP:
            for child in elements(element):
                yield from below(child, state)

    if decisions.keeps(decisions.start)[output] is not Keep.TREE:
        yield from below(document.root, decisions.start)


def error_of(body: bytes) -> DocumentError | None:
    """The error of reading a document."""
    try:
        read(body)
    except DocumentError as error:
        return error
    return None


def small_document(seed: int, encoding: str) -> bytes:
    """The first small one of some generated documents."""
    found = (generated(random.Random(each), encoding=encoding) for each in count(1000 * seed))
    return next(body for body in found if len(body) < (1400 if encoding == "UTF-16" else 700))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("encoding", ["utf-8", "UTF-16", "koi8-r"])
def test_what_was_whole_before_an_error_is_kept(seed: int, encoding: str) -> None:
    """At every offset of a small document: the error is that of ``read``, every part can be read."""
    body = small_document(seed, encoding)
    divided = [False, True]
    decisions = decided(seed, divided)
    kept = [list(records(read(body), decisions, output)) for output in (0, 1)]
    for at in range(len(body)):
        torn = broken(body, at, (at + seed) % len(BREAKS))
        found, error = streamed(torn, decisions, divided, 1, 1 << 20)
        assert error == error_of(torn)
        if error is None:
            continue
        for parts, wanted in zip(found, kept, strict=True):
            for part in parts:
                read(part.body)
            ranges = [each for part in parts for each in copied(part)]
            for element in wanted:
                if element.end <= min(at, error.offset):
                    assert any(start <= element.start and element.end <= end for start, end in ranges)


def test_a_reference_whose_entity_is_broken_is_taken_back() -> None:
    """Also if an element in the entity is kept, and the part would end with it."""
    body = b"<!DOCTYPE a [<!ENTITY e '<b/><b></a>'>]><a><b/>&e;<b/></a>"
    decisions = PathDecisions(lambda path: [Keep.TREE if len(path) == 2 else Keep.ABOVE])
    for divided in (True, False):
        parts, error = streamed(body, decisions, [divided], 1, 3)
        assert error is not None
        assert [part.body[part.body.index(b"]>") + 2 :] for part in parts[0]] == [b"<a><b/></a>"]


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
@given(st.integers(0, 1 << 32), st.sampled_from(ENCODINGS))
def test_ranges_of_elements_are_those_of_the_tree(seed: int, encoding: str) -> None:
    """In document order; an element of an entity has the range of the reference."""
    body = generated(random.Random(seed), encoding=encoding)
    flat = array("Q", element_ranges(body))
    found = list(zip(flat[::2], flat[1::2], strict=True))
    assert found == [(element.start, element.end) for element in descendants(read(body))]
    with pytest.raises(ValueError, match="well-formed"):
        element_ranges(body[:-20])
