"""The expected deliveries, and the routers that need a document."""

from __future__ import annotations

from twigcast.document import read
from twigcast.pattern import parse
from twigcast.routing import leaf_paths
from twigcast.simulator import line
from twigcast.simulator.truth import Truth


def truth() -> Truth:
    made = Truth(line(4).with_clients({"p": "b1", "x": "b2", "y": "b4"}))
    made.subscribe("x", [("s", parse("/a/b")), ("t", parse("/a[b]/c"))])
    made.subscribe("y", [("u", parse("//c"))])
    return made


def test_deliveries_are_those_of_every_subscription_by_itself() -> None:
    """This holds until a subscription ends."""
    made = truth()
    assert made.deliveries(b"<a><b/><c/></a>") == {"x": ("s", "t"), "y": ("u",)}
    made.unsubscribe("x", ["t"])
    assert made.deliveries(b"<a><b/><c/></a>") == {"x": ("s",), "y": ("u",)}


def test_a_document_is_needed_on_the_way_to_its_receivers() -> None:
    """Other routers do not need it."""
    assert truth().needed(b"<a><b/></a>", "p") == {"b1", "b2"}
    assert truth().needed(b"<a><c/></a>", "p") == {"b1", "b2", "b3", "b4"}
    assert truth().needed(b"<d/>", "p") == set()


def test_a_path_is_needed_where_a_branch_asks_for_it() -> None:
    """This holds whether or not the whole document matches."""
    (path,) = leaf_paths("d", read(b"<a><b/></a>"))
    made = truth()
    made.unsubscribe("x", ["s"])
    assert made.needed_path(path, "p") == {"b1", "b2"}
    assert made.needed(b"<a><b/></a>", "p") == set()
