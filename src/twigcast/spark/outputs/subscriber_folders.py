"""The names of folders of subscribers and other values, which no two values share on any file system.

    ada, desk-1            ada, desk-1                plain lower-case names stay as they are
    Ada, a/b, é            %41da, a%2Fb, %C3%A9       capitals, special characters and all others are escaped
    .x, _x, x., con        %2Ex, %5Fx, x%2E, %63on    so are hidden and reserved names
    a very long name       a very lo…%-4f2a…          cut, with a hash of the whole name
    null                   %null                      only columns that deliveries carry can be null

Invariant: the names of different subscribers differ, also if a file system ignores case or normalises
Unicode: a name is ASCII without capitals, except for the digits of escapes.  ``%-`` occurs in no name that is
not cut.
"""

from __future__ import annotations

import re
from hashlib import blake2b

from twigcast.spark.outputs.file_names import text_of

NAME_BYTES = 200

_PLAIN = re.compile(rb"[^a-z0-9_.\- @+,=~]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9]) *(?:\.|\Z)")  # names of devices on Windows


def partition_folder(value: object) -> str:
    """The name of the folder of a value of a column."""
    return "%null" if value is None else subscriber_folder(text_of(value))


def subscriber_folder(subscriber: str) -> str:
    """The name of the folder of a subscriber."""
    encoded = subscriber.encode("utf-8", "surrogatepass")
    name = _PLAIN.sub(_escaped, encoded).decode("ascii")
    if name[-1:] in (".", " "):
        name = name[:-1] + _hex(name[-1])
    if name[:1] in (".", "_", " ") or _RESERVED.match(name):
        name = _hex(name[0]) + name[1:]
    if len(name) > NAME_BYTES:
        name = name[: NAME_BYTES - 34] + "%-" + blake2b(encoded, digest_size=16).hexdigest()
    return name or "%"


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % found[0][0]


def _hex(character: str) -> str:
    return f"%{ord(character):02X}"
