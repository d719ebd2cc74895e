"""Networks by their shape: lines, stars, balanced and random trees; routers are called b1, b2 and so on."""

from __future__ import annotations

from random import Random

from twigcast.errors import RoutingError
from twigcast.routing import Network


def line(routers: int) -> Network:
    """Each router joined to the next."""
    return _tree([number - 1 for number in range(1, _positive(routers))])


def star(routers: int) -> Network:
    """The first router in the middle, all others joined to it."""
    return _tree([0] * (_positive(routers) - 1))


def balanced_tree(arity: int, depth: int) -> Network:
    """Levels of routers, each but those of the last with ``arity`` below it; ``depth`` counts the levels."""
    _positive(arity)
    levels = sum(arity**level for level in range(_positive(depth)))
    return _tree([(number - 1) // arity for number in range(1, levels)])


def random_tree(routers: int, seed: int = 0) -> Network:
    """Each router joined to one of those before it, drawn evenly."""
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
