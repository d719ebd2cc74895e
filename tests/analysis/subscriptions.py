"""Random documents and patterns that match often: few names, few values, short paths, every predicate."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from hypothesis import strategies as st

from twigcast.document import Document, read
from twigcast.errors import PatternError
from twigcast.pattern import Pattern, parse

NAMESPACES = {"p": "urn:p"}
_NAMES = ("a", "b", "c")
_TESTS = ("a", "b", "c", "a", "b", "*", "*")
_NUMBERS = ("1", "2", "3")


def linear_patterns() -> st.SearchStrategy[Pattern]:
    """Paths of names, ``*``, ``/`` and ``//``."""
    return st.randoms(use_true_random=False).map(linear_pattern)


def twig_patterns() -> st.SearchStrategy[Pattern]:
    """Paths with predicates, on structure and on values, some of them unions."""
    return st.randoms(use_true_random=False).map(twig_pattern)


def linear_pattern(random: Random) -> Pattern:
    """A path of names, ``*``, ``/`` and ``//``."""
    return parse(_path(random, 4, _TESTS, 0))


def twig_pattern(random: Random) -> Pattern:
    """Draw a twig; one in some hundred drawn texts is not in the language and is drawn again."""
    while True:
        with suppress(PatternError):
            return parse(_twig(random), NAMESPACES)


def small_document(random: Random, depth: int = 4) -> Document:
    """Draw a document that such patterns often match."""
    return read(f'<?xml version="1.0"?>{_element(random, depth)}'.encode())


def general_pattern(random: Random) -> Pattern:
    """Draw a twig of which some steps have general expressions, or which goes on by general steps."""
    while True:
        general = random.choice(_GENERAL)
        text = _path(random, 2, _TESTS, 1) + general
        if random.random() > 0.5:
            text += _path(random, 2, _TESTS, 1)
        with suppress(PatternError):
            return parse(text, NAMESPACES)


_GENERAL = (
    *("[a = b]", "[a = b]", "[last()]", "[a][last()]", "[a][position() != last()]", "[b][2][last() = 2]"),
    *("[not(self::a)]", "[count(a) = count(b)]", "[normalize-space(.) = '1']", "[//a = .]", "[@k + 1 = 2]"),
    *("/following-sibling::a", "/following-sibling::a", "/ancestor::b", "/node()", "/@k[. = 1]", "/.."),
)


def _twig(random: Random) -> str:
    tests = (*_TESTS, "p:a", "*:a", "p:*") if random.random() > 0.8 else _TESTS
    paths = [_path(random, 3, tests, 2)]
    if random.random() > 0.85:
        paths.append(_path(random, 2, tests, 1))
    if random.random() > 0.9:
        paths[0] += random.choice(["/@k", "/text()", "//@j"])
    return " | ".join(paths)


def _path(random: Random, most: int, tests: tuple[str, ...], nesting: int) -> str:
    steps = [_step(random, tests, nesting) for _ in range(random.randint(1, most))]
    return "".join(random.choice(["/", "/", "//"]) + step for step in steps)


def _step(random: Random, tests: tuple[str, ...], nesting: int) -> str:
    step = random.choice(tests)
    if nesting and random.random() > 0.95:
        step += random.choice(["[1]", "[2]", "[position()<3]"])
    while nesting and random.random() > 0.65:
        step += f"[{_condition(random, tests, nesting - 1)}]"
    return step


def _condition(random: Random, tests: tuple[str, ...], nesting: int) -> str:
    kind = random.randint(0, 13)
    if kind <= 3:
        return _relative(random, tests, nesting)
    if kind == 4:
        return random.choice(["@k", "@j", "text()", ".//@k"])
    nodes = random.choice(["@k", "@k", "@j", ".", "text()", _relative(random, tests, nesting)])
    if kind <= 8:
        operator = random.choice(["=", "=", "!=", "<", "<=", ">", ">="])
        return f"{nodes}{operator}{random.choice(_NUMBERS)}"
    if kind == 9:
        return f"{random.choice(['contains', 'starts-with'])}({nodes},'{random.choice(['1', '12', '2'])}')"
    if kind == 10:
        function = random.choice(["count", "string-length"])
        operator = random.choice(["=", "<", ">", ">=", "!="])
        return f"{function}({nodes}){operator}{random.choice(_NUMBERS)}"
    if kind == 11:
        return f"not({_condition(random, tests, nesting)})"
    word = random.choice(["or", "and"])
    return f"({_condition(random, tests, nesting)}) {word} ({_condition(random, tests, nesting)})"


def _relative(random: Random, tests: tuple[str, ...], nesting: int) -> str:
    path = random.choice(["", "", ".//"]) + _step(random, tests, nesting)
    if random.random() > 0.7:
        path += random.choice(["/", "/", "//"]) + _step(random, tests, nesting)
    return path + (random.choice(["/@k", "/text()"]) if random.random() > 0.85 else "")


def _element(random: Random, depth: int) -> str:
    name = random.choice(_NAMES)
    change = random.choice(["", "", "", "", "", "", ' xmlns="urn:p"', ' xmlns=""'])
    attributes = "".join(
        f' {key}="{random.choice(("1", "2", "3", "12"))}"' for key in ("k", "j") if random.random() > 0.6
    )
    inside = "".join(_piece(random, depth) for _ in range(random.randint(0, 3)))
    return f"<{name}{change}{attributes}>{inside}</{name}>"


def _piece(random: Random, depth: int) -> str:
    if depth and random.random() > 0.3:
        return _element(random, depth - 1)
    return random.choice(["1", "2", "12", ""])
