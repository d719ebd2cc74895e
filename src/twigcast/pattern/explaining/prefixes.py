"""Writes names with prefixes instead of namespace URIs, as a user wrote them or would write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from twigcast.document import Document

_XML = "http://www.w3.org/XML/1998/namespace"
_LITERAL_OR_URI = re.compile(
    r"""'[^']*'|"[^"]*"|\[position\(\)=(?P<position>[0-9]+|last\(\))\]|(?P<attribute>@|attribute::)?Q\{(?P<uri>[^}]*)\}"""
)
_FROM_DOCUMENT = re.compile(r"""'[^']*'|"[^"]*"|[\[\]]|(?<![.\w\])*])\.(?=//)""")


class Prefixes:
    """The prefix of each namespace: the one that the user bound, or else the one of the document.

    A prefix of the document is not used if the user bound it to another namespace.  The default namespace of
    the document is never used, since a name without prefix means another name in XPath.
    """

    def __init__(self, bound: Mapping[str, str] | None, document: Document) -> None:
        self._bound = dict(bound or {})
        self._default = self._bound.pop("", None)
        self._of_uri = {uri: prefix for prefix, uri in reversed(self._bound.items())}
        scopes = document.namespaces
        for prefix in sorted(scopes.prefixes - self._bound.keys()):
            self._of_uri.setdefault(scopes.first(prefix), prefix)
        self._of_uri[_XML] = "xml"

    def is_bound(self, uri: str) -> bool:
        """Whether the user bound a prefix to the namespace, or made it the default."""
        return uri == self._default or uri in self._bound.values()

    def text(self, canonical: str) -> str:
        """A canonical text, of a pattern or a part of one, with prefixes."""
        return _LITERAL_OR_URI.sub(self._replaced, canonical)

    def name(self, namespace: str, local: str) -> str:
        """The name of an element of the document; without a prefix if it has no namespace or no prefix."""
        prefix = self._of_uri.get(namespace)
        return local if not namespace or prefix is None or namespace == self._default else f"{prefix}:{local}"

    def _replaced(self, found: re.Match[str]) -> str:
        uri = found["uri"]
        if found["position"]:
            return f"[{found['position']}]"
        if uri is None:
            return found[0]
        attribute = found["attribute"] or ""
        if uri == self._default and not attribute:
            return ""
        prefix = self._of_uri.get(uri)
        return found[0] if prefix is None or not uri else f"{attribute}{prefix}:"


def from_document(predicate: str) -> str:
    """The text of a predicate on the document node, in which ``.//a`` is the same as ``//a``."""
    depth = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal depth
        depth += {"[": 1, "]": -1}.get(found[0], 0)
        return "" if found[0] == "." and not depth else found[0]

    return _FROM_DOCUMENT.sub(replaced, predicate)
