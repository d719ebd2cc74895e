"""Lazy imports: the modules of a page (an ``__init__.py``) are imported when one of their names is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(page: str, homes: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of the module ``page``; ``homes`` maps modules to the names they define."""
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name in home_of:
            return getattr(import_module(home_of[name]), name)
        raise AttributeError(f"module {page!r} has no attribute {name!r}")

    return load
