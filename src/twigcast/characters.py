"""The characters that names, texts and URIs may have: those of XML 1.0.

No document can contain any other character: NUL, most control characters, lone surrogates, U+FFFE and U+FFFF.
Text that has one could match nothing, cannot always be encoded, and misleads whoever prints or stores it.
"""

from __future__ import annotations

import re

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def illegal_character(text: str) -> int | None:
    """The position, from 0, of the first character that XML 1.0 does not allow; none if there is none."""
    if text.isprintable():  # a quick test that holds for nearly all texts, and for legal characters only
        return None
    found = _NO_XML.search(text)
    return None if found is None else found.start()


def describe_character(character: str) -> str:
    """The name of a character that cannot be printed, such as ``U+0000``."""
    return f"U+{ord(character):04X}"
