"""The checks of mapping files and of sites hold for generated cases, and find what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from tests.fuzz.alterations import altered_bytes, altered_json
from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import Mismatch
from tests.fuzz.mappings import check_images, check_mappings, mapping_case
from tests.fuzz.sites import SiteCase, check_sites, site_case
from twigcast.rewriting import Hide, Mapping, SchemaTree
from twigcast.routing import SiteReader
from twigcast.schema import read_dtd


def test_mapping_cases_hold() -> None:
    """Some files and texts are used, and some refused."""
    done: Counter[str] = Counter()
    for seed in range(40):
        check_mappings(mapping_case(seed), Unmetered(), done)
    for what in ("mapping files refused", "mapping files used", "canonical texts used", "images"):
        assert done[what] > 3


def test_site_cases_hold() -> None:
    """Some forged plans are used, and some refused."""
    done: Counter[str] = Counter()
    for seed in range(6):
        check_sites(site_case(seed), Unmetered(), done)
    for what in ("forged plans refused", "forged plans used", "forged annotations", "documents decided"):
        assert done[what] > 1


def test_a_reader_that_decides_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it finds no match at all."""
    right = SiteReader.matches

    def wrong(reader: SiteReader, *arguments: object) -> object:
        found = right(reader, *arguments)  # type: ignore[arg-type]
        return found if found is None else found[:0]

    monkeypatch.setattr(SiteReader, "matches", wrong)
    with pytest.raises(Mismatch, match="annotations"):
        check_sites(
            SiteCase("L+t", ["//a", "/a/b"], [b"<a><b/>" + b" " * 2000 + b"</a>"], 1), Unmetered(), Counter()
        )


def test_a_kernel_that_rewrites_otherwise_is_found() -> None:
    """The plan is that of another mapping."""
    tree = SchemaTree.of(read_dtd(b"<!ELEMENT a (b?)><!ELEMENT b (c?)><!ELEMENT c EMPTY>"))
    mapping = Mapping("m", tree, (Hide("a/b/c"),))
    mapping.__dict__["plan"] = Mapping("m", tree, ()).plan
    with pytest.raises(Mismatch, match="ids"):
        check_images(mapping, [b"<a><b><c/></b></a>"], Counter())


def test_alterations_change_something_and_leave_the_original() -> None:
    """The same seed makes the same alteration."""
    data, value = b"twigcast", {"a": [1, 2], "b": {"c": "x"}}
    assert any(altered_bytes(Random(seed), data) != data for seed in range(9))
    assert altered_json(Random(3), value) == altered_json(Random(3), value)
    assert value == {"a": [1, 2], "b": {"c": "x"}}
    assert replace(site_case(3), seed=3) == site_case(3)
