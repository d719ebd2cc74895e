"""The measurement of fragments: what a run reports, and that answers are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.auctions import PUBLISHED_BYTES, auction_blocks, auction_document
from benchmarks.files import build
from benchmarks.fragments import SpanRound, SpanRun, evaluated, joined, large_run, span_figures, span_run
from twigcast import Index
from twigcast.fragmenting import Spans, fragment

BODY = b"<a>" + b"<b><c/></b><d>x</d>" * 40 + b"</a>"
TEXTS = ("/a/b/c", "//d[e]", "/a[b]/d", "//d[.='x']")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return build(TEXTS, tmp_path / "small.tci").path


def test_a_run_has_times_and_the_bytes_of_partials(file: Path) -> None:
    """Each turn measures all sizes, and the answers are those of the whole document."""
    run = span_run(file, BODY, {"64kb": 100, "1mb": 300}, 2)
    assert run.wrong == ()
    assert len(run.rounds) == 2
    assert set(run.rounds[0].spans) == set(run.partial_bytes) == {"64kb", "1mb"}
    assert min(run.partial_bytes.values()) > 0


def test_spans_are_evaluated_one_by_one_and_joined(file: Path) -> None:
    """The joined partial has the answer of the whole document."""
    index = Index.open(file)
    matcher = index.partials()
    partials = evaluated(matcher, list(fragment(BODY, cut=Spans(bytes=90), header="prefix")))
    assert len(partials) > 5
    assert matcher.match(joined(matcher, partials)).ids == index.match(BODY).ids == [0, 2, 3]


def test_figures_are_ratios_of_the_least_times() -> None:
    """One slow turn does not count."""
    rounds = (
        SpanRound(bare=1.0, whole=4.0, spans={"64kb": (9.0, 0.5)}),
        SpanRound(bare=3.0, whole=2.0, spans={"64kb": (2.0, 0.4)}),
    )
    found = span_figures(SpanRun(rounds, {"64kb": 70.0}, ()))
    assert found["ratio_64kb"] == pytest.approx(1.2)
    assert found["join_percent_64kb"] == pytest.approx(20)
    assert (found["whole_ratio"], found["partial_bytes_64kb"]) == (2.0, 70.0)


def test_a_large_run_has_the_answer_and_its_memory(file: Path, tmp_path: Path) -> None:
    """A process says which positions match, and how much memory it needed at most."""
    (tmp_path / "large.xml").write_bytes(BODY)
    run = large_run(file, tmp_path / "large.xml", 2)
    assert run.positions == [0, 2, 3]
    assert run.peak_bytes >= 0


@pytest.mark.data
@pytest.mark.usefixtures("data")
def test_the_auction_document_is_multiplied() -> None:
    """One copy is the published document, and blocks are the same document."""
    assert len(auction_document(1)) == PUBLISHED_BYTES
    assert b"".join(auction_blocks(2)) == auction_document(2)
    assert len(auction_document(10)) > 9.9 * PUBLISHED_BYTES
