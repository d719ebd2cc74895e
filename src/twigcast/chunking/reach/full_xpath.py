"""What an XPath 1.0 expression that lxml runs looks at.

Its leading child steps, up to and with the first one that has a predicate, are the path within which it
stays; if all the rest is downward, it can run on parts that have whole subtrees there.  Anything else, an
axis that leads up or sideways, an absolute path or a number in a predicate of that step, ``id()``, takes the
whole document, and the word that does it is reported.

    /site/people/person[@id = $wanted]//age        within /site/people/person
    id('person7')/name                             the whole document: id()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from twigcast.chunking.query import ChunkQuery
from twigcast.chunking.reach.xpath_syntax import (
    CallTerm,
    ContextTerm,
    LiteralTerm,
    OperationTerm,
    PathTerm,
    RootTerm,
    StepTerm,
    Term,
    VariableTerm,
    XPathTextError,
    read_terms,
    walk_terms,
)
from twigcast.errors import ChunkingError

_DOWNWARD = frozenset(("child", "descendant", "descendant-or-self", "self", "attribute"))
_TRUTHS = frozenset(("=", "!=", "<", ">", "<=", ">=", "and", "or"))
_TRUTH_CALLS = frozenset(("not", "boolean", "true", "false", "contains", "starts-with", "lang"))
_NUMBER_CALLS = frozenset(("count", "number", "sum", "floor", "ceiling", "round", "string-length"))
_CODES = {"syntax": "query"}
_MANY = 1 << 30
_ARGUMENTS = {
    **dict.fromkeys(("position", "last", "true", "false"), (0, 0)),
    **dict.fromkeys(("local-name", "name", "namespace-uri", "normalize-space", "number"), (0, 1)),
    **dict.fromkeys(("string", "string-length"), (0, 1)),
    **dict.fromkeys(("boolean", "ceiling", "count", "floor", "id", "lang", "not", "round", "sum"), (1, 1)),
    **dict.fromkeys(("contains", "starts-with", "substring-after", "substring-before"), (2, 2)),
    "concat": (2, _MANY),
    "substring": (2, 3),
    "translate": (3, 3),
}


def terms_of(query: ChunkQuery) -> Term:
    """The terms of the text of a query that lxml runs; raises ``ChunkingError`` if lxml cannot run it.

    Only the functions of XPath 1.0 are accepted: lxml would add those of EXSLT, some of which take any time
    and memory.
    """
    from lxml import etree

    def refused(message: str, column: int, code: str = "query") -> ChunkingError:
        text = f"the query {query.id} cannot be used, at column {column}: {message}"
        return ChunkingError(text, code=code, query=query.id, column=column)

    try:
        terms = read_terms(query.text)
    except XPathTextError as error:
        raise refused(error.message, error.column, _CODES.get(error.code, error.code)) from None
    for term in walk_terms(terms):
        match term:
            case CallTerm(function, arguments, column):
                least, most = _ARGUMENTS.get(function, (0, -1))
                if most < 0:
                    raise refused(f"XPath 1.0 has no function {function[:40]}()", column)
                if not least <= len(arguments) <= most:
                    raise refused(f"{function}() does not take {len(arguments)} arguments", column)
            case VariableTerm(name, column) if name not in query.variables:
                raise refused(f"the variable ${name[:40]} has no value", column)
            case StepTerm(_, test, _, column) if ":" in test:
                prefix = test.partition(":")[0]
                if prefix != "xml" and not query.namespaces.get(prefix):
                    raise refused(f"the prefix {prefix[:40]} is bound to no namespace", column)
    try:
        etree.XPath(query.text, namespaces=lxml_namespaces(query.namespaces), regexp=False)
    except (etree.XPathSyntaxError, ValueError) as error:
        message = f"the query {query.id} is no XPath 1.0: {error}"
        raise ChunkingError(message, code="query", query=query.id) from None
    return terms


def lxml_namespaces(namespaces: Mapping[str, str]) -> dict[str, str] | None:
    """The prefixes for lxml, which takes no default namespace."""
    return {prefix: uri for prefix, uri in namespaces.items() if prefix} or None


def reach_of(query: ChunkQuery) -> tuple[str, str]:
    """The path of names within which an expression stays, or ``""`` and the word that leads out of it."""
    found = terms_of(query)
    if not isinstance(found, PathTerm) or not isinstance(found.start, RootTerm):
        return "", f"{_word(found)}, which is no absolute path"
    names: list[str] = []
    for step in found.steps:
        if step.axis != "child" or step.test.endswith(("*", ")")):
            break
        names.append(step.test)
        for predicate in step.predicates:
            if word := _outside(predicate) or _position(predicate):
                return "", word
        if step.predicates:
            break
    for step in found.steps[len(names) :]:
        if word := _outside_step(step):
            return "", word
    return ("/" + "/".join(names), "") if names else ("", "no name after the first /")


def _word(term: Term) -> str:
    """The first word of a term, for people."""
    match term:
        case CallTerm(function):
            return function
        case OperationTerm(operators):
            return min(operators)
        case PathTerm(ContextTerm(), (step, *_)):
            return step.test
        case PathTerm(PathTerm() | OperationTerm()):
            return "a path in parentheses"
        case PathTerm(start):
            return _word(start)
        case VariableTerm():
            return "$"
        case LiteralTerm():
            return "a value"
        case _:
            return "/"


def _first(words: Iterable[str | None]) -> str | None:
    return next(filter(None, words), None)


def _outside(term: Term) -> str | None:
    """The first word that leads out of the subtree."""
    match term:
        case CallTerm("id"):
            return "id()"
        case CallTerm(_, terms) | OperationTerm(_, terms):
            return _first(map(_outside, terms))
        case RootTerm():
            return "an absolute path in a condition"
        case PathTerm(start, steps, predicates):
            return _outside(start) or _first(map(_outside, predicates)) or _first(map(_outside_step, steps))
        case _:
            return None


def _outside_step(step: StepTerm) -> str | None:
    if step.axis not in _DOWNWARD:
        return f"{step.axis}::"
    return _first(map(_outside, step.predicates))


def _position(predicate: Term) -> str | None:
    """A word that makes a predicate a position among siblings: a number, or what is not known to be none."""
    for term in walk_terms(predicate):
        if isinstance(term, CallTerm) and term.function in ("last", "position"):
            return f"{term.function}()"
    match predicate:
        case OperationTerm(operators):
            return None if operators <= _TRUTHS or "|" in operators else "a number as a predicate"
        case LiteralTerm(float()):
            return "a number as a predicate"
        case CallTerm(function):
            if function in _NUMBER_CALLS:
                return "a number as a predicate"
            return None if function in _TRUTH_CALLS else f"{function}, whose type is not known"
        case VariableTerm():
            return "$, whose type is not known"
        case _:
            return None
