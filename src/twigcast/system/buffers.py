"""The bytes of a document, given as any object that has a buffer of bytes: nothing is copied."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Buffer as _Buffer

    Buffer: TypeAlias = _Buffer
else:
    Buffer: TypeAlias = Any

_EXPECTED = "expected the bytes of a document (bytes, or another buffer of bytes)"


def flat_buffer(given: Buffer) -> bytes | memoryview:
    """The bytes of a buffer: ``bytes`` as they are, anything else as a view of single bytes.

    Raises ``TypeError`` if the object has no buffer, or one that is not contiguous or not of bytes.
    """
    if type(given) is bytes:
        return given
    try:
        view = memoryview(given)
    except TypeError:
        raise TypeError(f"{_EXPECTED}, got {_named(given)}{_advice(given)}") from None
    if view.itemsize != 1:
        raise TypeError(f"{_EXPECTED}, got items of {view.itemsize} bytes (format {view.format!r})")
    if not view.c_contiguous:
        raise TypeError(f"{_EXPECTED}, got one with gaps (a slice with a step): copy it with bytes(…)")
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def whole_bytes(given: Buffer) -> bytes:
    """The same as ``bytes``, copied unless they are that already."""
    found = flat_buffer(given)
    return found if type(found) is bytes else bytes(found)


def _named(given: object) -> str:
    return "None" if given is None else type(given).__qualname__


def _advice(given: object) -> str:
    if isinstance(given, str):
        return ": encode it, or read the file as bytes"
    if isinstance(given, os.PathLike):
        return ": read the file with read_bytes()"
    if hasattr(given, "read"):
        return ": read() gives them"
    if isinstance(given, Iterable):
        return ": match_batch takes several documents"
    return ""
