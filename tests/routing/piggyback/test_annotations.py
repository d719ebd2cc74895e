"""Annotations as bytes: what is written is read again, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.document import DocumentLimits
from twigcast.errors import RoutingError
from twigcast.routing.messages import MAPPING, Envelope
from twigcast.routing.piggyback import AnnotationKind, Annotations, DocumentFigures
from twigcast.routing.piggyback.annotations import _digest

ENVELOPE = Envelope("d", b"<r><a/></r>", "source", (("flooded", "x"),))
ANNOTATIONS = Annotations(
    DocumentFigures(2, 2, 0), {AnnotationKind.NEGATIVE_DATA: b"\0\x80"}, 7, 9, whole=True
)

numbers = st.integers(0, (1 << 63) - 1)
names = st.integers(0, (1 << 64) - 1)


@settings(max_examples=60, deadline=None)
@given(
    st.builds(
        Annotations,
        st.builds(DocumentFigures, numbers, numbers, numbers),
        st.dictionaries(st.integers(0, 255), st.binary(max_size=200)),
        names,
        names,
        whole=st.booleans(),
    ),
    st.binary(max_size=80),
)
def test_decode_reads_what_encode_writes(annotations: Annotations, secret: bytes) -> None:
    """Also sections of kinds that nobody knows are read; they are skipped later."""
    assert Annotations.decode(annotations.encode(ENVELOPE, secret), ENVELOPE, secret) == annotations


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_altered_bytes_are_refused(data: st.DataObject) -> None:
    """Every prefix and every change of one bit is noticed."""
    written = ANNOTATIONS.encode(ENVELOPE)
    bit = data.draw(st.integers(0, 8 * len(written) - 1))
    altered = bytearray(written)
    altered[bit // 8] ^= 1 << bit % 8
    for wrong in (bytes(altered), written[: bit // 8], written + b"\0"):
        with pytest.raises(RoutingError) as caught:
            Annotations.decode(wrong, ENVELOPE)
        assert caught.value.code == "annotations"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=100))
def test_random_bytes_are_refused(data: bytes) -> None:
    """Nothing but ``RoutingError`` is raised."""
    with pytest.raises(RoutingError):
        Annotations.decode(data, ENVELOPE)


@pytest.mark.parametrize(
    "other",
    [
        replace(ENVELOPE, doc_id="e"),
        replace(ENVELOPE, body=b"<r><b/></r>"),
        replace(ENVELOPE, body=b"<r><a/></r> "),
        replace(ENVELOPE, headers=((MAPPING, "m"),)),
    ],
    ids=["id", "content", "size", "mapping"],
)
def test_annotations_belong_to_their_document(other: Envelope) -> None:
    """Those of another document, or of another mapping of it, are refused."""
    with pytest.raises(RoutingError, match="of another document"):
        Annotations.decode(ANNOTATIONS.encode(ENVELOPE), other)


def test_headers_on_the_way_do_not_matter() -> None:
    """A router may add a header, such as that of a flooded document."""
    plain = replace(ENVELOPE, headers=())
    assert Annotations.decode(ANNOTATIONS.encode(ENVELOPE), plain) == ANNOTATIONS


def test_only_routers_with_the_secret_make_annotations() -> None:
    """Another secret, or none, is like altered bytes."""
    written = ANNOTATIONS.encode(ENVELOPE, b"secret")
    for wrong in (b"", b"other"):
        with pytest.raises(RoutingError):
            Annotations.decode(written, ENVELOPE, wrong)


@pytest.mark.parametrize(
    ("flags", "rest", "why"),
    [
        (0, b"", "truncated"),
        (2 | 4, b"\1", "truncated"),
        (0, b"\1\1\1\2\5ab", "a section is truncated"),
        (0, b"\1\1\1\2", "truncated"),
        (0, b"\xff" * 12, "too long"),
    ],
)
def test_contents_with_a_right_digest_may_still_be_malformed(flags: int, rest: bytes, why: str) -> None:
    """The digest is no proof that a router wrote sense."""
    with pytest.raises(RoutingError, match=why):
        Annotations.decode(signed(bytes([1, flags]) + rest), ENVELOPE)


def test_another_version_is_refused() -> None:
    """A router of a later release may write another format."""
    with pytest.raises(RoutingError, match="version 2, not 1"):
        Annotations.decode(signed(b"\2\0\1\1\1"), ENVELOPE)


def signed(content: bytes) -> bytes:
    """Contents of a test's own making with their digest."""
    return content + _digest(content, ENVELOPE, b"")


def test_figures_are_compared_with_limits() -> None:
    """A document that is exactly as deep as allowed is within the limits."""
    limits = DocumentLimits(depth=5, attributes=3)
    assert DocumentFigures(1 << 40, 5, 3).are_within(limits)
    assert not DocumentFigures(1, 6, 3).are_within(limits)
    assert not DocumentFigures(1, 5, 4).are_within(limits)
