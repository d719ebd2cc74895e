"""The documents and queries of chapter 5: XMark multiplied, DBLP generated, Q1 to Q14."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.auctions import auction_document
from benchmarks.workloads import data
from experiments.findings import scaled
from twigcast.document import Element, elements, read
from twigcast.fragmenting import Fragment, HeaderKind, Spans, Subtrees, fragment
from twigcast.schema import read_dtd
from twigcast.workload import DocumentOptions, generate_documents

XMARK: Mapping[str, str] = {
    "Q1": "//open_auctions/open_auction/annotation//text",
    "Q2": "/site/open_auctions/open_auction/annotation//text",
    "Q3": "/site[.//open_auctions/open_auction/annotation//text]/regions//namerica/item/mailbox/mail",
    "Q4": "/site[.//regions/europe/item][open_auctions/open_auction//text]/catgraph/edge",
    "Q5−": "//open_auctions/open_auction/annotation//capital",
    "Q6−": "/site[people/person/name]/regions[america]//eup//mailbox/mail",
    "Q7−": "/site[people/profile]/catgraph/from",
    "Q8−": "/site[open_auctions//annotations/text/captical]/regions//europe//mail",
}
DBLP: Mapping[str, str] = {
    "Q9": "//incollection//sup",
    "Q10": "/dblp/incollection/title/sup",
    "Q11": "/dblp[article//title]//incollection/title",
    "Q12−": "/dblp/article//title/name",
    "Q13−": "/dblp[.//article/title]/incollection/name",
    "Q14−": "/dblp[phdthesis/title][incollection/title/sup]/mastersthesis/title/sub",
}
"""Table 5.1, with ``.//`` where the thesis writes ``//`` for below the node; − is for no match."""

COPIES = 10
"""How often XMark's published document of 1.16 MB is taken to have the size of factor 0.1."""
XMARK_ELEMENTS = 500
"""The aim for a fragment, for each copy: t = 5000 with ten."""
DBLP_ELEMENTS = 180_000
"""About 11.5 MB."""
DBLP_FRAGMENTS = 29

MADE = (
    "XMark is the published document of 1.16 MB with the children of its sections ten times over.",
    "DBLP is generated from its DTD, since our slice has no articles or theses: records in groups by type, "
    "and no mastersthesis with a sub in its title, so that Q14− has no match.",
)


@dataclass(frozen=True, slots=True)
class Feed:
    """A document, its elements, the queries on it, and how it is cut."""

    name: str
    body: bytes
    elements: int
    queries: Mapping[str, str]
    aim: int
    """Elements of a fragment."""

    def parts(self, header: HeaderKind = "prefix+level") -> list[Fragment]:
        """The fragments, by the thesis's rule."""
        return list(fragment(self.body, doc_id=self.name, cut=Subtrees(self.aim), header=header))

    def whole(self) -> list[Fragment]:
        """The document as one fragment: NF."""
        return list(fragment(self.body, doc_id=self.name, cut=Spans(bytes=len(self.body) + 1)))


@lru_cache(maxsize=2)
def xmark(scale: float, factor: int = 1) -> Feed:
    """XMark at a scale; ``factor`` is 6 for the thesis's 0.6.  There are 35 fragments at each of them."""
    copies = COPIES * factor * scale
    made = auction_document(copies)
    count = _count(made)
    aim = XMARK_ELEMENTS * round(copies) if copies >= 1 else max(2, count * XMARK_ELEMENTS // 17_131)
    return Feed("XMark", made, count, XMARK, aim)


@lru_cache(maxsize=1)
def dblp(scale: float) -> Feed:
    """Records generated from DBLP's DTD, in groups by their type."""
    options = DocumentOptions(seed=5, elements=scaled(DBLP_ELEMENTS, scale))
    (generated,) = generate_documents(read_dtd(data("dblp/dblp.dtd")), 1, options)
    document = read(generated)
    records = sorted(elements(document.root), key=lambda record: record.local)
    kept = [record for record in records if not _is_refused(record)]
    made = b"\n".join([b"<dblp>", *(generated[record.start : record.end] for record in kept), b"</dblp>"])
    count = _count(made)
    return Feed("DBLP", made, count, DBLP, max(2, count // DBLP_FRAGMENTS))


def _is_refused(record: Element) -> bool:
    """Whether a record would make Q14− match."""
    return record.local == "mastersthesis" and any(
        child.local == "sub"
        for title in elements(record)
        if title.local == "title"
        for child in elements(title)
    )


def _count(body: bytes) -> int:
    return sum(part.elements for part in fragment(body, cut=Spans(bytes=len(body) + 1)))
