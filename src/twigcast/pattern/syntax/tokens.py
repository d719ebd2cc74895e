"""Splits a subscription into tokens: names, literals, numbers and signs.

A prefixed name, ``*:local`` and ``Q{uri}local`` are one token each.  Whether ``*``, ``and`` or ``or`` is a
name or an operator is decided by the parser, which knows where an operator may occur.
Cost: one pass of one regular expression; columns are computed by a second pass, only for an error.
"""

from __future__ import annotations

import re

_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME = f"[{_START}][{_START}.0-9\u00b7\u0300-\u036f\u203f-\u2040-]*"
_TOKEN = re.compile(
    rf"""[ \t\r\n]*(
        //? | \[ | \]                            # the commonest first
      | Q\{{[^{{}}]*\}}(?:{NAME}|\*)            # Q{{uri}}local
      | {NAME}(?::(?:{NAME}|\*))?              # local, prefix:local, prefix:*
      | \*(?::{NAME})?                          # *, *:local
      | @ | \.\. | [0-9]+(?:\.[0-9]*)? | \.[0-9]+ | \.
      | '[^']*' | "[^"]*"
      | :: | [!<>]?= | [^ \t\r\n]                # signs, and anything else for the parser to refuse
    )""",
    re.VERBOSE,
)

END = ""


def tokenise(text: str) -> list[str]:
    """The tokens of ``text`` in order, with ``END`` after the last."""
    tokens: list[str] = _TOKEN.findall(text)
    tokens.append(END)
    return tokens


def column(text: str, index: int) -> int:
    """The column, from 1, where the token with this index begins; one past the text for ``END``."""
    for position, found in enumerate(_TOKEN.finditer(text)):
        if position == index:
            return found.start(1) + 1
    return len(text) + 1


def length(text: str) -> int:
    """The length of ``text`` without the URIs that canonical text writes into names."""
    return len(_URI.sub("", text))


def is_name(token: str) -> bool:
    """Whether the token is a name test: a name with or without prefix, ``*``, ``*:a``, ``Q{uri}a``."""
    return token[:1] == "*" or _NAME_START.match(token) is not None


def is_prefix(text: str) -> bool:
    """Whether the text can be the prefix of a name: an XML name without a colon."""
    return _PREFIX.fullmatch(text) is not None


_PREFIX = re.compile(NAME)
_URI = re.compile(r"Q\{[^{}]*\}")
_NAME_START = re.compile(f"[{_START}]")
