"""Where a match of a query may cross into the subtrees of a fragment."""

from __future__ import annotations

from typing import NamedTuple


class EntryPoint(NamedTuple):
    """A query node that may match in subtrees directly below an element: (f, q) of R, by place.

    ``element`` is the id of the innermost element above the subtrees, ``node`` the bit of the query node.
    """

    element: int
    node: int
