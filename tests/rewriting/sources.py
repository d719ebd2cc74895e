"""Small mappings, written as a DTD and operators."""

from __future__ import annotations

from twigcast.rewriting import Mapping, Operator, SchemaTree
from twigcast.rewriting.labels import QName
from twigcast.schema import read_dtd


def mapping_of(dtd: str, *operators: Operator, root: str | None = None) -> Mapping:
    """The mapping with these operators; its source is the schema of a DTD."""
    return Mapping("publisher", SchemaTree.of(read_dtd(dtd.encode(), root)), operators)


def names(*locals: str) -> tuple[QName, ...]:
    """Names without a namespace."""
    return tuple(QName("", each) for each in locals)
