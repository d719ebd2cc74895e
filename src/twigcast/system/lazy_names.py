"""Pages whose names are loaded when they are first used, so that importing a page costs nothing by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(page: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """The ``__getattr__`` of the module ``page``; ``homes`` has modules with the names that each defines."""
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name in home_of:
            return getattr(import_module(home_of[name]), name)
        raise AttributeError(f"module {page!r} has no attribute {name!r}")

    return load
