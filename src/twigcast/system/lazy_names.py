"""Lazy imports: the modules of a page (an ``__init__.py``) are imported when one of their names is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from twigcast.errors import ExtraError


def lazy_names(
    page: str, homes: Mapping[str, Iterable[str]], *, extra: str | None = None
) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of the module ``page``; ``homes`` maps modules to the names they define.

    If a library is not installed that the modules import, and they belong to an ``extra``, the error is an
    ``ExtraError`` that says how to install it.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name in home_of:
            return getattr(_imported(home_of[name], extra), name)
        raise AttributeError(f"module {page!r} has no attribute {name!r}")

    return load


def _imported(module: str, extra: str | None) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        library = (error.name or "twigcast").partition(".")[0]
        if extra is None or library == "twigcast":
            raise
        raise ExtraError(library, extra=extra) from error
