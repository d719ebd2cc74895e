"""The models of time and size."""

from __future__ import annotations

import pytest

from twigcast.document import read
from twigcast.pattern import parse
from twigcast.routing import (
    DocumentWork,
    Envelope,
    Paths,
    Publish,
    RequestAnnotations,
    Router,
    Strategy,
    Subscribe,
    Unsubscribe,
    leaf_paths,
)
from twigcast.simulator.cost import EVEN, FRAME, PAPER, CostModel, Schedule, Sizes
from twigcast.simulator.topologies import balanced_tree


def test_a_publication_takes_longer_at_a_larger_table() -> None:
    """The default is the paper's 13.96 ms for 100,000 rows."""
    model = CostModel(publication=0.0)
    assert round(1000 * model.seconds(0, 1, 100_000), 2) == 13.96
    assert model.seconds(0, 2, 100) == 2 * model.seconds(0, 1, 100)


def test_changes_do_not_depend_on_the_table() -> None:
    """A control message takes a fixed time."""
    assert CostModel(control=0.5).seconds(3, 0, 1000) == 1.5


def test_sizes_are_those_of_what_is_said() -> None:
    """The size counts ids, expressions, documents, and each path of a document."""
    sizes = Sizes()
    assert sizes.total([Subscribe("s", parse("/a/b")), Unsubscribe("s")]) == 2 * FRAME + 2 + 4
    assert sizes.total([Publish(Envelope("d", b"<a/>"))]) == FRAME + 4
    paths = leaf_paths("d", read(b"<a><b/><c/></a>"))
    assert sizes.total([Paths("d", paths)]) == 3 * FRAME + 2 * len(b"<a><b></b></a>")


def test_headers_and_images_have_a_size() -> None:
    """What travels with a document takes time on a link, too."""
    sizes = Sizes()
    headers = (("mapping", "cmu@1"),)
    assert sizes.total([Publish(Envelope("d", b"<a/>", headers=headers))]) == FRAME + 4 + 12
    assert sizes.total([Publish(Envelope("d", b"<a/>", image=b"<b/>"))]) == FRAME + 8
    assert sizes.total([Paths("d", (), headers=headers)]) == FRAME + 12


def test_annotations_and_plans_have_a_size() -> None:
    """Both take time on a link; a client is sent no annotations."""
    sizes = Sizes()
    assert sizes.total([Publish(Envelope("d", b"<a/>", annotations=b"12345"))]) == FRAME + 4 + 5
    router = Router("r", ["n"], ["c"], strategy=Strategy(advertising=False, piggyback="L-d"))
    router.subscribe("s", parse("/a/b"), "c")
    ((link, plan),) = router.replan()
    assert link == "n"
    assert isinstance(plan, RequestAnnotations)
    assert sizes.total([plan]) == FRAME + len(plan.plan.encode())


MODEL = CostModel(publication=1.0, row=10.0, parse=100.0, read=1e3, write=1e4, earliest=0.5)


def test_the_time_of_a_document_by_hand() -> None:
    """Rows that are refuted or switched off are not matched; annotations are read and written."""
    work = DocumentWork("d", rows=9, proven=1, refuted=3, switched_off=0.5, read_bytes=2)
    work.written = {"m": 1, "n": 2}
    assert MODEL.matching(4, work) == 1.0 + 4 * 100.0 + 5.5 * 10.0
    assert MODEL.document(4, work) == 456.0 + 2e3 + 3e4
    assert MODEL.schedule(4, work).end == MODEL.document(4, work)
    assert MODEL.schedule(4, work).early == {}


def test_a_document_that_is_not_parsed_takes_the_time_of_its_annotations() -> None:
    """Neither its size nor the rows matter."""
    work = DocumentWork("d", rows=9, parsed=False, read_bytes=2, written={"n": 3})
    assert MODEL.document(1 << 20, work) == 2e3 + 3e4


def test_eager_routers_send_before_the_end() -> None:
    """The first match is found after a part of the time; a proven neighbour is sent to before parsing."""
    work = DocumentWork("d", rows=9, read_bytes=2, written={"n": 3, "m": 0}, eager={"n": 0.5, "m": 0.0})
    matching = MODEL.matching(4, work)
    assert MODEL.schedule(4, work).early == {"n": 2e3 + 0.75 * matching + 3e4, "m": 2e3}


def test_the_time_to_the_first_match_falls_more_slowly_than_its_place() -> None:
    """By the figures of the papers; ``EVEN`` is the same model without that."""
    assert [round(PAPER.lead(part), 2) for part in (0.0, 0.25, 0.5, 1.0)] == [0.0, 0.73, 0.82, 1.0]
    assert EVEN.lead(0.25) == 0.25
    assert CostModel().lead(0.25) == 0.25


SIZE, ROWS, NOTES = 7_000, 5_000, 464


def test_writing_annotations_costs_14_percent_of_a_document() -> None:
    """As it was inferred from the throughput that the papers print."""
    plain = DocumentWork("d", rows=ROWS)
    annotated = DocumentWork("d", rows=ROWS, written={"n": NOTES})
    assert PAPER.document(SIZE, annotated) == pytest.approx(1.14 * PAPER.document(SIZE, plain))


def mean_response(root: Schedule, below: Schedule, notes: int) -> float:
    """The mean time from the root to the users at each of 15 routers, by hand.

    The papers give no latency, and the links to publisher and users are the same for all strategies.
    """
    hop = (FRAME + SIZE + notes) / 1e7
    network = balanced_tree(2, 4)
    times = []
    for router in network.routers:
        hops = len(network.route("b1", router)) - 1
        inner = [root, *[below] * (hops - 1)][:hops]
        onward = sum(each.early.get("n", each.end) + hop for each in inner)
        times.append(onward + (below if hops else root).end)
    return sum(times) / len(times)


def improvement(model: CostModel, part: float) -> float:
    """The share of the response of ES that L+s-sd saves if 75 % of the rows are refuted.

    As in the fit of the model, the root writes 464 bytes in all, and the routers below write nothing.
    """
    eager = model.schedule(SIZE, DocumentWork("d", rows=ROWS, eager={"n": part}))
    root = model.schedule(SIZE, DocumentWork("d", rows=ROWS, written={"n": NOTES}))
    refuted = DocumentWork("d", rows=ROWS, refuted=ROWS * 3 // 4, read_bytes=NOTES)
    lazy = mean_response(root, model.schedule(SIZE, refuted), NOTES)
    return 1.0 - lazy / mean_response(eager, eager, 0)


@pytest.mark.parametrize(("part", "printed"), [(0.25, 0.22), (0.5, 0.28), (1.0, 0.42)])
def test_the_paper_model_gives_the_improvements_of_the_papers(part: float, printed: float) -> None:
    """The model was fitted to these figures, so this is a check of the formulas."""
    assert improvement(PAPER, part) == pytest.approx(printed, abs=0.04)


def test_with_even_matches_eager_routers_would_win() -> None:
    """Were the first match found in proportion to its place, L+s-sd would lose at a quarter."""
    assert improvement(EVEN, 0.25) < 0.0 < improvement(EVEN, 0.75)
