"""The news schema of the package."""

from __future__ import annotations

from twigcast.schema import AttributeKind
from twigcast.workload import news


def test_its_root_is_a_feed() -> None:
    """Everything stands in a feed, which is the only root."""
    assert news().root == "feed"
    assert news().roots == ("feed",)
    assert len(news().descendants["feed"]) == len(news()) - 1


def test_it_is_recursive() -> None:
    """Topics, sections, lists, quotes and emphasis contain themselves."""
    assert {"topic", "section", "list", "quote", "emphasis"} <= news().recursive


def test_it_has_all_kinds_of_attributes() -> None:
    """Enumerations, numbers, identifiers and references occur."""
    kinds = {attribute.kind for element in news() for attribute in element.attributes}
    assert {AttributeKind.ENUMERATION, AttributeKind.CDATA, AttributeKind.ID, AttributeKind.IDREF} <= kinds
