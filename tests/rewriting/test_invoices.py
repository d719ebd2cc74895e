"""The mappings of UBL and CII invoices to one global schema, on real invoices that exist in both syntaxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast import Index
from twigcast.document import Element, read
from twigcast.pattern import matches, parse
from twigcast.rewriting import Mappings, SchemaTree
from twigcast.schema import read_dtd

FOLDER = Path(__file__).parents[2] / "examples" / "invoices"
SUBSCRIPTIONS = (
    "/invoice[number]",
    "/invoice[type_code='380']",
    "/invoice[type_code='381']",
    "/invoice[currency='EUR']",
    "/invoice[not(currency='EUR')]",
    "/invoice[issue_date][not(due_date)]",
    "/invoice[due_date]",
    "/invoice[contains(issue_date, '2016')]",
    "/invoice[note]",
    "/invoice[count(note) > 1]",
    "//note[contains(., 'Umsatz')]",
    "/invoice[buyer_reference='04011000-12345-03']",
    "/invoice[starts-with(buyer_reference, '0401')]",
    "/invoice[order_reference]",
    "//seller[name='[Seller name]']",
    "//seller[trading_name]",
    "//seller[vat_id='DE 123456789']",
    "//seller[count(vat_id) > 1]",
    "//seller[country='DE'][postcode='12345']",
    "//seller[city]",
    "//seller[not(name)]",
    "//seller/contact[person][phone][email]",
    "//seller/contact[email='seller@email.de']",
    "//buyer[not(contact)]",
    "//buyer[name='[Buyer name]'][not(trading_name)]",
    "//buyer[country!='DE']",
    "/invoice[seller/country=buyer/country]",
    "//delivery",
    "//delivery[date][not(city)]",
    "//delivery[country='DE']",
    "//payment[means_code='58'][iban]",
    "//payment[not(iban)]",
    "//payment[terms]",
    "/invoice[count(payment) > 1]",
    "//tax[category='S'][rate=19]",
    "/invoice[count(tax) > 1]",
    "//tax[category='E']",
    "//totals[payable > 1000]",
    "//totals[tax_exclusive != tax_inclusive]",
    "/invoice[count(line) > 3]",
    "//line[note]",
    "//line[quantity > 1][price > 100]",
    "//line[not(note)][item/description]",
    "//line[item[seller_id][tax_rate=19]]",
    "//line[net_amount=price]",
    "//line[quantity=1][item/tax_category='S'][item/tax_rate=7]",
    "//line[item/name='Lastenheft'][net_amount=2986]",
    "//line[id='1']/item/name",
    "//item[not(seller_id)]",
    "/invoice[line/item/tax_category='E'][not(line/item/tax_category='S')]",
)
NO_ORDER = "UBL wants the number of an order beside that of a sales order, so it has a dummy; CII has none"
DIFFERENT = {
    **{
        (f"01.{n}a-INVOICE", "/invoice[order_reference]"): NO_ORDER
        for n in ("02", "08", "09", "10", "11", "12", "13")
    },
    ("01.21a-INVOICE", "//seller[vat_id='DE 123456789']"): "the two files have different numbers",
    (
        "03.06a-INVOICE",
        "//seller[country='DE'][postcode='12345']",
    ): "the UBL file has city and postcode swapped",
}
"""Where the two files of an invoice do not have the same content."""


@pytest.fixture(scope="module")
def mappings() -> Mappings:
    return Mappings.load(FOLDER)


@pytest.mark.data
def test_both_syntaxes_get_the_same_answers(data: Path, mappings: Mappings) -> None:
    """Each of 50 subscriptions, on each of 22 invoices, but for the differences that are listed.

    The index, which chooses the mapping by the root element, gives the answers of the rewritten tree.
    """
    patterns = {text: parse(text) for text in SUBSCRIPTIONS}
    index = Index([(text, text) for text in SUBSCRIPTIONS])
    different: set[tuple[str, str]] = set()
    answers: set[str] = set()
    paths = sorted((data / "invoices").glob("*.ubl.xml"))
    for path in paths:
        invoice = path.name.removesuffix(".ubl.xml")
        bodies = [path.read_bytes(), path.with_name(f"{invoice}.cii.xml").read_bytes()]
        ubl, cii = mappings["ubl"].apply(read(bodies[0])), mappings["cii"].apply(read(bodies[1]))
        for body, image in zip(bodies, (ubl, cii), strict=True):
            found = {str(id) for id in index.match(body, rewriting=mappings).ids}
            assert found == {text for text, pattern in patterns.items() if matches(pattern, image)}
        for text, pattern in patterns.items():
            if matches(pattern, ubl) != matches(pattern, cii):
                different.add((invoice, text))
            elif matches(pattern, ubl):
                answers.add(text)
    assert different == set(DIFFERENT)
    assert len(paths) == 22
    assert len(answers) >= 44


@pytest.mark.data
def test_unmapped_invoices_match_nothing(data: Path) -> None:
    """Without a mapping no subscription over the global schema can match."""
    document = read((data / "invoices" / "01.01a-INVOICE.ubl.xml").read_bytes())
    assert [text for text in SUBSCRIPTIONS if matches(parse(text), document)] == []


@pytest.mark.data
def test_the_source_schemas_know_what_invoices_contain(data: Path, mappings: Mappings) -> None:
    """Every element has a place; of names that are alike but for their prefixes, each its own."""
    strangers = {}
    for path in sorted((data / "invoices").glob("*.xml")):
        mapping = mappings[path.name.split(".")[-2]]
        found = mapping.apply(read(path.read_bytes())).strangers
        if found:
            strangers[path.name] = found
    assert strangers == {}


def test_every_global_place_has_a_source_in_both_syntaxes(mappings: Mappings) -> None:
    """Each element of invoice.dtd is in the image schema of UBL, of CII and of credit notes."""
    wanted = {node.path_text for node in SchemaTree.of(read_dtd(FOLDER / "invoice.dtd")).nodes()}
    for mapping in mappings:
        assert wanted <= {node.path_text for node in mapping.image.nodes()}, mapping.name


CREDIT_NOTE = b"""<CreditNote xmlns="urn:oasis:names:specification:ubl:schema:xsd:CreditNote-2"
  xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
  xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
  <cbc:ID>G-1</cbc:ID><cbc:CreditNoteTypeCode>381</cbc:CreditNoteTypeCode>
  <cac:PaymentMeans><cbc:PaymentMeansCode>58</cbc:PaymentMeansCode>
    <cbc:PaymentDueDate>2024-05-01</cbc:PaymentDueDate></cac:PaymentMeans>
  <cac:CreditNoteLine><cbc:ID>1</cbc:ID>
    <cbc:CreditedQuantity unitCode="C62">3</cbc:CreditedQuantity></cac:CreditNoteLine>
</CreditNote>"""


@pytest.mark.parametrize(
    "text",
    ["/invoice[type_code='381'][due_date='2024-05-01']", "//line[quantity=3]", "//payment[means_code='58']"],
)
def test_credit_notes_are_invoices_of_another_type(mappings: Mappings, text: str) -> None:
    """A root of their own, other names, and the date for payment in another place."""
    assert matches(parse(text), mappings["ubl-credit-note"].apply(read(CREDIT_NOTE)))


def test_what_is_selected_is_what_the_publisher_wrote(mappings: Mappings) -> None:
    """The elements behind an image element have the names and bytes of the source."""
    image = mappings["ubl-credit-note"].apply(read(CREDIT_NOTE))
    (line,) = [child for child in image.root.children if isinstance(child, Element) and child.local == "line"]
    (origin,) = image.sources(line)
    assert CREDIT_NOTE[origin.start : origin.end].startswith(b"<cac:CreditNoteLine>")
