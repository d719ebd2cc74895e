"""The position of the parser in the tokens of a subscription, and the errors for unexpected tokens."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, NoReturn

from twigcast.characters import describe_character, illegal_character
from twigcast.errors import PatternError
from twigcast.pattern.limits import PatternLimits
from twigcast.pattern.syntax.tokens import END, column, is_name, length, tokenise
from twigcast.pattern.tree import ANY, NameTest, Predicate

XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
SHOWN = 64  # characters of a name in an error message
COMPARISON = "a comparison with a string or a number"
LATER_OPERATORS = {
    "eq": "'='",
    "ne": "'!='",
    "lt": "'<'",
    "le": "'<='",
    "gt": "'>'",
    "ge": "'>='",
    "is": "'=', or count(a | b) = 1",
    "idiv": "floor(a div b)",
    "union": "'|'",
    "intersect": "a[count(. | b) = count(b)]",
    "except": "a[count(. | b) != count(b)]",
    "to": "two comparisons joined by 'and'",
    "instance": "a condition",
    "cast": "number(a) or string(a)",
    "castable": "number(a) = number(a)",
    "treat": "a condition",
}
NODE_TYPES = frozenset({"text", "node", "comment", "processing-instruction"})


class Cursor:
    """A position in the tokens of one text, and how much of the limits has been used so far.

    ``mark`` is the token that an error of cleaning refers to; ``dead`` is the first token after which the
    expression can match nothing, and ``reason`` says why; ``cleaned`` is true if some path of the expression
    is not plain; ``settled`` if the text is canonical.
    ``at_document`` is true outside all brackets, where paths start at the document; ``inside`` counts the
    open brackets of general steps; ``frame`` is what a position counts outside of them.
    """

    __slots__ = (
        "at",
        "at_document",
        "cleaned",
        "dead",
        "default",
        "depth",
        "frame",
        "inside",
        "limits",
        "mark",
        "namespaces",
        "reason",
        "settled",
        "steps",
        "text",
        "tokens",
        "ups",
    )

    def __init__(self, text: str, namespaces: Mapping[str, str] | None, limits: PatternLimits) -> None:
        self.text = text
        self.limits = limits
        self.namespaces = namespaces
        self.default = namespaces.get("", "") if namespaces else ""
        self.at = self.depth = self.steps = self.mark = self.ups = 0
        self.cleaned = self.settled = self.at_document = False
        self.inside = 0
        self.frame: tuple[NameTest, tuple[Predicate, ...]] | None = None
        self.reason: str | None = None
        self.dead: int | None = None
        if len(text) > limits.length and length(text) > limits.length:
            self._refuse_text(
                f"the expression is longer than {limits.length} characters (PatternLimits.length)",
                limits.length,
            )
        if total_length(text, namespaces) > limits.size:
            self._refuse_text(
                f"the expression and its namespaces have more than {limits.size} characters"
                " (PatternLimits.size)",
                min(len(text), limits.size),
            )
        self._check_characters()
        self.tokens = tokenise(text)

    def _refuse_text(self, message: str, at: int) -> NoReturn:
        """Refuse a text before it is split into tokens; ``at`` is the index of a character."""
        raise PatternError(message, code="too-complex", text=self.text, column=at + 1)

    def _check_characters(self) -> None:
        check_text(self.text)
        for prefix, uri in (self.namespaces or {}).items():
            for kind, name in (("prefix", prefix), ("namespace", uri)):
                at = illegal_character(name)
                if at is not None:
                    message = (
                        f"the {kind} {shortened(name)} has the character {describe_character(name[at])} at "
                        f"position {at + 1}, which XML does not allow"
                    )
                    raise PatternError(message, code="character", text=self.text, column=1)

    def name_test(self, at: int, default: str) -> NameTest:
        token = self.tokens[at]
        if not is_name(token):
            self.at = at
            self.expected("a name test")
        if token == "*":
            return ANY
        if token[0] == "*":
            return _interned(None, token[2:])
        if token.startswith("Q{"):
            uri, _, local = token[2:].partition("}")
            return _interned(uri, None if local == "*" else local)
        prefix, colon, local = token.partition(":")
        if not colon:
            return _interned(default, token)
        uri = self._namespace(prefix, at)
        return _interned(uri, None if local == "*" else local)

    def _namespace(self, prefix: str, at: int) -> str:
        if prefix == "xml":
            return XML_NAMESPACE
        uri = self.namespaces.get(prefix) if self.namespaces else None
        if uri is None:
            raise PatternError(
                f"the prefix {shortened(prefix)} is not bound",
                code="unbound-prefix",
                text=self.text,
                column=column(self.text, at),
                expected="a prefix that is bound to a namespace",
                hint=f'bind it with namespaces={{"{prefix[:SHOWN]}": "…"}}',
            )
        if "{" in uri or "}" in uri:
            self.refuse(
                "unsupported", f"the namespace {shortened(uri)} contains braces", at, "a URI without braces"
            )
        return uri

    def at_function(self) -> bool:
        token = self.tokens[self.at]
        return token != END and self.tokens[self.at + 1] == "(" and is_name(token) and token not in NODE_TYPES

    def open(self) -> None:
        self.at += 1
        self.depth += 1
        if self.depth > self.limits.nesting:
            message = f"nested more than {self.limits.nesting} deep (PatternLimits.nesting)"
            self.refuse("too-complex", message, self.at - 1)

    def close(self) -> None:
        if self.tokens[self.at] != ")":
            self.expected_operator("')'")
        self.depth -= 1
        self.at += 1

    def expected(self, what: str) -> NoReturn:
        self.refuse("syntax", f"expected {what}", self.at, what)

    def expected_operator(self, sign: str) -> NoReturn:
        """Refuse a token where an operator or ``sign`` is expected; later XPath gets a message of its own."""
        token = self.tokens[self.at]
        if token in LATER_OPERATORS:
            accepted = LATER_OPERATORS[token]
            self.refuse("unsupported", f"{token!r} is an operator of XPath 2.0", self.at, accepted)
        if token == ",":
            self.refuse("unsupported", "a list is outside the language", self.at, "'or', '|' or one value")
        self.expected(sign)

    def too_many_alternatives(self, at: int) -> NoReturn:
        """Refuse an expression with more branches than the limit."""
        message = f"there are more than {self.limits.alternatives} alternatives (PatternLimits.alternatives)"
        self.refuse("too-complex", message, at)

    def refuse(self, code: str, message: str, at: int, expected: str | None = None) -> NoReturn:
        """Raise ``PatternError`` at the token with index ``at``."""
        raise PatternError(
            message, code=code, text=self.text, column=column(self.text, at), expected=expected
        ) from None


def check_types(text: object, namespaces: Mapping[Any, Any] | None) -> None:
    """Refuse values that are no strings: what a caller reads from a table may be null."""
    if not isinstance(text, str):
        message = f"expected the text of an expression, got {type(text).__name__}"
        raise PatternError(message, code="syntax", text="", column=1, expected="text")
    for name in chain(namespaces, namespaces.values()) if namespaces else ():
        if not isinstance(name, str):
            message = f"expected prefixes and URIs to be strings, got {type(name).__name__}"
            raise PatternError(message, code="syntax", text=text, column=1, expected="a string")


def check_text(text: str) -> None:
    """Raise ``PatternError`` if an expression has a character that XML does not allow."""
    at = illegal_character(text)
    if at is not None:
        message = f"XML does not allow the character {describe_character(text[at])}"
        raise PatternError(message, code="character", text=text, column=at + 1)


def total_length(text: str, namespaces: Mapping[str, str] | None) -> int:
    """The number of characters of an expression with its namespace map."""
    if not namespaces:
        return len(text)
    return len(text) + sum(map(len, namespaces)) + sum(map(len, namespaces.values()))


def shortened(name: str) -> str:
    """The ``repr`` of a name, of which a message shows at most the beginning."""
    return repr(name) if len(name) <= SHOWN else f"{name[:SHOWN]!r}…"


@lru_cache(maxsize=1 << 16)
def _interned(namespace: str | None, local: str | None) -> NameTest:
    return NameTest(namespace, local)
