"""Random documents and patterns for property tests, small enough that they meet.

Documents use namespaces, mixed content, CDATA, entities, comments and processing instructions inside text,
names beyond ASCII and attributes with entities.  Patterns are texts in pairs: ours, and the same for lxml.
They are made from a source of random choices: hypothesis' own in ``documents`` and ``patterns``, which
shrinks, or a seeded ``random.Random`` in a loop over ``document`` and ``pattern``, which is faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

NAMESPACES = {"p": "urn:p", "q": "urn:q"}
LOCAL_NAMES = ("a", "b", "c", "é")
ATTRIBUTE_NAMES = ("x", "x", "y", "p:x", "ü", "xml:lang")
STRINGS = ("", "x", "5", "5", "ab", "é", "<", "it's")
NUMBERS = ("5", "5", "-1", "0", "12.5", "3")
OPERATORS = ("=", "=", "!=", "<", "<=", ">", ">=")


def documents() -> st.SearchStrategy[bytes]:
    """Well-formed documents as bytes, in UTF-8, UTF-16 or ISO-8859-1."""
    return st.randoms(use_true_random=False).map(document)


def patterns() -> st.SearchStrategy[Expression]:
    """Subscriptions over the whole language, most of them inside it."""
    return st.randoms(use_true_random=False).map(pattern)


@dataclass(frozen=True, slots=True)
class Expression:
    """A pattern as text: in our language, and as plain XPath 1.0 from the document."""

    ours: str
    xpath: str

    def __radd__(self, before: str) -> Expression:
        return Expression(before + self.ours, before + self.xpath)

    def __add__(self, other: Expression | str) -> Expression:
        if isinstance(other, str):
            return Expression(self.ours + other, self.xpath + other)
        return Expression(self.ours + other.ours, self.xpath + other.xpath)


# Documents

_TEXTS = ("x", "5", " 5 ", "-1", "12.50", "ab", "é", "&lt;", "&amp;", "&#x35;", "\n", "it's", "&t;")
_APART = ("<!--c-->", "<?pi x?>", "<!---->", "<?pi?>")
_CDATA = ("<![CDATA[x]]>", "<![CDATA[<]]>", "<![CDATA[5]]>")
_VALUES = ("x", "5", "5", "-1", " 5", "ab", "&lt;", "&#x35;", "&t;", "", "é", "a\tb", "it's", "12.5")
_LANGUAGES = ("en", "EN-gb", "de", "")
_DOCTYPE = '<!DOCTYPE a [<!ENTITY t "5"><!ENTITY m "x<b x=\'5\'>5<c/></b>ab">]>'


def document(random: Random, depth: int = 4) -> bytes:
    """One document; an entity with markup is only used where no default namespace is in force."""
    before = random.choice(["", "", "<!--c-->", "<?pi x?>\n"])
    after = random.choice(["", "", "\n<!--c-->"])
    encoding = random.choice(["utf-8", "utf-8", "utf-16", "iso-8859-1"])
    declared = "".join([f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items()])
    root = _element(random, depth, declared, default=False)
    return f"<?xml version='1.0' encoding='{encoding}'?>{_DOCTYPE}{before}{root}{after}".encode(encoding)


def _element(random: Random, depth: int, declared: str, *, default: bool) -> str:
    name = random.choice(["", "", "", "", "p:", "q:"]) + random.choice(LOCAL_NAMES)
    change = random.choice(["", "", "", "", "", ' xmlns="urn:p"', ' xmlns=""'])
    if change:
        default = "urn" in change
    names = {random.choice(ATTRIBUTE_NAMES) for _ in range(random.choice([0, 0, 1, 2]))}
    attributes = "".join(
        [
            f' {each} = "{random.choice(_LANGUAGES if each == "xml:lang" else _VALUES)}"'
            for each in sorted(names)
        ]
    )
    most = 4 if depth else 2
    inside = "".join([_piece(random, depth, default=default) for _ in range(random.randint(0, most))])
    tag = f"{name}{declared}{change}{attributes}"
    return f"<{tag}>{inside}</{name}>" if inside or random.choice([True, False]) else f"<{tag}/>"


def _piece(random: Random, depth: int, *, default: bool) -> str:
    kind = random.randint(0, 9)
    if kind <= 5 and depth:
        return _element(random, depth - 1, "", default=default)
    if kind == 6:
        return random.choice(_APART)
    if kind == 7:
        return random.choice(_CDATA)
    if kind == 8 and not default:
        return "&m;"
    return random.choice(_TEXTS)


# Patterns


def pattern(random: Random, depth: int = 2) -> Expression:
    """One subscription: a path, or sometimes a union of two."""
    first = _absolute_path(random, depth)
    return first if random.randint(0, 4) else first + " | " + _absolute_path(random, depth)


def _absolute_path(random: Random, depth: int) -> Expression:
    start = random.choice(
        [_both("/"), _both("//"), _both("//"), Expression("", "//"), Expression(".//", "//")]
    )
    return start + _step(random, depth) + _more_steps(random, depth)


def _relative_path(random: Random, depth: int) -> Expression:
    kind = random.randint(0, 13)
    if kind == 0:
        return _both(".")
    if kind == 1:
        return _both("text()")
    if kind <= 4:
        return "@" + _attribute_name(random)
    if kind == 5:
        return _both(random.choice([".//@x", ".//text()", "*/@*", "b/text()", "descendant::text()"]))
    if kind == 6:
        return random.choice(["../", "../../", "parent::node()/", "parent::a/"]) + _path(random, depth)
    if kind == 7:
        return random.choice(["descendant::", "self::", "descendant-or-self::"]) + _element_name(random)
    return random.choice(["", "", "", "./", ".//"]) + _path(random, depth)


def _path(random: Random, depth: int) -> Expression:
    return _step(random, depth) + _more_steps(random, depth)


def _step(random: Random, depth: int) -> Expression:
    axis = random.choice(["", "", "", "", "", "child::", "descendant::", "descendant-or-self::node()/"])
    position = ""
    if axis != "descendant::" and random.randint(0, 4) == 0:
        position = random.choice(["[1]", "[2]", "[position() < 3]", "[position() != 1]"])
    before = _predicates(random, depth) if position and random.randint(0, 2) == 0 else _both("")
    return axis + _element_name(random) + before + position + _predicates(random, depth)


def _more_steps(random: Random, depth: int) -> Expression:
    """What may follow a step: more steps, down or up, and a tail."""
    path = _both("")
    for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
        kind = random.randint(0, 9)
        if kind <= 4:
            path = path + random.choice(["/", "/", "//"]) + _step(random, depth)
        elif kind <= 6:
            path += random.choice(["/..", "/..", "/parent::node()", "/parent::*", "/parent::a"])
            path += _predicates(random, depth) if not path.ours.endswith("..") else ""
        elif kind == 7:
            path += random.choice(["/.", "/self::node()", "/self::*", "/descendant-or-self::*"])
        elif kind == 8:
            path = (
                path + random.choice(["/self::", "/descendant-or-self::", "//self::"]) + _element_name(random)
            )
        else:
            path = path + Expression("/.", "/self::node()") + _predicates(random, depth)
    tail = random.randint(0, 15)
    if tail == 0:
        return path + random.choice(["/@", "//@", "/attribute::"]) + _attribute_name(random)
    if tail == 1:
        return path + random.choice(["/text()", "//text()", "/@x/..", "/text()/.."])
    return path


def _element_name(random: Random) -> Expression:
    local = random.choice(LOCAL_NAMES)
    kind = random.randint(0, 13)
    if kind <= 6:
        return _both(local)
    if kind <= 8:
        return _both("*")
    return [
        _both(f"p:{local}"),
        _both("p:*"),
        Expression(f"*:{local}", f"*[local-name()='{local}']"),
        Expression(f"Q{{urn:p}}{local}", f"p:{local}"),
        Expression(f"Q{{}}{local}", local),
    ][kind - 9]


def _attribute_name(random: Random) -> Expression:
    name = random.choice(ATTRIBUTE_NAMES)
    others = [_both("*"), _both("p:*"), Expression("*:x", "*[local-name()='x']")]
    return random.choice([_both(name), _both(name), _both(name), *others])


def _predicates(random: Random, depth: int) -> Expression:
    """None, one or two predicates in brackets."""
    path = _both("")
    if depth:
        for _ in range(random.choice([0, 0, 1, 1, 2])):
            path = path + "[" + _condition(random, depth - 1) + "]"
    return path


def _condition(random: Random, depth: int) -> Expression:
    kind = random.randint(0, 14)
    if kind <= 4:
        return _relative_path(random, depth)
    if kind <= 7:
        value = random.choice([random.choice(NUMBERS), f'"{random.choice(STRINGS)}"'])
        operator = random.choice(OPERATORS)
        nodes = _nodes(random, depth)
        return random.choice([nodes + f" {operator} {value}", f"{value} {operator} " + nodes])
    if kind == 8:
        function = random.choice(["contains", "starts-with"])
        return f"{function}(" + _nodes(random, depth) + f', "{random.choice(STRINGS)}")'
    if kind == 9:
        function = random.choice(["string-length", "count"])
        bound = random.choice(["= 0", "> 0", ">= 2", "< 3", "!= 1", "= 1.5", "> -1", "<= 1"])
        return f"{function}(" + _nodes(random, depth) + f") {bound}"
    if kind <= 11:
        return random.choice(["not(", "not(", "boolean("]) + _condition(random, depth) + ")"
    word = random.choice([") and ", ") or "])
    return "(" + _condition(random, depth) + word + _condition(random, depth)


# General expressions

_AXES = (
    *("ancestor", "ancestor-or-self", "following", "following-sibling", "preceding", "preceding-sibling"),
    *("parent", "self", "child", "descendant", "descendant-or-self"),
)


def general_pattern(random: Random, depth: int = 2) -> Expression:
    """One subscription of the whole language: a path that ends in general steps, or any expression."""
    kind = random.randint(0, 9)
    if kind <= 4:
        return _absolute_path(random, 1) + _general_steps(random, depth)
    if kind <= 7:
        test = random.choice(["*", "*", "node()", "a", "b"])
        start = random.choice(["//", "/*/", "//*/"])
        return start + _both(test) + "[" + general(random, depth) + "]" + _general_steps(random, 1)
    if kind == 8:
        return "(" + _absolute_path(random, 1) + ")[" + general(random, 1) + "]" + _general_steps(random, 1)
    return "boolean(" + general(random, depth, start="//*/") + ")"


def general_patterns() -> st.SearchStrategy[Expression]:
    """Subscriptions over the whole of XPath 1.0."""
    return st.randoms(use_true_random=False).map(general_pattern)


def general(random: Random, depth: int, start: str = "") -> Expression:
    """An expression of any type; ``start`` stands before each of its paths."""
    kind = random.randint(0, 3)
    if kind == 0:
        return _number(random, depth, start)
    if kind == 1:
        return _string(random, depth, start)
    return _nodes_of(random, depth, start) if kind == 2 else _boolean(random, depth, start)


def _boolean(random: Random, depth: int, start: str) -> Expression:
    kind = random.randint(0, 9)
    if depth <= 0 or kind == 0:
        return _both(random.choice(["true()", "false()", "1 = 1", "lang('en')"]))
    if kind <= 5:
        operator = random.choice(OPERATORS)
        return general(random, depth - 1, start) + f" {operator} " + general(random, depth - 1, start)
    if kind == 6:
        return "not(" + general(random, depth - 1, start) + ")"
    if kind == 7:
        function = random.choice(["contains", "starts-with"])
        return (
            f"{function}("
            + _string(random, depth - 1, start)
            + ", "
            + _string(random, depth - 1, start)
            + ")"
        )
    word = random.choice([") and (", ") or ("])
    return "(" + general(random, depth - 1, start) + word + general(random, depth - 1, start) + ")"


def _number(random: Random, depth: int, start: str) -> Expression:
    kind = random.randint(0, 9)
    if depth <= 0 or kind == 0:
        local = ["position()", "last()"] if not start else []
        return _both(random.choice(["0", "1", "2", "3", "2.5", "-1", "(1 div 0)", "(0 div 0)", *local]))
    if kind <= 2:
        operator = random.choice(["+", "-", "*", "div", "mod"])
        inner = _number(random, depth - 1, start) + f" {operator} " + general(random, depth - 1, start)
        return "(" + inner + ")"
    if kind == 3:
        return "-(" + general(random, depth - 1, start) + ")"
    if kind <= 5:
        return random.choice(["count(", "sum("]) + _nodes_of(random, depth - 1, start) + ")"
    if kind <= 7:
        function = random.choice(["floor(", "ceiling(", "round(", "number("])
        return function + general(random, depth - 1, start) + ")"
    return "string-length(" + _string(random, depth - 1, start) + ")"


def _string(random: Random, depth: int, start: str) -> Expression:
    kind = random.randint(0, 9)
    if depth <= 0 or kind == 0:
        return _both(f'"{random.choice(STRINGS)}"')
    inner = general(random, depth - 1, start)
    if kind == 1:
        return "concat(" + inner + ", " + general(random, depth - 1, start) + ")"
    if kind == 2:
        function = random.choice(["substring-before", "substring-after"])
        return f"{function}(" + inner + f', "{random.choice(STRINGS)}")'
    if kind == 3:
        bounds = random.choice(["2", "1, 2", "0, 2", "1.5, 2.6", "-1, 3", "0 div 0", "-1 div 0, 1 div 0"])
        return "substring(" + inner + f", {bounds})"
    if kind == 4:
        return "translate(" + inner + random.choice([", 'ab5', 'x')", ", 'x', 'é')", ", '5', '')"])
    if kind <= 6:
        return "normalize-space(" + inner + ")"
    if kind == 7:
        function = random.choice(["local-name", "namespace-uri", "name"])
        return f"{function}(" + _nodes_of(random, depth - 1, start) + ")"
    return "string(" + inner + ")"


def _nodes_of(random: Random, depth: int, start: str) -> Expression:
    kind = random.randint(0, 9)
    if kind == 0 and not start:
        return _both(".")
    if kind == 1 and depth > 0:
        return "(" + _nodes_of(random, depth - 1, start) + " | " + _nodes_of(random, depth - 1, start) + ")"
    if kind == 2 and depth > 0:
        inner = _nodes_of(random, depth - 1, start)
        return "(" + inner + ")[" + general(random, depth - 1) + "]" + _general_steps(random, 0)
    begin = start or random.choice(["", "", "", "/", "//"])
    return begin + _general_step(random, depth) + _general_steps(random, depth - 1)


def _general_steps(random: Random, depth: int) -> Expression:
    path = _both("")
    for _ in range(random.choice([0, 1, 1, 2]) if depth > 0 else random.choice([0, 0, 1])):
        path = path + random.choice(["/", "/", "//"]) + _general_step(random, depth)
    return path


def _general_step(random: Random, depth: int) -> Expression:
    kind = random.randint(0, 9)
    if kind == 0:
        return _both(random.choice([".", "..", "@*", "@x"]))
    axis = random.choice(_AXES)
    step: Expression
    if kind <= 2:
        step = "@" + _attribute_name(random)
    elif kind <= 4:
        tests = ["node()", "text()", "comment()", "processing-instruction()", "processing-instruction('pi')"]
        step = _both(f"{axis}::{random.choice(tests)}")
    else:
        step = f"{axis}::" + _element_name(random)
    if depth > 0:
        for _ in range(random.choice([0, 0, 1, 1, 2])):
            step = step + "[" + general(random, depth - 1) + "]"
    return step


def _nodes(random: Random, depth: int) -> Expression:
    first = _relative_path(random, depth)
    return first if random.randint(0, 4) else first + " | " + _relative_path(random, depth)


def _both(text: str) -> Expression:
    return Expression(text, text)
