"""The encodings in which documents can be read, beyond those that expat knows itself.

Expat reads UTF-8, UTF-16, ISO-8859-1 and US-ASCII.  It reads any other encoding of one byte per character
with a table of 256 code points, which Python's codecs supply.  Documents in the encodings of East Asia, with
several bytes per character, are transcribed to UTF-8 before they are parsed (``transcription.py``), or read
with a table of pairs of bytes where only names matter (``pair_table``).

Only codecs for character sets are asked for: Python also has codecs such as ``unicode_escape`` that are no
encodings of XML, and its codec registry keeps every unknown name that it is asked for.  Encodings with shift
states (ISO-2022, HZ, UTF-7) are not read: a part that is cut out of such a document cannot be read alone.
"""

from __future__ import annotations

import encodings
import pkgutil
import re
from array import array
from encodings.aliases import aliases
from functools import cache

_NATIVE = {"utf_8", "utf_16", "utf_16_be", "utf_16_le", "latin_1", "iso8859_1", "ascii"}
_SINGLE_BYTE = re.compile(
    r"iso8859_[0-9]+|cp[0-9]+|koi8_[rtu]|mac_[a-z]+|hp_roman8|kz1048|ptcp154|tis_620|viscii"
)
_MULTIBYTE = frozenset(
    [
        "gb2312",
        "gbk",
        "gb18030",
        "big5",
        "big5hkscs",
        "cp950",
        "shift_jis",
        "cp932",
        "shift_jis_2004",
        "shift_jisx0213",
        "euc_jp",
        "euc_jis_2004",
        "euc_jisx0213",
        "euc_kr",
        "cp949",
        "johab",
    ]
)
_REPLACEMENT = 0xFFFD
_DECLARATION = re.compile(
    rb"""(?:\xef\xbb\xbf)?<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"[^"<>]*"|'[^'<>]*')"""
    rb"""[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*["']([A-Za-z][A-Za-z0-9._-]*)["']"""
)
_OTHER_NAMES = {"windows_31j": "cp932", "cswindows31j": "cp932", "gb_2312_80": "gb2312"}  # unknown to Python
_WINDOWS = re.compile(r"windows_([0-9]+)")

_WIDE = {b"\xff\xfe": "utf_16_le", b"<\x00": "utf_16_le", b"\xfe\xff": "utf_16_be", b"\x00<": "utf_16_be"}


def wide_codec(body: bytes | memoryview) -> str | None:
    """The codec of a document in UTF-16, from its first two bytes; ``None`` for any other encoding."""
    return _WIDE.get(bytes(body[:2]))


def declared_encoding(body: bytes | memoryview) -> str | None:
    """The encoding that the XML declaration of a document names, unless the document is in UTF-16."""
    found = _DECLARATION.match(body)
    return found[1].decode("ascii") if found else None


def document_codec(head: bytes | memoryview) -> str:
    """The codec of a document, from its beginning; UTF-8 if it declares nothing that is known."""
    return wide_codec(head) or codec_name(declared_encoding(head) or "utf-8") or "utf-8"


def multibyte_codec(body: bytes | memoryview) -> str | None:
    """The codec of a document in an encoding of East Asia; ``None`` if expat reads it as it is."""
    encoding = declared_encoding(body)
    codec = None if encoding is None else codec_name(encoding)
    return codec if codec in _MULTIBYTE else None


def is_multibyte(codec: str) -> bool:
    """Whether documents in this encoding have to be transcribed."""
    return codec in _MULTIBYTE


def codec_name(encoding: str) -> str | None:
    """The Python codec for an encoding that documents can be read in; ``None`` if there is none."""
    name = encodings.normalize_encoding(encoding.lower()) if encoding.isascii() else ""
    if name not in aliases and name not in _MULTIBYTE:
        name = name.removeprefix("x_")
        name = f"cp{found[1]}" if (found := _WINDOWS.fullmatch(name)) else name
    name = aliases.get(name) or _OTHER_NAMES.get(name, name)
    if name in _NATIVE or name in _MULTIBYTE:
        return name
    if _SINGLE_BYTE.fullmatch(name) and name in _codecs() and code_points(name):
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


@cache
def pair_table(codec: str) -> tuple[tuple[int, ...], bytes]:
    """How expat can find the ends of characters of an encoding of East Asia, and most code points.

    The first table has for each byte its code point, or -2 or -3 where a character of so many bytes begins.
    The second one has the code points of pairs of bytes, and then those of triples by their last two bytes;
    the entry of the pair (0, 0) is the first byte of triples.  0 is no character.  U+FFFD stands for what a
    table of 16 bits cannot have: characters beyond U+FFFF, and each half of four bytes of GB18030.
    """
    lengths: list[int] = []
    points = array("H", bytes(2 * 2 * _PAIRS))
    for first in range(256):
        alone = _point(codec, bytes([first]))
        if alone != _UNFINISHED:
            lengths.append(alone or -1)
            continue
        pairs = [_point(codec, bytes([first, second])) for second in range(256)]
        if any(point not in (0, _UNFINISHED) for point in pairs):
            lengths.append(-2)
            for second, point in enumerate(pairs):
                points[first << 8 | second] = _REPLACEMENT if point == _UNFINISHED else point
            continue
        triples = {
            second << 8 | third: _point(codec, bytes([first, second, third]))
            for second, point in enumerate(pairs)
            for third in (range(256) if point == _UNFINISHED else ())
        }
        if not any(triples.values()):
            lengths.append(-1)
            continue
        lengths.append(-3)
        points[0] = first
        for at, point in triples.items():
            points[_PAIRS | at] = max(point, 0)
    return tuple(lengths), points.tobytes()


_PAIRS = 1 << 16
_UNFINISHED = -2


def _point(codec: str, character: bytes) -> int:
    """The code point of these bytes, ``_UNFINISHED`` if more must follow, 0 if they are none."""
    try:
        text = character.decode(codec)
    except UnicodeDecodeError as error:
        is_beginning = error.start == 0 and error.end == len(character) and "incomplete" in error.reason
        return _UNFINISHED if is_beginning else 0
    if len(text) == 1 and text != "\0" and ord(text) < _PAIRS:
        return ord(text)
    return _REPLACEMENT if text != "\0" else 0
