"""The lxml tree of a part, and the elements or attributes in it that a pattern selects.

libxml2 builds a tree and evaluates a path in a sixth of the time of twigcast's evaluator.  It takes the
evaluator's place for patterns that it understands alike (``to_xpath``), on parts that it reads alike: in one
of the common encodings, without an internal DTD subset, which may declare entities and attributes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from twigcast.chunking.evaluation.lxml_cost import TreeFigures, pattern_steps
from twigcast.pattern import FUNCTION_NAMESPACE, Pattern, compares, to_xpath

_NO_SUBSET = re.compile(rb"""<!DOCTYPE[^\[>"']*(?:"[^"]*"[^\[>"']*|'[^']*'[^\[>"']*)*>""")
_ENCODINGS = frozenset({"utf-8", "us-ascii", "iso-8859-1"})


def lxml_tree(body: bytes) -> Any:
    """The tree of a document of any size; nothing external is fetched."""
    from lxml import etree

    options: dict[str, Any] = {"resolve_entities": "internal", "no_network": True, "huge_tree": True}
    return etree.ElementTree(etree.fromstring(body, etree.XMLParser(**options)))


def is_read_alike(body: bytes, tree: Any) -> bool:
    """Whether lxml and twigcast read a document in the same way, beyond doubt."""
    about = tree.docinfo
    if (about.encoding or "utf-8").lower() not in _ENCODINGS or b"\0" in body[:4]:  # UTF-16, by its mark
        return False
    return about.internalDTD is None or (body.count(b"<!DOCTYPE") == 1 and bool(_NO_SUBSET.search(body)))


@dataclass(frozen=True, slots=True)
class LxmlSelection:
    """Elements in document order; with an ``attribute``, that attribute of each of them was selected."""

    elements: list[Any]
    attribute: str | None


def selection(pattern: Pattern, tree: Any, figures: TreeFigures, steps: int) -> LxmlSelection | None:
    """What a pattern selects in a tree that is read alike.

    ``None`` if lxml cannot say, or if libxml2 might take more than so many steps.
    """
    from lxml import etree

    compiled = _compiled(pattern)
    if compiled is None or pattern_steps(pattern, figures) > steps:
        return None
    expression, attribute = compiled
    try:
        return LxmlSelection(expression(tree), attribute)
    except etree.LxmlError:  # a limit of libxml2
        return None


@lru_cache(maxsize=4096)
def _compiled(pattern: Pattern) -> tuple[Any, str | None] | None:
    from lxml import etree

    written = to_xpath(pattern)
    if written is None:
        return None
    functions = {(FUNCTION_NAMESPACE, "compares"): lambda _, text, *rest: compares(text, *rest)}
    expression = etree.XPath(written.text, namespaces=written.namespaces, extensions=functions, regexp=False)
    return expression, written.attribute
