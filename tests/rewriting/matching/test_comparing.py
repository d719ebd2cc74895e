"""Agreement of two mappings."""

from __future__ import annotations

import pytest

from twigcast.document import read
from twigcast.pattern import parse
from twigcast.rewriting import Mapping, Rename, SchemaTree, delivery_agreement, pair_agreement
from twigcast.rewriting.labels import QName
from twigcast.rewriting.matching import Agreement
from twigcast.workload import infer


def test_pairs() -> None:
    """A pair is right if both places are."""
    found = pair_agreement({"a": "x", "b": "y"}, {"a": "x", "b": "z", "c": "y"})
    assert found == Agreement(right=1, proposed=2, wanted=3)
    assert (found.precision, found.recall, found.f1) == (0.5, pytest.approx(1 / 3), 0.4)


def test_nothing_to_find() -> None:
    """Without pairs nothing is wrong and nothing is missing."""
    assert (Agreement().precision, Agreement().recall, Agreement().f1) == (1.0, 1.0, 1.0)


def test_agreements_add_up() -> None:
    """Sums weigh each pair, not each publisher, the same."""
    assert Agreement(1, 2, 3) + Agreement(1, 1, 1) == Agreement(2, 3, 4)


def test_deliveries() -> None:
    """Each document that a subscription matches counts, by the image of each mapping."""
    body = b"<a><b>1</b></a>"
    tree = SchemaTree.of(infer([body]))
    right = Mapping("right", tree, (Rename("a/b", QName("", "c")),))
    wrong = Mapping("wrong", tree, ())
    patterns = [parse(text) for text in ("/a", "//c", "//b", "//b[.=1]")]
    assert delivery_agreement(wrong, right, [read(body)], patterns) == Agreement(1, 3, 2)
