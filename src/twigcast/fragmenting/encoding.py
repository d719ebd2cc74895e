"""Fragments as bytes, for files (``.tcf``) and for the wire.

    "TCF1"   length of the header, 4 bytes, big-endian   header, JSON   body
    "TCM1"   length of the manifest                      manifest, JSON

The JSON is compact and can be read by people; ids are written as ``"7.2"``, element or hole 2 of fragment 7.
What is read is not trusted: a fragment is made only if the digest is that of the header and the body, every
field has its type and range, and the fields agree with each other.  Whether fragments agree with each other,
and a header with the tags of its body, is decided where they are matched.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from twigcast.errors import FragmentError
from twigcast.fragmenting.fragments import LONGEST_ID, MOST_FRAGMENTS, Fragment, Header
from twigcast.fragmenting.header_fields import MOST_AROUND_ALL, BadField, header_fields, read_header
from twigcast.fragmenting.headers import Manifest

SUFFIX = ".tcf"
"""The suffix of a file with one fragment."""

MANIFEST_NAME = "manifest.tcm"
"""The name of the file with all headers of a document."""

_MAGIC = b"TCF1"
_MANIFEST_MAGIC = b"TCM1"
_LENGTH = 4
_MOST_HEADER_BYTES = 64 << 20


def encode(fragment: Fragment) -> bytes:
    """The fragment as bytes that ``decode`` reads."""
    header = encode_header(fragment)
    return b"".join((_MAGIC, len(header).to_bytes(_LENGTH, "big"), header, fragment.body))


def encode_header(fragment: Fragment) -> bytes:
    """The header and the digest of a fragment as JSON, for a table that has headers and bodies in columns."""
    return _json(header_fields(fragment.header) | {"digest": fragment.digest})


def decode(data: bytes) -> Fragment:
    """The fragment that ``encode`` wrote.

    Raises ``FragmentError``: ``fragment-file`` if the bytes are no fragment, ``fragment-corrupt`` if they are
    one that was altered.
    """
    fields, body = _split(data, _MAGIC, "a fragment")
    return _checked(fields, bytes(body))


def decode_with_header(header: bytes, body: bytes) -> Fragment:
    """The fragment with this body and the header that ``encode_header`` wrote; raises as ``decode`` does."""
    return _checked(_fields(header, "a fragment"), body)


def encode_cut_header(header: Header) -> bytes:
    """A header as JSON without a digest, where the body is read again by whoever cut the document."""
    return _json(header_fields(header))


def decode_cut_header(data: bytes) -> Header:
    """The header that ``encode_cut_header`` wrote; raises ``FragmentError``, code ``fragment-file``."""
    return _header(_fields(data, "a fragment"))


def _checked(fields: dict[str, Any], body: bytes) -> Fragment:
    """The fragment of a header and a body; the header is interpreted only if the digest fits."""
    stated = fields.pop("digest", None)
    doc_id, number, size = fields.get("doc"), fields.get("number"), fields.get("size")
    doc_id = doc_id if type(doc_id) is str and len(doc_id) <= LONGEST_ID else ""
    number = number if type(number) is int and 0 < number <= MOST_FRAGMENTS else 0
    if size != len(body):
        message = f"the body has {len(body):,} bytes, and its header says another size: is it truncated?"
        raise FragmentError(message, code="fragment-file", doc_id=doc_id, number=number)
    text = _json(fields)
    if _hash(text, body) != stated:
        message = f"the digest of fragment {number or '?'} is wrong: header or body was altered"
        raise FragmentError(message, code="fragment-corrupt", doc_id=doc_id, number=number)
    header = _header(fields)
    if _json(header_fields(header)) != text:  # its digest would be another one if it were sent on
        raise _refused("the header of the fragment is not written as twigcast writes it", header)
    fragment = Fragment(header, body)
    object.__setattr__(fragment, "_digest", stated)
    return fragment


def _header(fields: dict[str, Any]) -> Header:
    try:
        return read_header(fields)
    except BadField as error:
        raise _refused(f"the header of the fragment has a bad field: {error}") from None


def digest(fragment: Fragment) -> str:
    """A hash of the header and the body."""
    return _hash(_json(header_fields(fragment.header)), fragment.body)


def _hash(header: bytes, body: bytes) -> str:
    hashed = blake2b(header, digest_size=16)
    hashed.update(body)
    return hashed.hexdigest()


def encode_manifest(manifest: Manifest) -> bytes:
    """The headers of all fragments of a document, as bytes that ``decode_manifest`` reads."""
    text = _json({"headers": [header_fields(header) for header in manifest.headers]})
    return b"".join((_MANIFEST_MAGIC, len(text).to_bytes(_LENGTH, "big"), text))


def decode_manifest(data: bytes) -> Manifest:
    """The manifest that ``encode_manifest`` wrote; raises ``FragmentError``, code ``fragment-file``."""
    fields, rest = _split(data, _MANIFEST_MAGIC, "a manifest")
    listed = fields.get("headers")
    if rest or not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise _refused("this is no manifest of fragments")
    headers: list[Header] = []
    around = 0
    try:
        for each in listed:
            headers.append(read_header(each))
            around += sum(len(run.context or ()) for run in headers[-1].runs)
            if around > MOST_AROUND_ALL:
                raise BadField(f"context (more than {MOST_AROUND_ALL:,} elements around all runs)")
        return Manifest(tuple(headers))
    except BadField as error:
        raise _refused(f"a header of the manifest has a bad field: {error}") from None
    except ValueError as error:
        raise _refused(f"this is no manifest: {error}") from None


def _split(data: bytes, magic: bytes, what: str) -> tuple[dict[str, Any], memoryview]:
    """The JSON, and what follows it."""
    if data[:3] == magic[:3] and data[:4] != magic:
        raise _refused(f"{what} of another format version: {data[:4].decode('latin-1')!r}")
    if data[:4] != magic:
        raise _refused(f"this is not {what}: it does not begin with {magic.decode()}")
    start = len(magic) + _LENGTH
    length = int.from_bytes(data[len(magic) : start], "big")
    if len(data) < start + length or length > _MOST_HEADER_BYTES:
        raise _refused(f"{what} is truncated")
    return _fields(bytes(data[start : start + length]), what), memoryview(data)[start + length :]


def _fields(text: bytes, what: str) -> dict[str, Any]:
    try:
        fields = json.loads(text.decode())
    except (ValueError, RecursionError):
        raise _refused(f"the header of {what} is not JSON in UTF-8") from None
    if not isinstance(fields, dict):
        raise _refused(f"the header of {what} is not an object")
    return fields


def _json(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _refused(message: str, header: Header | None = None) -> FragmentError:
    doc_id, number = (header.doc_id, header.number) if header else ("", 0)
    return FragmentError(message, code="fragment-file", doc_id=doc_id, number=number)
