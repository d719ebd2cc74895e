"""The encodings in which documents can be read, beyond those that expat knows itself.

Expat reads UTF-8, UTF-16, ISO-8859-1 and US-ASCII.  It reads any other encoding of one byte per character
with a table of 256 code points, which Python's codecs supply.  Only codecs for character sets are asked for:
Python also has codecs such as ``unicode_escape`` that are no encodings of XML, and its codec registry keeps
every unknown name that it is asked for.
"""

from __future__ import annotations

import encodings
import pkgutil
import re
from encodings.aliases import aliases
from functools import cache

_NATIVE = {"utf_8", "utf_16", "utf_16_be", "utf_16_le", "latin_1", "iso8859_1", "ascii"}
_SINGLE_BYTE = re.compile(
    r"iso8859_[0-9]+|cp[0-9]+|koi8_[rtu]|mac_[a-z]+|hp_roman8|kz1048|ptcp154|tis_620|viscii"
)
_REPLACEMENT = 0xFFFD


_WIDE = {b"\xff\xfe": "utf_16_le", b"<\x00": "utf_16_le", b"\xfe\xff": "utf_16_be", b"\x00<": "utf_16_be"}


def wide_codec(body: bytes) -> str | None:
    """The codec of a document in UTF-16, from its first two bytes; ``None`` for any other encoding."""
    return _WIDE.get(bytes(body[:2]))


def codec_name(encoding: str) -> str | None:
    """The Python codec for an encoding that documents can be read in; ``None`` if there is none."""
    name = encodings.normalize_encoding(encoding.lower()) if encoding.isascii() else ""
    name = aliases.get(name, name)
    if name in _NATIVE or (_SINGLE_BYTE.fullmatch(name) and name in _codecs() and code_points(name)):
        return name
    return None


@cache
def _codecs() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(encodings.__path__))


@cache
def code_points(codec: str) -> tuple[int, ...]:
    """The code point of each byte, -1 if it has none; empty if a character takes more than one byte."""
    try:
        decoded = bytes(range(256)).decode(codec, "replace")
    except (LookupError, ValueError):
        return ()
    if len(decoded) != 256:
        return ()
    return tuple(-1 if ord(character) == _REPLACEMENT else ord(character) for character in decoded)
