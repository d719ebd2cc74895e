"""What a record inherits stands before its bytes, and places in it count from its bytes."""

from __future__ import annotations

import pytest

from twigcast.document import read
from twigcast.document.prolog import Shift, joined, make_prolog, relocated
from twigcast.errors import DocumentError


def test_nothing_inherited_is_no_prolog() -> None:
    """A record that inherits nothing is read as it is."""
    assert make_prolog(b"r", encoding=None, subset=b"", namespaces={}) is None
    assert joined(None, b"<r/>") == b"<r/>"


def test_declarations_stand_in_the_tag() -> None:
    """Namespaces are bound in the record's own tag, with their values escaped."""
    prolog = make_prolog(b"p:r", encoding=None, subset=b"", namespaces={"": 'a&"<', "p": "é"})
    whole = joined(prolog, b'<p:r a="1"><x/></p:r>')
    root = read(whole).root
    assert (root.namespace, root.children[0].namespace) == ("é", 'a&"<')  # type: ignore[union-attr]


def test_document_type_and_encoding_stand_before_it() -> None:
    """Where no namespace is inherited, the body follows whole."""
    prolog = make_prolog(b"r", encoding="ISO-8859-1", subset=b'<!ENTITY e "x">', namespaces={})
    assert prolog == b'<?xml version="1.0" encoding="ISO-8859-1"?><!DOCTYPE r [<!ENTITY e "x">]>'
    assert joined(prolog, b"<r>&e;</r>") == prolog + b"<r>&e;</r>"


@pytest.mark.parametrize(
    "prolog", [None, b'<r xmlns:p="u"', b"<!DOCTYPE r [\n\n]>", b'<!DOCTYPE r []><r xmlns="u"']
)
def test_errors_are_where_they_are_in_the_body(prolog: bytes | None) -> None:
    """Line, column and offset are those of the body alone."""
    body = "<r>é\r\nß\r<b></c></r>".encode()
    with pytest.raises(DocumentError) as alone:
        read(body)
    with pytest.raises(DocumentError) as together:
        read(joined(prolog, body))
    assert relocated(together.value, prolog, body) == alone.value


def test_places_are_those_of_the_body() -> None:
    """The record itself begins at its first byte, though its tag is written in the prolog."""
    shift = Shift.of(b'<r xmlns="u"')
    body = b"<r><b/></r>"
    whole = joined(b'<r xmlns="u"', body)
    root = read(whole).root
    inner = root.children[0]
    assert (shift.start(root.start), shift.end(root.end)) == (0, len(body))
    assert body[shift.start(inner.start) : shift.end(inner.end)] == b"<b/>"
