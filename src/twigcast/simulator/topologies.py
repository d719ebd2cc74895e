"""Makes networks of common topologies: lines, stars, balanced and random trees; routers are b1, b2, …"""

from __future__ import annotations

from random import Random

from twigcast.errors import RoutingError
from twigcast.routing import Network


def line(routers: int) -> Network:
    """Make a network in which each router has a link to the next."""
    return _tree([number - 1 for number in range(1, _positive(routers))])


def star(routers: int) -> Network:
    """Make a network in which the first router has a link to each other router."""
    return _tree([0] * (_positive(routers) - 1))


def balanced_tree(arity: int, depth: int) -> Network:
    """Make a tree of ``depth`` levels in which each router above the last level has ``arity`` children."""
    _positive(arity)
    levels = sum(arity**level for level in range(_positive(depth)))
    return _tree([(number - 1) // arity for number in range(1, levels)])


def random_tree(routers: int, seed: int = 0) -> Network:
    """Make a network in which each router has a link to one before it, drawn uniformly at random."""
    random = Random(f"random tree/{seed}")
    return _tree([random.randrange(number) for number in range(1, _positive(routers))])


def _tree(parents: list[int]) -> Network:
    names = [f"b{number}" for number in range(1, len(parents) + 2)]
    links = tuple((names[parent], names[number]) for number, parent in enumerate(parents, 1))
    return Network(tuple(names), links)


def _positive(number: int) -> int:
    if number < 1:
        raise RoutingError(f"a topology needs at least 1 router, not {number}", code="scenario")
    return number
