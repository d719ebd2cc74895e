"""The publishers of the experiments."""

from __future__ import annotations

import pytest

from experiments.rewriting.publishers import catalogues, invoices
from twigcast.pattern import parse

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data")]


def test_catalogues_are_split_into_courses() -> None:
    """Each course is a document of its own, with the root of its catalogue."""
    domain = catalogues()
    sizes = {each.name: len(each.documents) for each in domain.publishers}
    assert len(sizes) == 7
    assert (sizes["asu"], sizes["gatech"], sizes["ucsd"]) == (101, 10, 82)
    assert {document.root.local for each in domain.publishers for document in each.documents} == set(sizes)


def test_subscriptions_ask_for_values_that_occur() -> None:
    """They can be read, and some have a value."""
    texts = catalogues().subscriptions(50)
    assert len([parse(text) for text in texts]) == 50
    assert any("=" in text for text in texts)


def test_invoices_are_there_in_both_syntaxes() -> None:
    """Documents of other kinds, such as credit notes, are left out."""
    ubl, cii = invoices().publishers
    assert (ubl.name, cii.name) == ("ubl", "cii")
    assert 0 < len(ubl.documents) <= len(cii.documents) == 22
