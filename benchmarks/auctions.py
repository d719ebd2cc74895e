"""XMark's published document of 1.16 MB, with the children of its sections so many times over."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from benchmarks.workloads import data
from twigcast.document import elements, read

PUBLISHED_BYTES = 1_163_278


def auction_document(copies: float) -> bytes:
    """The document with each section's children ``copies`` times; below 1, the first of them."""
    return b"".join(auction_blocks(copies))


def auction_blocks(copies: float) -> Iterator[bytes]:
    """The same document as blocks of at most one copy of a section, for files larger than memory."""
    body = data("xmark/auction.xml").read_bytes()
    sections = [
        inner
        for section in elements(read(body).root)
        for inner in (elements(section) if section.local == "regions" else [section])
    ]
    at = 0
    for section in sections:
        children = list(elements(section))
        kept = children[: ceil(len(children) * min(1, copies))]
        yield body[at : children[0].start]
        inside = body[children[0].start : kept[-1].end]
        for _ in range(max(1, round(copies))):
            yield inside
        at = children[-1].end
    yield body[at:]
