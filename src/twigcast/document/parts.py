"""Cuts the selected nodes of a document out as parts, each of which can be read by itself.

    <i:list xmlns:i="u" xmlns:j="v"> <i:item>1</i:item> </i:list>        the document
                                     <i:item>1</i:item>                  the range of the part
                                     <i:item xmlns:i="u">1</i:item>      the part as a document

The bytes of the range stay as they are; a part as a document has in addition what it would lose without the
rest of its document, and no more:

- namespaces, on its start tag: every prefix in scope that stands before a colon anywhere in the part, since
  values and text may contain qualified names (``xsi:type="i:price"``); and the default namespace always,
  since a qualified name without a prefix looks like any word.  What the element declares itself is left out.
- declarations of the internal DTD subset, in a ``DOCTYPE``: the entities that the part refers to, and types
  and defaults of the attributes of its elements.
- the encoding, in an XML declaration and for UTF-16 with a byte order mark, unless it is UTF-8.

An element that an entity brings in has no range of its own, and is written anew from the tree, without
comments and processing instructions.  Attributes and text are always the bytes of their range.
``xml:lang``, ``xml:space`` and ``xml:base`` of ancestors are not copied: they belong to another element.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias
from xml.sax.saxutils import escape

from twigcast.document.limits import DocumentLimits
from twigcast.document.prolog import Shift, declaration, entity_declaration, quoted
from twigcast.document.tree import Attribute, Child, Comment, Document, Element, Instruction, Node, Text
from twigcast.errors import DocumentError

PartForm: TypeAlias = Literal["document", "range"]
"""A part as a document of its own, or as the bare range of bytes."""

PART_FORMS: tuple[PartForm, ...] = ("document", "range")
"""The values of ``PartForm``."""

_DEFAULT_LIMITS = DocumentLimits()
_XML = "http://www.w3.org/XML/1998/namespace"
_NAME = (
    r"-.0-9A-Z_a-z\xb7\xc0-\xd6\xd8-\xf6\xf8-\u037d\u037f-\u1fff\u200c\u200d\u203f\u2040\u2070-\u218f"
    r"\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
# Each of these looks at a character a bounded number of times, however long the names are.
PREFIX = re.compile(rf"(?<![{_NAME}])[{_NAME}]++(?=:)")
TAG = re.compile(rf"<([{_NAME}:]++)")
REFERENCE = re.compile(rf"&([{_NAME}:]++);")
_FEW = 16  # prefixes that are searched for one by one, in a tenth of the time that all names take
_REMEMBERED = 64  # sets of declarations
_NAME_END = re.compile(rb"[ \t\r\n/>]")


class PartCutter:
    """Cuts nodes out of one document.

    If the document was read with a ``prolog``, ``body`` has the bytes without it; ranges are ranges of these.
    """

    def __init__(
        self,
        document: Document,
        form: PartForm = "document",
        limits: DocumentLimits = _DEFAULT_LIMITS,
        *,
        prolog: bytes | None = None,
        body: bytes | None = None,
    ) -> None:
        if form not in PART_FORMS:
            raise ValueError(f"expected the form {' or '.join(PART_FORMS)}, got {form!r}")
        self.document = document
        self.form = form
        self.limits = limits
        self._body = document.body if body is None else body
        self._shift = Shift.of(prolog)
        self._prefixes = document.namespaces.prefixes
        self._signs = [(prefix, f"{prefix}:") for prefix in sorted(self._prefixes)[:_FEW]]
        self._width = 2 if document.encoding.startswith("utf-16-") else 1
        self._xml_declaration = _xml_declaration(document.encoding)
        self._declared: dict[tuple[tuple[str, str | None], ...], bytes] = {}
        self._has_subset = bool(document.entities or document.attribute_types)
        self._plain = not document.namespaces and not self._has_subset

    def cut(self, nodes: Sequence[Node]) -> Iterator[bytes]:
        """The parts, in the order of ``nodes``.

        Raises ``DocumentError`` at once if they are larger together than the limits allow; each part is
        copied when it is asked for.
        """
        budget = _Budget(self.document, self.limits)
        for node in nodes:
            budget.spend(node.end - node.start, node)
        if self.form == "range":
            return map(self._range, nodes)
        if self._plain and not self._xml_declaration:
            return map(self._range, nodes)
        planned = [self._planned(node, budget) for node in nodes]
        return (self._made(node, plan) for node, plan in zip(nodes, planned, strict=True))

    def texts(self, nodes: Sequence[Node]) -> Iterator[str]:
        """The parts as text, without XML declarations; like ``cut``."""
        start = len(self._xml_declaration) if self.form == "document" else 0
        return (
            part[start if isinstance(node, Element) else 0 :].decode(self.document.encoding, "replace")
            for node, part in zip(nodes, self.cut(nodes), strict=True)
        )

    def _range(self, node: Node) -> bytes:
        return self._body[self._shift.start(node.start) : self._shift.end(node.end)]

    def _made(self, node: Node, plan: _Plan | None) -> bytes:
        if plan is None:
            return self._range(node)
        head, at, inserted = plan
        if at is None:
            return head
        body = self.document.body
        return b"".join((head, body[node.start : at], inserted, body[at : node.end]))

    # What a part has in addition to its range

    def _planned(self, node: Node, budget: _Budget) -> _Plan | None:
        """What is written before the range, and what is inserted where; ``None`` for the bare range."""
        if not isinstance(node, Element):
            return None
        if self._sign(node.start) == b"&":
            scopes = self.document.namespaces
            last = _last_order(node)
            taken = [prefix for prefix in self._prefixes if scopes.is_known(prefix, node.order, last)]
            tag, *rest = budget.spent_on(_written(node, taken), node)
            text = "".join(rest)
            bound = scopes.bound
            declared = _declarations((prefix, bound(prefix, node.order)) for prefix in self._used(text))
            budget.spend(len(self._xml_declaration) + len(declared), node)
            return self._xml_declaration + self._encoded(tag + declared + text), None, b""
        end = self._name_end(node.start)
        if self._plain:
            budget.spend(len(self._xml_declaration), node)
            return self._xml_declaration, end, b""
        text = self._decoded(node.start, node.end)
        head = self._xml_declaration
        if self._has_subset:
            entities = self._used_entities(text)
            text += "".join(self.document.entities[name] for name in entities)
            head += self._encoded(self._doctype(node.start, end, text, entities))
        inserted = self._declarations(node, text)
        budget.spend(len(head) + len(inserted), node)
        return head, end, inserted

    def _declarations(self, element: Element, text: str) -> bytes:
        """The declarations of the namespaces that ``text`` uses and the element does not declare itself."""
        inherited = self.document.namespaces.inherited
        used = {prefix: inherited(prefix, element.order) for prefix in ("", *self._used(text))}
        key = tuple(used.items())
        made = self._declared.get(key)
        if made is None:
            made = self._encoded(_declarations(key))
            if len(self._declared) < _REMEMBERED:
                self._declared[key] = made
        return made

    def _used(self, text: str) -> list[str]:
        """The prefixes that stand before a colon in the text."""
        if len(self._prefixes) > _FEW:
            return sorted(self._prefixes.intersection(PREFIX.findall(text)))
        return [prefix for prefix, sign in self._signs if sign in text]

    def _used_entities(self, text: str) -> list[str]:
        """The entities that the text refers to, and those that these refer to."""
        entities = self.document.entities
        used: dict[str, None] = {}
        waiting = [text]
        while waiting:
            for name in REFERENCE.findall(waiting.pop()):
                if name in entities and name not in used:
                    used[name] = None
                    waiting.append(entities[name])
        return list(used)

    def _doctype(self, start: int, end: int, text: str, entities: list[str]) -> str:
        types = self.document.attribute_types
        declared = [entity_declaration(name, self.document.entities[name]) for name in entities]
        for name in sorted(types.keys() & set(TAG.findall(text))) if types else ():
            declared += types[name].values()
        root = self._decoded(start + self._width, end)
        return f"<!DOCTYPE {root} [{''.join(declared)}]>" if declared else ""

    # Bytes and characters

    def _sign(self, at: int) -> bytes:
        return self.document.body[at : at + self._width].strip(b"\0")

    def _name_end(self, start: int) -> int:
        """Where the name in the tag at ``start`` ends."""
        if self._width == 1:
            found = _NAME_END.search(self.document.body, start)
            assert found is not None
            return found.start()
        at = start
        while not _NAME_END.fullmatch(self._sign(at)):
            at += self._width
        return at

    def _decoded(self, start: int, end: int) -> str:
        return self.document.body[start:end].decode(self.document.encoding, "replace")

    def _encoded(self, text: str) -> bytes:
        return text.encode(self.document.encoding, "xmlcharrefreplace") if text else b""


_Plan: TypeAlias = tuple[bytes, int | None, bytes]


class _Budget:
    """The bytes that the parts of one subscription may have; they are counted before they are copied."""

    def __init__(self, document: Document, limits: DocumentLimits) -> None:
        self._body = document.body
        self._limit = max(limits.part_threshold, int(limits.part_amplification * len(document.body)))
        self._amplification = limits.part_amplification
        self._left = self._limit

    def spend(self, size: int, node: Node) -> None:
        """Count ``size`` bytes more; raises ``DocumentError``, at the node, if there are too many."""
        self._left -= size
        if self._left < 0:
            before = self._body[: node.start]
            message = (
                f"the selected parts have together more than {self._limit} bytes,"
                f" {self._amplification:g} times the document: the limit is part_amplification"
            )
            line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
            raise DocumentError(message, code="parts-too-large", line=line, column=column, offset=node.start)

    def spent_on(self, pieces: Iterable[str], node: Node) -> Iterator[str]:
        """The pieces, each counted before the next one is made."""
        for piece in pieces:
            self.spend(len(piece), node)
            yield piece


def _xml_declaration(encoding: str) -> bytes:
    """The XML declaration that a part needs in this encoding, with a byte order mark for UTF-16."""
    if encoding == "utf-8":
        return b""
    if encoding.startswith("utf-16-"):
        return '\ufeff<?xml version="1.0" encoding="UTF-16"?>'.encode(encoding)
    return f'<?xml version="1.0" encoding="{encoding}"?>'.encode("ascii")


def _declarations(bindings: Iterable[tuple[str, str | None]]) -> str:
    return "".join(f" {declaration(prefix, uri)}" for prefix, uri in bindings if uri)


def _last_order(element: Element) -> int:
    """The greatest order of the nodes in an element."""
    last: Child = element
    while isinstance(last, Element) and last.children:
        last = last.children[-1]
    return last.order + (len(last.attributes) if isinstance(last, Element) else 0)


def _written(root: Element, taken: Collection[str]) -> Iterator[str]:
    """An element as text that has no need of entities, attribute defaults or namespaces in scope.

    Elements are in the default namespace, and attributes get prefixes that are not ``taken``.
    """
    prefix = "ns"
    while any(other.startswith(prefix) for other in taken):
        prefix += "_"
    waiting: list[tuple[Child, str] | str] = [(root, "")]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
            continue
        node, outer = item
        if isinstance(node, Text):
            yield escape(node.value, {"\r": "&#13;"})
            continue
        if isinstance(node, Comment):
            yield f"<!--{node.value}-->"
            continue
        if isinstance(node, Instruction):
            yield f"<?{node.target} {node.value}?>"
            continue
        yield f"<{node.local}"
        if node.namespace != outer:
            yield f" {declaration('', node.namespace)}"
        yield from _attributes(node.attributes, prefix)
        if node.children:
            yield ">"
            waiting.append(f"</{node.local}>")
            waiting += [(child, node.namespace) for child in reversed(node.children)]
        else:
            yield "/>"


def _attributes(attributes: Iterable[Attribute], prefix: str) -> Iterator[str]:
    prefixes = {"": "", _XML: "xml:"}
    for attribute in attributes:
        if attribute.namespace not in prefixes:
            made = f"{prefix}{len(prefixes)}"
            prefixes[attribute.namespace] = f"{made}:"
            yield f" {declaration(made, attribute.namespace)}"
        yield f" {prefixes[attribute.namespace]}{attribute.local}={quoted(attribute.value)}"
