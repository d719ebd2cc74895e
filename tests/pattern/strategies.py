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
ATTRIBUTE_NAMES = ("x", "x", "y", "p:x", "ü")
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
    attributes = "".join([f' {each} = "{random.choice(_VALUES)}"' for each in sorted(names)])
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


def _nodes(random: Random, depth: int) -> Expression:
    first = _relative_path(random, depth)
    return first if random.randint(0, 4) else first + " | " + _relative_path(random, depth)


def _both(text: str) -> Expression:
    return Expression(text, text)
