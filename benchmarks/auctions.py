"""XMark's published document of 1.16 MB, with the children of its sections so many times over, and queries.

The queries are of full XPath 1.0, for lxml; ``auction_scheme`` plans their chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from benchmarks.workloads import data
from twigcast.chunking import ChunkQuery, Scheme, plan
from twigcast.document import elements, read
from twigcast.schema import read_dtd

PUBLISHED_BYTES = 1_163_278
PERSON, ITEM = "/site/people/person", "/site/regions/europe/item"
OPEN, CLOSED = "/site/open_auctions/open_auction", "/site/closed_auctions/closed_auction"
FULL_XPATH = (
    f"{PERSON}[string-length(name) > 14]/name",
    f"{PERSON}[translate(substring-before(emailaddress, '@'), 'abc', 'ABC') != '']/emailaddress",
    f"{PERSON}[substring(name, 1, 1) = 'M']/name",
    f"{PERSON}[number(profile/@income) mod 2 < 1]/profile",
    f"{PERSON}[count(watches/watch) > count(profile/interest)]/watches",
    f"{PERSON}[address/city = 'Tampa' or profile/age + 10 > 60]/name",
    f"{PERSON}[profile/interest[last()]/@category = profile/interest[1]/@category]/@id",
    f"{ITEM}[sum(quantity) > 1]/name",
    f"{ITEM}[contains(normalize-space(description), ' gold ')]/location",
    f"{ITEM}[mailbox/mail[position() = last()]/date]/mailbox/mail/from",
    f"{ITEM}[string-length(normalize-space(name)) mod 3 = 0]/@id",
    f"{OPEN}[bidder[last()]/increase > bidder[1]/increase]/current",
    f"{OPEN}[sum(bidder/increase) > 50]/initial",
    f"{OPEN}[count(.//keyword) > 2]/seller",
    f"{OPEN}/bidder[following-sibling::bidder]/increase",
    f"{CLOSED}[price * quantity > 100]/price",
    f"{CLOSED}[floor(price) = round(price)]/itemref",
)


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


def auction_scheme(texts: Sequence[str] = FULL_XPATH) -> Scheme:
    """The plan of queries that lxml runs, by XMark's DTD.

    ``following-sibling`` is below its record, which only the author of the query can say.
    """
    queries = [
        ChunkQuery(str(number), text, engine="lxml", within=OPEN if "following-sibling" in text else "")
        for number, text in enumerate(texts)
    ]
    return plan(queries, read_dtd(data("xmark/auction.dtd"), "site"))
