"""What an XPath 1.0 expression outside the language looks at, found with elementpath.

Its leading child steps, up to and with the first one that has a predicate, are the path within which it
stays; if all the rest is downward, it can run on parts that have whole subtrees there.  Anything else, an
axis that leads up or sideways, an absolute path or a number in a predicate of that step, ``id()``, takes the
whole document, and the word that does it is reported.

    /site/people/person[@id = $wanted]//age        within /site/people/person
    id('person7')/name                             the whole document: id()
"""

from __future__ import annotations

from typing import Any

from twigcast.chunking.query import ChunkQuery
from twigcast.errors import ChunkingError, ExtraError

_DOWNWARD = {"child", "descendant", "descendant-or-self", "self", "attribute", "@", "//"}
_AXES = {
    *("ancestor", "ancestor-or-self", "following", "following-sibling", "namespace", "parent", "preceding"),
    *("preceding-sibling", ".."),
}
_NUMBERS = {"+", "-", "*", "div", "mod", "(integer)", "(decimal)", "(float)", "last", "position", "count"}
_NUMBERS |= {"number", "sum", "floor", "ceiling", "round", "string-length"}
_TRUTHS = {"=", "!=", "<", ">", "<=", ">=", "and", "or", "not", "boolean", "true", "false", "contains"}
_TRUTHS |= {"starts-with", "lang"}


def require_xpath(query: ChunkQuery) -> None:
    """Raise ``ChunkingError`` if the expression of a query is not one that lxml can run."""
    from lxml import etree

    namespaces = {prefix: uri for prefix, uri in query.namespaces.items() if prefix}
    try:
        etree.XPath(query.text, namespaces=namespaces or None)
    except etree.XPathSyntaxError as error:
        message = f"the query {query.id} is no XPath 1.0: {error}"
        raise ChunkingError(message, code="query", query=query.id) from None


def reach_of(query: ChunkQuery) -> tuple[str, str]:
    """The path of names within which an expression stays, or ``""`` and the word that leads out of it.

    Raises ``ExtraError`` without elementpath.
    """
    try:
        from elementpath import ElementPathError, XPath1Parser
    except ImportError:
        raise ExtraError("elementpath", extra="chunking") from None
    namespaces = {prefix: uri for prefix, uri in query.namespaces.items() if prefix}
    try:
        token = XPath1Parser(namespaces=namespaces).parse(query.text)
    except ElementPathError:
        return "", "an expression that elementpath cannot read"
    names: list[str] = []
    steps = _spine(token)
    if steps is None:
        return "", f"{token.symbol.strip('()')}, which is no absolute path"
    for is_child, step in steps:
        name, predicates = _named(step)
        if name is None or not is_child:
            break
        names.append(name)
        for predicate in predicates:
            if word := _outside(predicate) or _position(predicate):
                return "", word
        if predicates:
            break
    for _, step in steps[len(names) :]:
        if word := _outside(step):
            return "", word
    return ("/" + "/".join(names), "") if names else ("", "no name after the first /")


def _spine(token: Any) -> list[tuple[bool, Any]] | None:
    """The steps of an absolute path, each with whether it leads to children only."""
    if token.symbol not in ("/", "//"):
        return None
    is_child = token.symbol == "/"
    if len(token) < 2:
        return [(is_child, each) for each in token]
    before = _spine(token[0])
    return None if before is None else [*before, (is_child, token[1])]


def _named(step: Any) -> tuple[str | None, list[Any]]:
    """The name and the predicates of a child step; None for any other step."""
    predicates: list[Any] = []
    while step.symbol == "[":
        predicates.insert(0, step[1])
        step = step[0]
    if step.symbol == "child" and len(step) == 1:
        step = step[0]
    if step.symbol == "(name)":
        return step.value, predicates
    if step.symbol == ":":
        return f"{step[0].value}:{step[1].value}", predicates
    return None, []


def _outside(token: Any) -> str | None:
    """The first word that leads out of the subtree."""
    if token.symbol in _AXES:
        return "parent::" if token.symbol == ".." else f"{token.symbol}::"
    if token.symbol == "id":
        return "id()"
    if token.symbol == "/" and len(token) < 2:
        return "an absolute path in a condition"
    if token.symbol == "//" and len(token) < 2:
        return "an absolute path in a condition"
    return next(filter(None, map(_outside, token)), None)


def _position(predicate: Any) -> str | None:
    """A word that makes a predicate a position among siblings: a number, or what is not known to be none."""
    for token in predicate.iter():
        if token.symbol in ("last", "position"):
            return f"{token.symbol}()"
    symbol = predicate.symbol
    if symbol in _NUMBERS:
        return "a number as a predicate"
    if symbol in _TRUTHS or symbol in _DOWNWARD or symbol in ("/", "[", "(name)", ":", ".", "text", "node"):
        return None
    return f"{symbol.strip('()')}, whose type is not known"
