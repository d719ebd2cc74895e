"""Reverse rewriting: what can be recovered of a document from its image."""

from __future__ import annotations

import pytest

from experiments.engines.mapping.reversing import ReverseRewriter
from tests.rewriting.sources import mapping_of, names
from twigcast.document import read
from twigcast.rewriting import Downgrade, Exchange, Insert, InsertEach, Operator, Rename, ToElement, Upgrade
from twigcast.rewriting.image_text import write_document
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll, UpgradeAll

DTD = """<!ELEMENT r (e*)> <!ELEMENT e (#PCDATA | s | t | f)*> <!ATTLIST e a CDATA #IMPLIED>
<!ELEMENT s (#PCDATA)> <!ELEMENT t (#PCDATA)> <!ELEMENT f (#PCDATA)>"""


def there_and_back(body: bytes, *operators: Operator) -> bytes:
    """The document that is made from the image of a document."""
    mapping = mapping_of(DTD, *operators)
    image = write_document(mapping.apply(read(body)))
    assert image is not None
    assert image != body
    return ReverseRewriter(mapping).reverse(image)


@pytest.mark.parametrize(
    "operators",
    [
        (Rename("r/e", QName("", "x")), Rename("r/e/@a", QName("", "y"))),
        (ToElement("r/e/@a", QName("", "x")),),
        (Insert("r/e", names("x", "y"), ("r/e/t", "r/e/f")),),
        (InsertEach("r/e", names("x"), ("r/e/s",)),),
        (InsertAll("r/e", names("x")),),
        (Upgrade("r/e", ("r/e/t", "r/e/f")),),
        (UpgradeAll("r/e"),),
        (Downgrade("r/e", ("r/e/t",), "r/e/f"),),
        (Exchange("r/e", "r/e/f"),),
        (Rename("r/e/t", QName("", "x")), Insert("r/e", names("z"), ("r/e/t", "r/e/f")), UpgradeAll("r/e")),
    ],
)
def test_what_is_in_the_usual_order_comes_back(operators: tuple[Operator, ...]) -> None:
    """Each operator is undone where no copy was made and moved elements stood last."""
    body = b'<r><e a="1"><s>x</s><t>y</t><f>z</f></e><e><s>x</s></e></r>'
    if isinstance(operators[0], Exchange | Downgrade):
        body = b'<r><e a="1"><s>x</s><t>y</t><f>z</f></e></r>'
    assert there_and_back(body, *operators) == body


def test_copies_are_joined_again() -> None:
    """Equal neighbours that an Exchange has copied are one, copies in other holders go."""
    body = b"<r><e><s>x</s><f>1</f><f>2</f></e></r>"
    assert there_and_back(body, Exchange("r/e", "r/e/f")) == body
    assert there_and_back(body, Downgrade("r/e", ("r/e/s",), "r/e/f")) == body


def test_made_holders_go() -> None:
    """A holder without content of its own was made, so one that was empty is lost."""
    body = b"<r><e><s>x</s></e></r>"
    assert there_and_back(body, Downgrade("r/e", ("r/e/s",), "r/e/f")) == body
    assert there_and_back(body, Exchange("r/e", "r/e/f")) == body


def test_order_is_not_recovered() -> None:
    """What an operator moved behind its siblings stays there: the bytes are not the publisher's."""
    body = b"<r><e><t>y</t><s>x</s></e></r>"
    back = b"<r><e><s>x</s><t>y</t></e></r>"
    assert there_and_back(body, Insert("r/e", names("x"), ("r/e/t",))) == back
