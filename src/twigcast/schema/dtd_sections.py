"""Takes the marks of included sections out of a DTD.

    <![INCLUDE[ <!ELEMENT a EMPTY> ]]>                    <!ELEMENT a EMPTY>

Expat reads conditional sections, but refuses a parameter entity with declarations inside an included one, as
if the entity had to end the section.  Without the marks it means the same, and expat reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_MARK = re.compile(rb"""<!--|<\?|<!\[|\]\]>|["']""")
_ENDS = {b"<!--": b"-->", b"<?": b"?>", b'"': b'"', b"'": b"'"}
_HEAD = re.compile(rb"<!\[[ \t\r\n]*(?:%([^;]+);|(INCLUDE|IGNORE))[ \t\r\n]*\[")
_NESTED = re.compile(rb"<!\[|\]\]>")
_SIGN = re.compile(rb"[^\r\n]")


def without_sections(body: bytes, values: Mapping[str, str | None]) -> bytes:
    """The DTD, in UTF-8, with spaces for the marks of its included sections, so that all places stay.

    ``values`` has those of the parameter entities that may switch sections; where one is not known yet, the
    marks stay.
    """
    spaced = bytearray(body)
    opened: list[bool] = []  # of each open section, whether its marks are taken out
    at = 0
    while found := _MARK.search(body, at):
        mark = found[0]
        if mark == b"]]>":
            at = found.end()
            if opened and opened.pop():
                _blank(spaced, found.start(), at)
        elif mark == b"<![":
            head = _HEAD.match(body, found.start())
            if head is None:
                break  # expat says what is wrong
            keyword = _keyword(head, values)
            at = head.end()
            if keyword == "IGNORE":
                at = _end_of_ignored(body, at)
            else:
                opened.append(keyword == "INCLUDE")
                if opened[-1]:
                    _blank(spaced, found.start(), at)
        else:
            end = body.find(_ENDS[mark], found.end())
            if end < 0:
                break
            at = end + len(_ENDS[mark])
    return bytes(spaced)


def _keyword(head: re.Match[bytes], values: Mapping[str, str | None]) -> str | None:
    if head[2]:
        return head[2].decode()
    value = values.get(f"%{head[1].decode('utf-8', 'replace')}")
    return value.strip() if value else None


def _end_of_ignored(body: bytes, start: int) -> int:
    depth = 1
    for found in _NESTED.finditer(body, start):
        depth += 1 if found[0] == b"<![" else -1
        if not depth:
            return found.end()
    return len(body)


def _blank(spaced: bytearray, start: int, end: int) -> None:
    spaced[start:end] = _SIGN.sub(b" ", spaced[start:end])
