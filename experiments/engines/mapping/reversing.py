"""Reverse rewriting (DRR): makes the text of a document from its image, for experiments only.

With this approach only the image travels, and a subscriber gets what its router makes of it: before the image
is forwarded (EDRR) or after (LDRR).  The operators are undone from the last to the first:

    Rename        the name before                        Upgrade     the run of siblings behind E, into it
    ToElement     the first child, as an attribute       Downgrade   S of the first F; other copies go
    Insert …      the made path is unwrapped             Exchange    E above its F again; equal copies are one

The order of siblings, copies and what was hidden are not recovered, so the bytes are not the publisher's: the
other approaches deliver these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from twigcast.document import (
    Attribute,
    Comment,
    Document,
    Element,
    Instruction,
    Text,
    read,
    string_value,
)
from twigcast.rewriting.image_text import write_document
from twigcast.rewriting.labels import QName
from twigcast.rewriting.mapping import Mapping
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Operator,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
    apply,
    made_keys,
)
from twigcast.rewriting.schema_tree import SchemaTree

Child: TypeAlias = Element | Text | Comment | Instruction


class ReverseRewriter:
    """Undoes a mapping on the texts of images."""

    def __init__(self, mapping: Mapping) -> None:
        self._image = mapping.image
        self._steps: list[tuple[Operator, SchemaTree]] = []
        tree = mapping.source.copy()
        for operator in mapping.operators:
            before = tree.copy()
            apply(tree, operator)
            self._steps.append((operator, before))

    def reverse(self, image: bytes) -> bytes:
        """The text of a document whose image this could be."""
        reversing = _Reversing(read(image), self._image)
        for operator, before in reversed(self._steps):
            reversing.undo(operator, before)
        written = write_document(reversing.document)
        return image if written is None else written


class _Reversing:
    def __init__(self, document: Document, schema: SchemaTree) -> None:
        self.document = document
        self.keys: dict[int, str] = {}
        waiting = [(document.root, schema.root)]
        while waiting:
            element, node = waiting.pop()
            self.keys[id(element)] = node.key
            for attribute in element.attributes:
                label = QName(attribute.namespace, attribute.local)
                known = schema.child(node, label, is_attribute=True)
                if known is not None:
                    self.keys[id(attribute)] = known.key
            for child in element.children:
                if isinstance(child, Element):
                    below = schema.child(node, QName(child.namespace, child.local))
                    if below is not None:
                        waiting.append((child, below))

    def undo(self, operator: Operator, before: SchemaTree) -> None:
        match operator:
            case Rename(node, _):
                self._rename(node, before[node].label)
            case ToElement(node, _):
                for element in self._walk():
                    self._to_attribute(element, node, before[node].label)
            case Insert() | InsertEach() | InsertAll():
                for key in made_keys(before, operator):
                    self._unwrap(key)
            case Upgrade(node, members):
                self._gather(node, members)
            case UpgradeAll(node):
                self._gather(node, [child.key for child in before[node].children])
            case Downgrade(node, members, into):
                for element in self._instances(node):
                    self._lift(element, members, into)
            case Exchange(node, above):
                self._exchange_back(node, above)
            case Hide():
                pass

    def _key(self, child: Child | Attribute) -> str:
        return self.keys.get(id(child), "")

    def _walk(self) -> list[Document | Element]:
        found: list[Document | Element] = []
        waiting: list[Document | Element] = [self.document]
        while waiting:
            element = waiting.pop()
            found.append(element)
            waiting += [child for child in reversed(element.children) if isinstance(child, Element)]
        return found

    def _instances(self, key: str) -> list[Element]:
        return [each for each in self._walk() if isinstance(each, Element) and self._key(each) == key]

    def _rename(self, key: str, label: QName) -> None:
        for element in self._walk():
            if not isinstance(element, Element):
                continue
            if self._key(element) == key:
                element.namespace, element.local = label
            for attribute in element.attributes:
                if self._key(attribute) == key:
                    attribute.namespace, attribute.local = label

    def _to_attribute(self, element: Document | Element, key: str, label: QName) -> None:
        for child in element.children:
            if isinstance(child, Element) and isinstance(element, Element) and self._key(child) == key:
                attribute = Attribute(*label, string_value(child), element, child.order)
                self.keys[id(attribute)] = key
                element.attributes = (*element.attributes, attribute)
                element.children.remove(child)
                return

    def _unwrap(self, key: str) -> None:
        for parent in self._walk():
            if any(self._key(child) == key for child in parent.children):
                children: list[Child] = []
                for child in parent.children:
                    is_made = isinstance(child, Element) and self._key(child) == key
                    children += child.children if isinstance(child, Element) and is_made else [child]
                parent.children = children

    def _gather(self, key: str, members: Sequence[str]) -> None:
        for parent in self._walk():
            holder: Element | None = None
            children: list[Child] = []
            for child in parent.children:
                if isinstance(child, Element) and self._key(child) == key:
                    holder = child
                    children.append(child)
                elif holder is not None and self._key(child) in members:
                    holder.children.append(child)
                else:
                    holder = None if isinstance(child, Element) else holder
                    children.append(child)
            parent.children = children

    def _lift(self, element: Element, members: Sequence[str], into: str) -> None:
        holders = [each for each in element.children if isinstance(each, Element) and self._key(each) == into]
        for number, holder in enumerate(holders):
            moved = [child for child in holder.children if self._key(child) in members]
            holder.children = [child for child in holder.children if self._key(child) not in members]
            if number == 0:
                at = element.children.index(holder)
                element.children[at:at] = moved
        if len(holders) == 1 and _is_bare(holders[0]):
            element.children.remove(holders[0])

    def _exchange_back(self, key: str, above: str) -> None:
        for parent in self._walk():
            children: list[Child] = []
            last: tuple[Element, str] | None = None
            for child in parent.children:
                inner = self._inner(child, key, above)
                if inner is None or not isinstance(child, Element):
                    children.append(child)
                    last = None if isinstance(child, Element) else last
                    continue
                child.children = [each for each in child.children if each is not inner]
                text = _text_of(inner)
                if last is None or last[1] != text:
                    children.append(inner)
                    last = (inner, text)
                if not _is_bare(child):
                    last[0].children.append(child)
            parent.children = children

    def _inner(self, child: Child, key: str, above: str) -> Element | None:
        """The element that an Exchange put into another one."""
        if not isinstance(child, Element) or self._key(child) != above:
            return None
        found = (each for each in child.children if isinstance(each, Element) and self._key(each) == key)
        return next(found, None)


def _is_bare(element: Element) -> bool:
    """Whether an element has nothing of its own, as one that an operator made."""
    return not element.attributes and not any(
        not isinstance(child, Text) or child.value.strip() for child in element.children
    )


def _text_of(element: Element) -> str:
    """A text by which copies are equal."""
    parts = [element.namespace, element.local]
    parts += [f"{each.local}={each.value!r}" for each in element.attributes]
    for child in element.children:
        parts.append(_text_of(child) if isinstance(child, Element) else repr(child.value))
    return f"<{' '.join(parts)}>"
