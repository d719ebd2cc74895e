"""Subscriptions from the grammar of docs/patterns.md and a seed: all constructs, deep, long and broken ones.

Most are in the language.  Some are XPath but outside of it, and ``broken_expression`` need not be XPath: an
index must refuse exactly those that ``parse`` refuses.
"""

from __future__ import annotations

import random

from tests.fuzz.documents import ATTRIBUTES, COLLIDING, ELEMENTS, LONG_URI, WORDS

NAMESPACES = {"p": "urn:p", "long": "urn:" + "x" * LONG_URI}
OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
NUMBERS = ["0", "1", "2", "2.5", "-3", "30", "-0", ".5", "0.1", "100000000000000000000", "- 1"]
NAME_TESTS = [*ELEMENTS, "*", "*", "*", "p:*", "*:a", "Q{urn:q}a", "Q{}b", "long:a", "long:*", "and", "div"]
ATTRIBUTE_TESTS = [*ATTRIBUTES, "*", "p:*", "*:k", "xml:lang", "long:k"]
AXES = ["child::", "descendant::", "descendant-or-self::", "self::", "parent::"]


def expression(chance: random.Random) -> str:
    """A subscription of any kind."""
    kind = chance.random()
    if kind < 0.2:
        return general(chance)
    if kind < 0.8:
        return "|".join(_absolute(chance) for _ in range(1 if chance.random() < 0.9 else 2))
    if kind < 0.84:
        return _relative(chance, 2)
    if kind < 0.88:
        return nested(chance)
    if kind < 0.91:
        return recursive(chance)
    if kind < 0.94:
        return counting(chance)
    if kind < 0.97:
        return wordy(chance)
    return long(chance)


def general(chance: random.Random) -> str:
    """An expression that is decided on a tree: other axes, functions, arithmetic, paths against paths."""
    if chance.random() < 0.3:
        return chance.choice(["{}", "not({})", "{} and //a", "//b or {}"]).format(
            _general_condition(chance, 2)
        )
    return f"//{chance.choice(NAME_TESTS)}[{_general_condition(chance, 2)}]" + chance.choice(
        [
            "",
            "/a",
            "/following-sibling::*",
            "/ancestor::a",
            "//@k",
            "/text()",
            "/comment()",
            "[last()]",
            "[2]",
        ]
    )


def _general_condition(chance: random.Random, depth: int) -> str:
    path = lambda: _general_path(chance, depth - 1)  # noqa: E731
    word, number = repr(chance.choice(["x", "1", "y z", "é"])), chance.choice(["0", "1", "2.5", "-3"])
    compared = f"{chance.choice(OPERATORS)} {number}"
    return chance.choice(
        [
            f"{path()} = {path()}",
            f"{path()} != {path()}",
            f"{path()} < {path()}",
            f"count({path()}) {compared}",
            f"sum({path()}) {compared}",
            f"{path()} * 2 + 1 {compared}",
            f"string-length(normalize-space({path()})) {compared}",
            f"substring({path()}, 2, 3) = {word}",
            f"substring-before({path()}, 'x') = {word}",
            f"translate({path()}, 'xyz', 'abc') != {word}",
            f"concat({path()}, {word}, {path()}) = {word}",
            f"contains({path()}, {word})",
            f"starts-with({path()}, {word})",
            f"local-name({path()}) = 'a'",
            f"round({path()}) {compared}",
            f"boolean({path()}) = not({path()})",
            "lang('en')",
        ]
    )


def _general_path(chance: random.Random, depth: int) -> str:
    axis = chance.choice(
        [
            "",
            "",
            ".//",
            "../",
            "//",
            "/",
            "ancestor::",
            "following-sibling::",
            "preceding-sibling::",
            "following::",
        ]
    )
    name = chance.choice(["a", "b", "*", "c", "p:*"])
    inner = f"[{_general_condition(chance, depth)}]" if depth > 0 and chance.random() < 0.3 else ""
    return (
        axis + name + inner + chance.choice(["", "", "[1]", "[last()]", "[position() < 3]", "/@k", "/text()"])
    )


def broken_expression(chance: random.Random) -> str:
    """An expression that need not be one."""
    text = list(expression(chance))
    for _ in range(chance.randrange(1, 4)):
        text[chance.randrange(len(text))] = chance.choice("/[]()@*'\"=<>|.:x1 é\n$-{}")
    return "".join(text)


def nested(chance: random.Random) -> str:
    """Predicates in predicates, up to the limit on nesting and a little beyond."""
    depth = chance.choice([3, 8, 15, 31, 33])
    text = chance.choice(["b", "@k", ". = 'x'", "text()", "2"])
    for level in range(depth):
        opened = chance.choice(
            ["{}[{}]", "{}[{}]", "{}[not({})]", ".//{}[{}]", "{}[{} or b]", "{}[c and {}]"]
        )
        if level == depth - 1:
            opened = "//{}[{}]"
        text = opened.format(chance.choice("abc*"), text)
    return text


def recursive(chance: random.Random) -> str:
    """Descendant steps of one name, of which a deep document has very many combinations."""
    name = chance.choice(["a", "*", "b"])
    length = chance.randrange(2, 12)
    steps = [
        name + chance.choice(["", "", "[d]", "[@k]", f"[.//{name}]", "[.//c = 1]"]) for _ in range(length)
    ]
    return (
        "//" + "//".join(steps) + chance.choice(["", "/c", "[c = 'x']", "//d", "/@k", "[contains(., 'y')]"])
    )


def counting(chance: random.Random) -> str:
    """Positions and counts, alone and with other conditions before and after them."""
    position = lambda: chance.choice(  # noqa: E731
        [
            f"[{chance.randrange(1, 6)}]",
            f"[position() {chance.choice(OPERATORS)} {chance.choice(['1', '2', '7', '2.5', '0'])}]",
            f"[{chance.randrange(1, 4)} {chance.choice(OPERATORS)} position()]",
        ]
    )
    other = lambda: chance.choice(["", "", "[@k]", "[c]", "[. = 'x']", "[not(@l)]", position()])  # noqa: E731
    name = lambda: chance.choice(["b", "c", "d", "*"])  # noqa: E731
    counted = chance.choice(["b", "*", "b|c", ".//b", "@*", "text()", "b/@k", f"b{position()}"])
    count = f"[count({counted}) {chance.choice(OPERATORS)} {chance.choice(['0', '1', '2', '10', '2.5'])}]"
    return (
        f"{chance.choice(['/a/', '//', '/*/'])}{name()}{other()}{position()}{other()}"
        f"{chance.choice(['', count])}{chance.choice(['', f'/{name()}{position()}', f'//{name()}'])}"
    )


def wordy(chance: random.Random) -> str:
    """Many comparisons with strings that contain each other, and long ones."""
    words = [*WORDS, "x" * 50, "xx", "xyx", "g l", "ong", "&", "\n", "'"]
    tests = []
    for _ in range(chance.randrange(1, 12)):
        word = chance.choice(words)
        quoted = f'"{word}"' if "'" in word else f"'{word}'"
        operand = chance.choice([".", "b", "@k", "text()", ".//c"])
        tests.append(
            chance.choice(
                [f"contains({operand}, {quoted})", f"starts-with({operand}, {quoted})", f"{operand}={quoted}"]
            )
        )
    return f"//{chance.choice('ab*')}[{chance.choice([' and ', ' or ']).join(tests)}]"


def long(chance: random.Random) -> str:
    """A subscription near the limits on length, steps and alternatives."""
    size = chance.choice([20, 64, 100, 250, 260])
    names = [*"abc*", *COLLIDING[:3]]
    return chance.choice(
        [
            "".join(chance.choice(["/", "//"]) + chance.choice(names) for _ in range(size)),
            "|".join(f"//{chance.choice(names)}/{chance.choice(names)}" for _ in range(size)),
            "//b" + "".join(f"[@k{i}]" for i in range(size)),
            f"//b[@k = '{'x' * size * 30}']",
            f"//{chance.choice(COLLIDING)}[@{chance.choice(COLLIDING)} = 'x']",
            "/a" + "/b/.." * size,
        ]
    )


def _absolute(chance: random.Random) -> str:
    steps = [_step(chance, 2) for _ in range(chance.randrange(1, 6))]
    return "".join(chance.choice(["/", "/", "//"]) + step for step in steps) + _tail(chance, 0.15)


def _relative(chance: random.Random, depth: int) -> str:
    steps = [_step(chance, depth) for _ in range(chance.randrange(1, 4))]
    path = chance.choice(["", "", ".//", "../"]) + steps[0]
    return path + "".join(chance.choice(["/", "//"]) + step for step in steps[1:]) + _tail(chance, 0.2)


def _tail(chance: random.Random, probability: float) -> str:
    if chance.random() >= probability:
        return ""
    return chance.choice(["/text()", "//text()", "/@" + chance.choice(ATTRIBUTE_TESTS), "//@k", "/..", "/."])


def _step(chance: random.Random, depth: int) -> str:
    predicates = ""
    while depth and chance.random() < 0.25:
        predicates += f"[{_condition(chance, depth - 1)}]"
    if chance.random() < 0.03:
        predicates += f"[{chance.randrange(1, 4)}]"
    axis = chance.choice(AXES) if chance.random() < 0.05 else ""
    return axis + chance.choice(NAME_TESTS[:9] if chance.random() < 0.8 else NAME_TESTS) + predicates


def _condition(chance: random.Random, depth: int) -> str:
    kind = chance.randrange(12)
    if depth and kind == 0:
        operator = chance.choice(["and", "or"])
        return f"({_condition(chance, depth - 1)} {operator} {_condition(chance, depth - 1)})"
    if depth and kind == 1:
        return f"not({_condition(chance, depth - 1)})"
    path = _relative(chance, depth)
    operand = chance.choice(["@" + chance.choice(ATTRIBUTE_TESTS), "text()", ".", path, path, f"({path}|b)"])
    comparison, number = chance.choice(OPERATORS), chance.choice(NUMBERS)
    word = chance.choice(WORDS)
    match kind:
        case 2:
            return f"contains({operand}, '{word}')"
        case 3:
            return f"starts-with({operand}, '{word}')"
        case 4:
            return f"string-length({operand}) {comparison} {number}"
        case 5:
            return f"count({path}) {comparison} {number}"
        case 6:
            return f"{operand} {comparison} {number}"
        case 7:
            return f"'{word}' {comparison} {operand}"
        case 8:
            return f"{operand} = '{word}'"
        case 9:
            return f"boolean({path})"
        case 10:
            return f"string-length() {comparison} {number}"
        case _:
            return path
