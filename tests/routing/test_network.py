"""Networks are trees of routers; anything else is refused."""

from __future__ import annotations

import pytest

from twigcast.errors import RoutingError
from twigcast.simulator import Network


def test_neighbours_leaves_and_clients() -> None:
    """A network knows the neighbours and clients of each router, and its leaves."""
    network = Network(("a", "b", "c"), (("a", "b"), ("b", "c"))).with_clients({"x": "a", "y": "a"})
    assert network.neighbours("b") == ("a", "c")
    assert network.leaves == ("a", "c")
    assert network.clients_of("a") == ("x", "y")


def test_a_route_is_the_one_way_there_is() -> None:
    """A route includes both of its ends."""
    network = Network(("a", "b", "c", "d"), (("a", "b"), ("b", "c"), ("b", "d")))
    assert network.route("d", "a") == ("d", "b", "a")
    assert network.route("c", "c") == ("c",)


@pytest.mark.parametrize(
    ("routers", "links", "clients", "code", "name"),
    [
        ("abc", ["ab", "bc", "ca"], {}, "cycle", "c - b - a - c"),
        ("ab", ["ab", "ab"], {}, "cycle", "a - b - a"),
        ("a", ["aa"], {}, "cycle", "a - a"),
        ("abc", ["ab"], {}, "disconnected", "c"),
        ("ab", ["ab", "bz"], {}, "unknown-router", "z"),
        ("ab", ["ab"], {"x": "z"}, "unknown-router", "z"),
        ("aa", [], {}, "duplicate-router", "a"),
        ("ab", ["ab"], {"a": "b"}, "duplicate-router", "a"),
        ("", [], {}, "unknown-router", ""),
    ],
)
def test_what_is_no_tree_is_refused(
    routers: str, links: list[str], clients: dict[str, str], code: str, name: str
) -> None:
    """The error names the cycle, or the router."""
    with pytest.raises(RoutingError) as refused:
        Network(tuple(routers), tuple((link[0], link[1]) for link in links), tuple(clients.items()))
    assert (refused.value.code, refused.value.name) == (code, name)
    assert name in refused.value.message
