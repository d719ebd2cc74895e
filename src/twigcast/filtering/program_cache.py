"""Programs of usual subscriptions, put together from compiled parts, without a pattern in between.

    /nitf  /body  [p/em]  [@id='n7']  //hl2    →    keys of nitf, body { (p/em, @id='n7', the key of hl2) }

As patterns are (``pattern.assembling``), so are their programs: each part of a text is compiled once, and a
hundred thousand subscriptions are made of a few ten thousand parts.  A predicate that is itself such a path
is put together too.  A part whose condition is no plain conjunction, or inexact, is left to the compiler.

Invariant: ``assembled(text)`` is ``None`` or the words that ``compile(parse(text))`` has, which is exact.
Cost: 100,000 subscriptions with 46,000 different predicates take 1.8 s, by way of patterns 4.4.
"""

from __future__ import annotations

from array import array
from typing import TypeAlias

from twigcast.filtering.compiling import Compiler
from twigcast.pattern import LENGTH, cut, parse_alone, part_conditions, part_step

_Literals: TypeAlias = tuple[bytes, ...]  # each the words of one
_Conditions: TypeAlias = dict[str, _Literals]  # by canonical text


def _words(*words: int) -> bytes:
    return array("I", words).tobytes()


_COUNT = [_words(number) for number in range(LENGTH + 1)]
_NOTHING = _words(0)
_ONE = _words(1)
_CHAIN = _words(0, 0)


class ProgramCache:
    """Programs over the vocabulary of a compiler, for texts in which no prefix is bound."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self._keys: dict[str, bytes | None] = {}
        self._conditions: dict[str, _Conditions | None] = {}

    def assembled(self, text: str) -> bytes | None:
        """The words of the program of ``text``; ``None`` where it has parts that are not usual."""
        words = self._chain(cut(text))
        return None if words is None else _ONE + words

    def _chain(self, parts: list[str]) -> bytes | None:
        """The chain of the parts, as ``compiling`` writes it: from the last step to the first."""
        known = self._keys
        keys: list[bytes] = []
        at_end = _NOTHING
        predicates: list[str] = []
        for part in reversed(parts):
            if part[0] == "[":
                predicates.append(part)
                continue
            if predicates:
                literals = self._literals(predicates)
                if literals is None:
                    return None
                if keys:
                    keys.append(_COUNT[len(keys)])
                    keys.append(_CHAIN)
                    keys.reverse()
                    keys.append(at_end)
                    below = b"".join(keys)
                    if below not in literals:
                        literals = (*literals, below)
                    keys = []
                at_end = _ONE + _COUNT[len(literals)] + b"".join(literals)
                predicates = []
            key = known[part] if part in known else self._new_key(part)
            if key is None:
                return None
            keys.append(key)
        if not keys:
            return None
        keys.append(_COUNT[len(keys)])
        keys.reverse()
        keys.append(at_end)
        return b"".join(keys)

    def _literals(self, parts: list[str]) -> _Literals | None:
        """What the predicates of one step ask together, each once, in the order of their canonical texts."""
        conditions: _Conditions = {}
        for part in parts:
            found = self._conditions[part] if part in self._conditions else self._new_conditions(part)
            if found is None:
                return None
            conditions = {**conditions, **found} if conditions else found
        if len(conditions) == 1:
            return next(iter(conditions.values()))
        return tuple(dict.fromkeys([literal for text in sorted(conditions) for literal in conditions[text]]))

    def _new_key(self, part: str) -> bytes | None:
        step = part_step(part, None, parse_alone)
        key = self._keys[part] = None if step is None else _words(self._compiler.key(step))
        return key

    def _new_conditions(self, part: str) -> _Conditions | None:
        found = self._path_condition(part[1:-1]) or self._compiled_conditions(part)
        self._conditions[part] = found
        return found

    def _path_condition(self, text: str) -> _Conditions | None:
        """That a path of parts selects something; ``None`` where the text is not such a path."""
        if text[:1] == "/":
            return None
        parts = cut(text[1:] if text[:3] == ".//" else f"/{text}")
        words = self._chain(parts)
        return None if words is None else {self._canonical(parts): (_CHAIN + words,)}

    def _canonical(self, parts: list[str]) -> str:
        """The canonical text of a relative path whose parts have been compiled."""
        texts: list[str] = []
        predicates: _Conditions = {}
        for part in [*parts, ""]:
            if part[:1] == "[":
                predicates.update(self._conditions[part] or {})
                continue
            texts += [f"[{predicate}]" for predicate in sorted(predicates)]
            texts.append(part)
            predicates = {}
        text = "".join(texts)
        return f".{text}" if text[1] == "/" else text[1:]

    def _compiled_conditions(self, part: str) -> _Conditions | None:
        predicates = part_conditions(part, None, parse_alone)
        if not predicates:  # not usual, or always true
            return None
        conditions: _Conditions = {}
        for text, predicate in predicates.items():
            condition, exact = self._compiler.condition(predicate)
            if not exact or len(condition) != 1 or not condition[0]:
                return None
            conditions[text] = tuple(_words(*literal) for literal in condition[0])
        return conditions
