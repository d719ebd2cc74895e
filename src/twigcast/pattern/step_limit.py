"""How many steps there are in something, counted no further than asked.

Cleaning copies: a predicate that looks up from a descendant stands in two alternatives, one in it in four.
Copies share their parts, so they cost nothing until someone writes them out; so they are weighed before.
"""

from __future__ import annotations

from collections.abc import Iterable

from twigcast.pattern.cleaning import Route
from twigcast.pattern.node_conditions import Branch, Mixed
from twigcast.pattern.tree import And, Not, Or, Path, Position, Predicate


def outweighs(routes: Iterable[Route], steps: int) -> bool:
    """Whether ``routes`` have more than so many steps, those in their conditions counted too."""
    waiting: list[Route | Path | Predicate | Mixed | Branch | bool] = [*routes]
    while waiting:
        item = waiting.pop()
        match item:
            case bool():
                continue
            case Position():
                waiting += item.among
            case Route() | Path():
                steps -= len(item.steps)
                for step in item.steps:
                    waiting += step.predicates
                if isinstance(item, Path):
                    waiting += item.filters
                else:
                    waiting += [item.filters, *item.guards]
            case Mixed():
                waiting += item.branches
            case Branch():
                waiting += item.here
                if item.above is not None:
                    waiting.append(item.above)
            case And() | Or():
                waiting += item.operands
            case Not():
                waiting.append(item.operand)
            case _:
                waiting += item.paths
        if steps < 0:
            return True
    return False
