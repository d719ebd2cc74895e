"""The figures and tables of the thesis's chapter 6, at a small part of their size."""

from __future__ import annotations

import pytest

from experiments import EXPERIMENTS, Findings
from experiments.rewriting.feeds import DIALECTS, dialects, feed, small_feed, subscriptions
from experiments.rewriting.networks import Outcome, gain
from twigcast.document import read
from twigcast.filtering import Index
from twigcast.rewriting import write_document

pytest.importorskip("rapidfuzz", reason="the extra schemas is not installed")

NETWORKS = ("fig-6-7a", "fig-6-7b", "fig-6-8a", "fig-6-8b", "fig-6-9a", "fig-6-9b")
OTHERS = ("fig-6-10a", "fig-6-10b", "table-6-2", "query", "seeing")
SCALES = {"table-6-2": 0.05}
SMALL = 0.02


def found(name: str) -> Findings:
    """The findings of a small run."""
    return EXPERIMENTS[f"rewriting/{name}"].run(SCALES.get(name, SMALL))


def check(made: Findings) -> None:
    """Rows are as wide as the columns, every table but the short ones says why, and no answer is wrong."""
    assert made.wrong == ()
    assert made.bars
    assert made.tables[0].why
    for table in made.tables:
        assert table.rows
        assert {len(row) for row in table.rows} == {len(table.columns)}


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_a_small_network_delivers_as_flooding_does(name: str) -> None:
    """Every approach delivers what matches the image; the figures have the paper's beside them."""
    pytest.importorskip("simpy")
    made = found(name)
    check(made)
    assert made.charts
    assert [bar.value for bar in made.bars if "flooding" in bar.what] == [0]


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_small_run_has_tables_and_reasons(name: str) -> None:
    """Answers are compared in each of them."""
    check(found(name))


def test_users_receive_what_the_global_documents_would_bring() -> None:
    """Recall and precision are 1 with true mappings."""
    made = found("table-6-2")
    assert {row[-2:] for row in made.tables[0].rows} == {(1.0, 1.0)}


def test_a_feed_has_each_publisher_in_turn() -> None:
    """The image of a document is the document that it was made from, to every subscription."""
    documents = small_feed(DIALECTS)
    assert [each.dialect.name for each in documents] == [each.name for each in dialects()]
    index = Index()
    index.add_all(enumerate(subscriptions(50, value=0.0)))
    for each in documents[:10]:
        assert write_document(each.dialect.mapping.apply(read(each.body))) == each.image
        assert list(index.match(each.image).ids) == list(index.match(each.original).ids)


def test_documents_have_about_the_size_that_was_asked_for() -> None:
    """A set of 20K has documents of 20 to 30 KB."""
    sizes = [len(each.body) for each in feed(20_000, 5)]
    assert 14_000 < sum(sizes) / len(sizes) < 30_000


def test_the_gain_is_that_of_the_whole_response() -> None:
    """Processing and transmission together."""
    slow, fast = Outcome(1.0, 3.0, 0, 0, 0), Outcome(1.0, 1.0, 0, 0, 0)
    assert gain({"SDR": slow, "NDDR": fast}) == 50.0
