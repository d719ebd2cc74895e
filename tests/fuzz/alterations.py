"""Small changes of bytes and of JSON, as damage or an attacker would make them."""

from __future__ import annotations

from random import Random
from typing import Any

VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1 << 31, 1 << 70, 1e308, float("nan"), "", "x", "//a[", "/*", "\ud800", "\0"),
    *([], {}, [[]], ["a", "b"], [["", "a"]], "a" * 5000, "/a" * 3000, [0] * 3000, "not(" * 500),
)


def altered_bytes(chance: Random, data: bytes) -> bytes:
    """The bytes with one to three changes."""
    out = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 3])):
        at = chance.randrange(len(out) + 1)
        end = min(len(out), at + chance.choice([1, 1, 2, 8, 100]))
        match chance.randrange(5):
            case 0:
                out[at:end] = bytes(chance.randrange(256) for _ in range(end - at))
            case 1:
                del out[at:end]
            case 2:
                out[at:at] = out[at:end] * chance.choice([1, 1, 3, 50])
            case 3:
                out[at:at] = chance.choice([b"\0", b"\xff" * 9, b'"', b"[" * 200, b".a" * 300, b"{", b"\n"])
            case _:
                del out[at:]
    return bytes(out)


def altered_json(chance: Random, value: Any) -> Any:
    """The value with one part replaced, left out, moved or repeated; it is not changed itself."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(sorted(value))
        if chance.random() < 0.1:
            return {each: part for each, part in value.items() if each != key}
        return {**value, key: altered_json(chance, value[key])}
    if isinstance(value, list) and value and chance.random() < 0.85:
        at = chance.randrange(len(value))
        kind = chance.random()
        if kind < 0.1:
            return value[:at] + value[at + 1 :]
        if kind < 0.2:
            return [*value, value[at]]
        if kind < 0.3:
            return chance.sample(value, len(value))
        return [*value[:at], altered_json(chance, value[at]), *value[at + 1 :]]
    return chance.choice(VALUES)
