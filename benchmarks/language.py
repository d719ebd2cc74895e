"""The constructs that the kernel decides on the tree of a document: positions, counts, functions, arithmetic.

Every answer is compared with lxml's.  Times are the best of several runs, to exclude other load.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

import numpy as np
from lxml import etree

from benchmarks.bare_parser import BareParser
from benchmarks.results import Outcome, Progress
from benchmarks.workloads import data
from twigcast import Index

RUNS = 5
SIBLINGS = {"1k": 1_000, "100k": 100_000, "1m": 1_000_000}
ON_SIBLINGS = {
    "/r/a[1]": True,
    "/r/a[last()]": True,
    "//a[price][2]": True,
    "/r[count(a) > 3]": True,
    "//a[contains(id, 'k77')]": True,
    "//a[contains(id, 'x')]": False,
}
"""Subscriptions to a document of siblings, and whether they match it."""

INVOICE_BYTES = 166_000
NAMESPACES = {
    "u": "urn:oasis:names:specification:ubl:schema:xsd:Invoice-2",
    "cac": "urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2",
    "cbc": "urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2",
}
THOUSAND = (
    "/u:Invoice/cac:InvoiceLine[{}]",
    "/u:Invoice/cac:InvoiceLine[last()]/cbc:ID[. != '{}']",
    "//cac:InvoiceLine[cac:Price][{}]",
    "/u:Invoice[count(cac:InvoiceLine) > {}]",
    "//cac:InvoiceLine[contains(cbc:ID, '{}')]",
    "/u:Invoice[contains(cbc:ID, '{}')]",
    "//cac:InvoiceLine[starts-with(cac:Item/cbc:Name, 'A{}')]",
    "/u:Invoice[string-length(cbc:ID) > {}]",
    "//cac:InvoiceLine[number(cbc:InvoicedQuantity) * 2 > {}]",
    "/u:Invoice[normalize-space(cbc:Note) = 'x{}']",
)
TWENTY = (
    "//cac:InvoiceLine[1]/cbc:ID",
    "//cac:InvoiceLine[last()]",
    "//cac:InvoiceLine[cac:Price/cbc:PriceAmount > 10][2]",
    "/u:Invoice[count(cac:InvoiceLine) > 1]",
    "/u:Invoice[contains(cbc:Note, 'a')]",
    "/u:Invoice[cbc:DocumentCurrencyCode='EUR']",
    "/u:Invoice[cac:LegalMonetaryTotal/cbc:PayableAmount > 500]",
    "/u:Invoice[not(cac:AllowanceCharge)]",
    "/u:Invoice[sum(cac:InvoiceLine/cbc:LineExtensionAmount) > 10 * count(cac:InvoiceLine)]",
    "//cac:Party[cac:PostalAddress/cac:Country/cbc:IdentificationCode='DE']",
    "//cac:TaxSubtotal[cac:TaxCategory/cbc:Percent=19]",
    "//cac:Item[normalize-space(cbc:Name)='Beratung']",
    "//cac:InvoiceLine[cbc:InvoicedQuantity * cac:Price/cbc:PriceAmount > 100]",
    "//cac:TaxTotal/following-sibling::cac:LegalMonetaryTotal",
    "//cbc:Percent[ancestor::cac:TaxSubtotal]",
    "//cbc:ID[starts-with(., '1')]",
    "//cbc:Note[string-length(.) > 20]",
    "//cac:PartyTaxScheme | //cac:PartyLegalEntity",
    "boolean(/u:Invoice/cbc:ID[. = 'X'])",
    "//*[local-name() = 'InvoiceLine'][2]",
)


@cache
def siblings(size: str, progress: Progress) -> Outcome:
    """The slowest of the constructs on a document of many siblings, in times of ``//a`` on it."""
    rows = b"".join(b"<a><price>%d</price><id>k%d</id></a>" % (n % 7, n) for n in range(SIBLINGS[size]))
    body = b"<r>" + rows + b"</r>"
    wrong: list[str] = []
    progress(f"{size} siblings: //a")
    base = _seconds(Index([(0, "//a")]), body)
    ratios = {}
    for text, expected in ON_SIBLINGS.items():
        progress(f"{size} siblings: {text}")
        index = Index([(0, text)])
        if bool(index.match(body).ids) is not expected:
            wrong.append(f"{text} on {size} siblings")
        ratios[text] = _seconds(index, body) / base
    worst = max(ratios, key=lambda text: ratios[text])
    return Outcome({"ratio": ratios[worst], "nanoseconds_per_byte": base / len(body) * 1e9}, tuple(wrong))


@cache
def thousand(progress: Progress) -> Outcome:
    """A thousand such subscriptions on a large invoice, in times of a bare parse."""
    progress("an invoice of 166 KB")
    body = _large_invoice()
    source = Random(1)
    texts = [THOUSAND[n % len(THOUSAND)].format(source.randint(1, 60)) for n in range(1000)]
    index = Index(enumerate(texts), namespaces=NAMESPACES)
    wrong = _disagreements(index, texts, [body])
    parser = BareParser()
    starts, ends = np.array([0]), np.array([len(body)])
    bare = _best(lambda: parser.parse_batch(starts, ends, body))
    matched = _seconds(index, body)
    return Outcome({"ratio": matched / bare, "milliseconds": matched * 1e3}, wrong)


@cache
def twenty(progress: Progress) -> Outcome:
    """Twenty subscriptions with all constructs on small invoices: documents per second, and lxml's."""
    progress("invoices")
    bodies = [body for body in _invoices() if len(body) < 30_000]
    index = Index(enumerate(TWENTY), namespaces=NAMESPACES)
    wrong = _disagreements(index, TWENTY, bodies)
    compiled = [etree.XPath(text, namespaces=NAMESPACES) for text in TWENTY]

    def ours() -> None:
        for body in bodies:
            index.match(body)

    def theirs() -> None:
        for body in bodies:
            root = etree.fromstring(body)
            for xpath in compiled:
                xpath(root)

    mine, lxml = _best(ours), _best(theirs)
    figures = {
        "factor": lxml / mine,
        "documents_per_second": len(bodies) / mine,
        "documents_per_second_of_lxml": len(bodies) / lxml,
        "bytes_per_document": sum(map(len, bodies)) / len(bodies),
    }
    return Outcome(figures, wrong)


def _invoices() -> list[bytes]:
    return [path.read_bytes() for path in sorted(data("invoices").glob("*.ubl.xml"))]


def _large_invoice() -> bytes:
    """The second largest invoice, with its first line repeated."""
    body = sorted(_invoices(), key=len)[-2]
    line = re.search(rb"<cac:InvoiceLine>.*?</cac:InvoiceLine>", body, re.DOTALL)
    assert line is not None
    more = (INVOICE_BYTES - len(body)) // len(line[0])
    return body[: line.end()] + line[0] * more + body[line.end() :]


def _disagreements(index: Index, texts: Sequence[str], bodies: Sequence[bytes]) -> tuple[str, ...]:
    compiled = [etree.XPath(text, namespaces=NAMESPACES) for text in texts]
    wrong = []
    for number, body in enumerate(bodies):
        root = etree.fromstring(body)
        expected = [id for id, xpath in enumerate(compiled) if xpath(root)]
        if index.match(body).ids != expected:
            wrong.append(f"document {number}")
    return tuple(wrong)


def _seconds(index: Index, body: bytes) -> float:
    return _best(lambda: index.match(body))


def _best(function: Callable[[], object]) -> float:
    times = []
    for _ in range(RUNS + 1):  # the first is a warm-up
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times[1:])
