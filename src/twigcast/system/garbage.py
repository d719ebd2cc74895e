"""Pauses the cyclic garbage collector while many acyclic objects are allocated."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable the cyclic garbage collector for a block: it took a fifth of the time of building an index."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
