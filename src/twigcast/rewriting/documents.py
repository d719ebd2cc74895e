"""Applies a mapping to the tree of a document: the definition of what every faster way must give.

    source                              operators                         image
    <Course>                            Rename Course → course            <course>
      <Day_>MWF</Day_>                  Rename Day_ → days                  <schedule>        made
      <Time_>1:30</Time_>               Rename Time_ → time                   <days>MWF</days>
    </Course>                           Insert course, schedule {…}           <time>1:30</time>

An element belongs to the schema node that the labels from the root lead to.  An element without a node is a
stranger: it keeps its name and place, and moves with its parent.  The image is a ``Document`` of its own with
the bytes of the source; ``Image.sources`` says from which nodes of the source a node was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from twigcast.document import (
    Attribute,
    Comment,
    Document,
    DocumentLimits,
    Element,
    Instruction,
    Node,
    Text,
)
from twigcast.errors import DocumentError, MappingError
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import (
    AppliedOperator,
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
    was_attribute_of,
)
from twigcast.rewriting.schema_tree import SchemaTree

ELEMENT_COST = 32
"""What an element, comment or instruction counts toward the limit on copies, beside its text and values."""


@dataclass(slots=True, eq=False, repr=False)
class Image(Document):
    """A document after rewriting: its nodes are copies of those of ``source``, which is unchanged."""

    source: Document | None = None
    origins: dict[Node, tuple[Node, ...]] = field(default_factory=dict)
    strangers: int = 0
    """The topmost elements of the source that its schema does not know."""

    def sources(self, node: Node) -> list[Node]:
        """The nodes of the source from which a node was made, in document order, each once.

        An element, attribute or text has its own; text that was joined, all pieces; an element that was an
        attribute, that attribute; an element that an operator made, the nearest nodes below it that have
        some.
        """
        if node is self:
            return [self.source] if self.source is not None else []
        found: dict[Node, None] = {}
        waiting: list[Node] = [node]
        while waiting:
            each = waiting.pop()
            origins = self.origins.get(each)
            if origins:
                found.update(dict.fromkeys(origins))
            elif isinstance(each, Element):
                waiting += each.children
        return sorted(found, key=lambda origin: origin.order)


def rewrite_with(
    document: Document,
    schema: SchemaTree,
    operators: Sequence[AppliedOperator],
    limits: DocumentLimits | None = None,
) -> Image:
    """The image of a document under the operators of a mapping, whose source schema is ``schema``.

    Raises ``MappingError`` (``no-mapping``) if the root is not that of the schema, and ``DocumentError``
    (``rewriting-expansion``) if copies make the image too large.
    """
    if QName(document.root.namespace, document.root.local) != schema.root.label:
        raise no_mapping(QName(document.root.namespace, document.root.local), schema)
    rewriter = _Rewriter(document, schema, operators, limits or DocumentLimits())
    for operator in operators:
        rewriter.apply(operator)
    return rewriter.image()


def no_mapping(root: QName, schema: SchemaTree) -> MappingError:
    """The error for a document whose root is not that of the source schema."""
    message = f"the root element is {str(root)!r}, not {str(schema.root.label)!r}: it needs another mapping"
    return MappingError(message, code="no-mapping", name=root.local)


class CopyBudget:
    """Limits how large copies may make the image of a document of ``size`` bytes.

    What was read and what is copied count as the nodes of an image do: each element, comment or instruction
    as ``ELEMENT_COST``, values and texts as their bytes in UTF-8.
    """

    def __init__(self, size: int, limits: DocumentLimits) -> None:
        self.allowed = max(limits.amplification_threshold, limits.amplification * size)
        self.used = self.copied = 0

    def read(self, size: int) -> None:
        """Count what the source has."""
        self.used += size
        self._check()

    def copy(self, size: int) -> None:
        """Count what is copied, before it is; raises ``DocumentError`` (``rewriting-expansion``)."""
        if size > 0:
            self.used += size
            self.copied += size
            self._check()

    def _check(self) -> None:
        if self.copied and self.used > self.allowed:
            message = (
                f"the mapping copies elements until the document has more than {self.allowed:,.0f} bytes: "
                "raise the limit on amplification, or change the operators that copy (Downgrade, Exchange)"
            )
            raise DocumentError(message, code="rewriting-expansion")


class _AttributeCopy:
    __slots__ = ("key", "label", "origin")

    def __init__(self, key: str | None, label: QName, origin: Attribute) -> None:
        self.key, self.label, self.origin = key, label, origin


class _ElementCopy:
    """An element of the image while operators change it; ``key`` is None for a stranger."""

    __slots__ = ("attributes", "children", "key", "label", "made_of", "origin")

    def __init__(self, key: str | None, label: QName, origin: Element | None = None) -> None:
        self.key, self.label, self.origin = key, label, origin
        self.attributes: list[_AttributeCopy] = []
        self.children: list[_Copy] = []
        self.made_of: Attribute | None = None

    def rename_attribute(self, key: str, label: QName) -> None:
        """Give an attribute, if it is there, a name; an unknown attribute that has this name goes."""
        renamed = next((each for each in self.attributes if each.key == key), None)
        if renamed is not None:
            renamed.label = label
            self.attributes = [each for each in self.attributes if each is renamed or each.label != label]


@dataclass(frozen=True, slots=True, eq=False)
class _ValueCopy:
    """The text of an element that was an attribute."""

    origin: Attribute


_Child: TypeAlias = Element | Text | Comment | Instruction
_Copy: TypeAlias = _ElementCopy | _ValueCopy | Text | Comment | Instruction


class _Rewriter:
    def __init__(
        self,
        document: Document,
        schema: SchemaTree,
        operators: Sequence[AppliedOperator],
        limits: DocumentLimits,
    ) -> None:
        self.document, self.schema = document, schema
        self.strangers = 0
        self.top = _ElementCopy(None, QName("", ""))
        self._copy(document)
        self.budget = CopyBudget(len(document.body), limits)
        if any(isinstance(each.operator, Downgrade | Exchange) for each in operators):
            self.budget.read(_size(self.top.children))  # otherwise nothing is copied

    def _copy(self, document: Document) -> None:
        root = self.schema.root
        waiting: list[tuple[_ElementCopy, Document | Element]] = [(self.top, document)]
        while waiting:
            copy, original = waiting.pop()
            node = self.schema.find(copy.key) if copy.key is not None else None
            for child in original.children:
                if not isinstance(child, Element):
                    copy.children.append(child)
                    continue
                label = QName(child.namespace, child.local)
                below = root if original is document else node and self.schema.child(node, label)
                if below is None and node is not None:
                    self.strangers += 1
                new = _ElementCopy(below.key if below else None, label, child)
                for attribute in child.attributes:
                    name = QName(attribute.namespace, attribute.local)
                    known = self.schema.child(below, name, is_attribute=True) if below else None
                    new.attributes.append(_AttributeCopy(known.key if known else None, name, attribute))
                copy.children.append(new)
                waiting.append((new, child))

    # Operators

    def apply(self, applied: AppliedOperator) -> None:
        keys, holder = applied.made, applied.label
        match applied.operator:
            case Rename(node, label):
                for x in self._walk():
                    if x.key == node:
                        x.label = label
                    x.rename_attribute(node, label)
            case ToElement(node, label):
                for x in self._walk():
                    _to_element(x, node, label)
            case Insert(node, path, members):
                for x in self._instances(node):
                    moved = _taken(x, members)
                    if moved:
                        x.children.append(_wrapped(keys, path, moved))
            case InsertEach(node, path, members):
                for x in self._instances(node):
                    x.children = [
                        _wrapped(keys, path, [each]) if _is(each, members) else each for each in x.children
                    ]
            case InsertAll(node, path):
                for x in self._instances(node):
                    if x.children:
                        x.children = [_wrapped(keys, path, x.children)]
            case Upgrade(node, members):
                self._replace(node, lambda x: [x, *_taken(x, members)])
            case UpgradeAll(node):
                self._replace(node, _upgraded)
            case Downgrade(node, members, into):
                assert holder is not None
                for x in self._instances(node):
                    self._downgrade(x, members, into, holder)
            case Exchange(node, above):
                assert holder is not None
                self._replace(node, lambda x: self._exchanged(x, above, holder))
            case Hide(node):
                self._replace(node, lambda _: [])
                for x in self._walk():
                    x.attributes = [each for each in x.attributes if each.key != node]

    def _walk(self) -> list[_ElementCopy]:
        found: list[_ElementCopy] = []
        waiting = [self.top]
        while waiting:
            element = waiting.pop()
            found.append(element)
            waiting += [child for child in reversed(element.children) if isinstance(child, _ElementCopy)]
        return found

    def _instances(self, key: str) -> Iterator[_ElementCopy]:
        return (element for element in self._walk() if element.key == key)

    def _replace(self, key: str, by: Callable[[_ElementCopy], Iterable[_Copy]]) -> None:
        # All parents are found first: an element that was exchanged is a child of another one then.
        parents = [each for each in self._walk() if any(_is(child, (key,)) for child in each.children)]
        for parent in parents:
            children: list[_Copy] = []
            for child in parent.children:
                children += by(child) if isinstance(child, _ElementCopy) and child.key == key else [child]
            parent.children = children

    def _downgrade(self, x: _ElementCopy, members: Sequence[str], into: str, label: QName) -> None:
        moved = _taken(x, members)
        holders = [each for each in _taken(x, (into,)) if isinstance(each, _ElementCopy)]
        if moved and not holders:
            holders = [_ElementCopy(into, label)]
        for number, holder in enumerate(holders):
            holder.children += moved if number == 0 else self._copies(moved)
        x.children += holders

    def _exchanged(self, x: _ElementCopy, above: str, label: QName) -> list[_Copy]:
        holders = [each for each in _taken(x, (above,)) if isinstance(each, _ElementCopy)]
        if not holders:
            holders = [_ElementCopy(above, label)]
        for number, holder in enumerate(holders):
            holder.children[:0] = [x] if number == 0 else self._copies([x])
        return list(holders)

    # Copies

    def _copies(self, moved: Sequence[_Copy]) -> list[_Copy]:
        self.budget.copy(_size(moved))
        top = _ElementCopy(None, QName("", ""))
        waiting = [(top, moved)]
        while waiting:
            copy, children = waiting.pop()
            for child in children:
                if not isinstance(child, _ElementCopy):
                    copy.children.append(child)
                    continue
                new = _ElementCopy(child.key, child.label, child.origin)
                new.made_of = child.made_of
                new.attributes = [_AttributeCopy(a.key, a.label, a.origin) for a in child.attributes]
                copy.children.append(new)
                waiting.append((new, child.children))
        return top.children

    # The result

    def image(self) -> Image:
        """The copies as a document, with adjacent texts joined."""
        source = self.document
        image = Image(source.body, [], source.encoding, source.namespaces, source.entities)
        image.attribute_types, image.source = source.attribute_types, source
        image.strangers = self.strangers
        order = 0
        waiting: list[tuple[_Copy, Document | Element]] = [
            (child, image) for child in reversed(self.top.children)
        ]
        while waiting:
            copy, parent = waiting.pop()
            order += 1
            if isinstance(copy, _ValueCopy | Text):
                self._add_text(image, copy, parent, order)
                continue
            new: _Child
            if isinstance(copy, Comment):
                new = Comment(copy.value, parent, order, copy.start, copy.end)
                image.origins[new] = (copy,)
            elif isinstance(copy, Instruction):
                new = Instruction(copy.target, copy.value, parent, order, copy.start, copy.end)
                image.origins[new] = (copy,)
            else:
                new, order = self._element(image, copy, parent, order)
                waiting += [(child, new) for child in reversed(copy.children)]
            parent.children.append(new)
        return image

    def _element(
        self, image: Image, copy: _ElementCopy, parent: Document | Element, order: int
    ) -> tuple[Element, int]:
        origin = copy.origin or copy.made_of
        new = Element(*copy.label, parent, order, *((origin.start, origin.end) if origin else (0, 0)))
        if copy.origin is not None and copy.label.namespace == copy.origin.namespace:
            new.prefix = copy.origin.prefix
        if origin is not None:
            image.origins[new] = (origin,)
        attributes: list[Attribute] = []
        for each in copy.attributes:
            order += 1
            old = each.origin
            attribute = Attribute(*each.label, old.value, new, order, old.start, old.end)
            if each.label.namespace == old.namespace:
                attribute.prefix = old.prefix
            image.origins[attribute] = (old,)
            attributes.append(attribute)
        new.attributes = tuple(attributes)
        return new, order

    def _add_text(
        self, image: Image, copy: _ValueCopy | Text, parent: Document | Element, order: int
    ) -> None:
        assert isinstance(parent, Element)
        origin = copy.origin if isinstance(copy, _ValueCopy) else copy
        before = parent.children[-1] if parent.children else None
        if isinstance(before, Text):
            before.value += origin.value
            before.end = origin.end
            image.origins[before] += (origin,)
            return
        new = Text(origin.value, parent, order, origin.start, origin.end)
        image.origins[new] = (origin,)
        parent.children.append(new)


def _size(copies: Sequence[_Copy]) -> int:
    """What parts of the image count toward the limit on copies."""
    size = 0
    waiting = list(copies)
    while waiting:
        each = waiting.pop()
        if isinstance(each, _ElementCopy):
            size += ELEMENT_COST + sum(len(a.origin.value.encode()) for a in each.attributes)
            waiting += each.children
        elif isinstance(each, _ValueCopy | Text):
            value = each.origin.value if isinstance(each, _ValueCopy) else each.value
            size += len(value.encode())
        else:
            target = each.target if isinstance(each, Instruction) else ""
            size += ELEMENT_COST + len(target.encode()) + len(each.value.encode())
    return size


def _is(copy: _Copy, keys: Sequence[str]) -> bool:
    return isinstance(copy, _ElementCopy) and copy.key is not None and copy.key in keys


def _to_element(x: _ElementCopy, key: str, label: QName) -> None:
    attribute = next((each for each in x.attributes if each.key == key), None)
    if attribute is None:
        return
    x.attributes.remove(attribute)
    made = _ElementCopy(key, label)
    made.made_of = attribute.origin
    if attribute.origin.value:
        made.children.append(_ValueCopy(attribute.origin))
    assert x.key is not None
    before = 0
    while before < len(x.children) and _was_attribute_of(x.key, x.children[before]):
        before += 1
    x.children.insert(before, made)


def _was_attribute_of(key: str, copy: _Copy) -> bool:
    return isinstance(copy, _ElementCopy) and copy.key is not None and was_attribute_of(key, copy.key)


def _taken(x: _ElementCopy, keys: Sequence[str]) -> list[_Copy]:
    """Take the children with these keys out of an element."""
    moved = [child for child in x.children if _is(child, keys)]
    if moved:
        x.children = [child for child in x.children if not _is(child, keys)]
    return moved


def _wrapped(keys: Sequence[str], path: Sequence[QName], content: list[_Copy]) -> _ElementCopy:
    """A made path around some content."""
    for key, label in zip(reversed(keys), reversed(path), strict=True):
        made = _ElementCopy(key, label)
        made.children = content
        content = [made]
    return made


def _upgraded(x: _ElementCopy) -> list[_Copy]:
    moved = [child for child in x.children if isinstance(child, _ElementCopy)]
    x.children = [child for child in x.children if not isinstance(child, _ElementCopy)]
    return [x, *moved]
