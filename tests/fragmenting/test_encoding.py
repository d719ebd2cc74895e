"""Fragments as bytes: what is written is read, and nothing else is."""

from __future__ import annotations

import json
from contextlib import suppress
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fragmenting.documents import all_cuts, hard_documents
from twigcast.errors import FragmentError
from twigcast.fragmenting import (
    CutRule,
    HeaderKind,
    Manifest,
    Spans,
    Subtrees,
    decode,
    decode_manifest,
    encode,
    encode_manifest,
    fragment,
)
from twigcast.fragmenting.fragments import HEADER_KINDS

BODY = b'<?xml version="1.0" encoding="latin1"?><!DOCTYPE a><a xmlns:p="u"><p:b>x<c/></p:b><d/><e/></a>'


@given(hard_documents(), all_cuts(), st.sampled_from(HEADER_KINDS))
@settings(max_examples=100, deadline=None)
def test_what_is_written_is_read(body: bytes, cut: CutRule, kind: HeaderKind) -> None:
    """Every header kind and cut; so do manifests."""
    parts = list(fragment(body, cut=cut, header=kind, doc_id="né"))
    assert [decode(encode(part)) for part in parts] == parts
    manifest = Manifest.of(parts)
    assert decode_manifest(encode_manifest(manifest)) == manifest


def test_the_header_can_be_read_by_people() -> None:
    """Magic, length, JSON, body."""
    data = encode(list(fragment(b"<a><b/><c/></a>", doc_id="d", cut=Spans(elements=1)))[1])
    assert data[:4] == b"TCF1"
    length = int.from_bytes(data[4:8], "big")
    header = json.loads(data[8 : 8 + length])
    header.pop("digest")
    assert header == {
        "doc": "d",
        "number": 2,
        "kind": "prefix+level",
        "size": 4,
        "elements": 1,
        "runs": [
            {"end": 4, "place": 3, "fills": "1.1", "context": [0, ["1.1", "a"]], "roots": [["b", 1, 1, 0]]}
        ],
        "holes": [[4, 7]],
    }
    assert data[8 + length :] == b"<b/>"
    assert length < 300


def refused(data: bytes) -> FragmentError:
    with pytest.raises(FragmentError) as failed:
        decode(data)
    return failed.value


def test_altered_bytes_are_noticed() -> None:
    """In the body or in the header."""
    data = encode(list(fragment(BODY, cut=Spans(elements=1)))[1])
    assert refused(data[:-1] + b"?").code == "fragment-corrupt"
    assert refused(data.replace(b'"place":', b'"place":1')).code == "fragment-file"
    assert refused(data.replace(b'"elements":1', b'"elements":2')).code == "fragment-corrupt"
    assert refused(data[:-1]).code == "fragment-file"
    assert refused(data[:20]).code == "fragment-file"
    assert refused(b"").code == "fragment-file"
    assert refused(b"<a/>").code == "fragment-file"
    assert "version" in refused(b"TCF9" + data[4:]).message


@pytest.mark.parametrize("kind", HEADER_KINDS)
@pytest.mark.parametrize("cut", [Spans(elements=2), Subtrees(2)])
def test_no_field_is_trusted(kind: HeaderKind, cut: CutRule) -> None:
    """A field of another type or range, a missing and an additional one are refused by name."""
    for part in fragment(BODY, cut=cut, header=kind):
        data = encode(part)
        length = int.from_bytes(data[4:8], "big")
        fields = json.loads(data[8 : 8 + length])
        for key in fields:
            for wrong in (None, -1, 1 << 70, 1.5, "x", [], {}, [[]], [[1]], [{}], True, [None], "\ud800"):
                forged = fields | {key: wrong}
                if wrong != fields[key] and (key, wrong) not in [("doc", "x"), ("entries", [])]:
                    assert refused(packed(forged, part.body)).code in {"fragment-file", "fragment-corrupt"}
        assert refused(packed(fields | {"more": 1}, part.body)).code == "fragment-file"
        for run in fields["runs"]:
            for key in list(run):
                for wrong in (None, -1, "x", [[]], [9], {}, "1.x", "01.1"):
                    kept, run[key] = run[key], wrong
                    assert refused(packed(fields, part.body)).code in {"fragment-file", "fragment-corrupt"}
                    run[key] = kept
        assert decode(packed(fields, part.body)) == part


def packed(fields: dict[str, object], body: bytes) -> bytes:
    """The file of a fragment with a forged header, whose digest is that of the forgery."""
    stated = {name: value for name, value in fields.items() if name != "digest"}
    if type(fields["digest"]) is str and len(fields["digest"]) == 32:
        stated["digest"] = blake2b(written(stated) + body, digest_size=16).hexdigest()
    text = written(stated)
    return b"TCF1" + len(text).to_bytes(4, "big") + text + body


def written(fields: object) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


@given(st.binary(max_size=200), st.randoms())
@settings(max_examples=300, deadline=None)
def test_hostile_bytes_are_refused(noise: bytes, random: object) -> None:
    """Random bytes, and a fragment in which bytes are changed, give a fragment or a FragmentError."""
    data = bytearray(encode(list(fragment(BODY, cut=Subtrees(2), header="prefix+paths"))[-1]))
    for _ in range(random.randint(1, 4)):  # type: ignore[attr-defined]
        data[random.randrange(len(data))] = random.randrange(256)  # type: ignore[attr-defined]
    for bad in (noise, b"TCF1" + noise, bytes(data), b"TCF1\0\0\0\x0a" + b"[" * 10):
        with suppress(FragmentError):
            decode(bad)
        with pytest.raises(FragmentError):
            decode_manifest(b"TCM1" + noise)


def test_deeply_nested_json_is_refused() -> None:
    """Also where the parser gives up by recursion."""
    text = b"[" * 200_000
    assert refused(b"TCF1" + len(text).to_bytes(4, "big") + text).code == "fragment-file"


def test_a_manifest_has_all_headers() -> None:
    """One that lacks a header, or has those of two documents, is none."""
    parts = list(fragment(BODY, cut=Spans(elements=1), doc_id="d"))
    for some in (parts[1:], parts[:-1], []):
        with pytest.raises(ValueError, match="manifest"):
            Manifest.of(some)
    manifest = Manifest.of(reversed(parts))
    assert (manifest.doc_id, manifest.size, manifest.elements) == ("d", len(BODY), 5)
    data = encode_manifest(manifest)
    with pytest.raises(FragmentError):
        decode_manifest(data + b"x")
    with pytest.raises(FragmentError):
        decode_manifest(data.replace(b'"number":1', b'"number":2'))
