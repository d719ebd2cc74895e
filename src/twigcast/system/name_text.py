r"""Names of files and of archive members as text, whatever their bytes are.

    bytes of a name        text
    news/é.xml             news/é.xml         valid UTF-8 stays as it is
    caf\xe9.xml            caf\xe9.xml        a byte that is not UTF-8: a backslash, x and two hex digits
    two<newline>lines      two\x0alines       control characters and line separators too, byte by byte
    back\slash             back\\slash        a backslash is doubled

The text is valid Unicode without control characters, so it can stand in a table, a line or a terminal.

Invariant: ``name_bytes(name_text(name)) == name``, so different names have different texts.
"""

from __future__ import annotations

import os
import re

_SPECIAL = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPE = re.compile(rb"\\(?:\\|x([0-9a-f]{2}))")


def name_text(name: bytes | str, *, also: str = "") -> str:
    """The text of a name; a ``str`` is taken as ``os.fsdecode`` returns it.

    The characters in ``also`` are escaped as well, so that a caller can use them as separators.
    """
    text = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
    if also or _SPECIAL.search(text):
        text = _SPECIAL.sub(_escaped, text)
        for separator in also:
            text = text.replace(separator, _hex(separator.encode()))
    return text


def name_bytes(text: str) -> bytes:
    """The name that ``name_text`` turned into this text."""
    return _ESCAPE.sub(_unescaped, text.encode("utf-8", "surrogateescape"))


def path_of(text: str) -> str:
    """The path, as functions of ``os`` take it, that ``name_text`` turned into this text."""
    return os.fsdecode(name_bytes(text))


def _escaped(found: re.Match[str]) -> str:
    if found[0] == "\\":
        return "\\\\"
    try:
        return _hex(found[0].encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return _hex(found[0].encode("utf-8", "surrogatepass"))


def _hex(content: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in content)


def _unescaped(found: re.Match[bytes]) -> bytes:
    return b"\\" if found[1] is None else bytes.fromhex(found[1].decode("ascii"))
