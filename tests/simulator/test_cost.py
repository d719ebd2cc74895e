"""The models of time and size."""

from __future__ import annotations

from twigcast.document import read
from twigcast.pattern import parse
from twigcast.routing import Envelope, Paths, Publish, Subscribe, Unsubscribe, leaf_paths
from twigcast.simulator.cost import FRAME, CostModel, Sizes


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
