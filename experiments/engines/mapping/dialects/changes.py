"""The changes that make a dialect: each is the inverse of an operator, on schemas and on documents.

    change                      global schema              dialect                    operators back
    NewName                     lecturer                   instr                      Rename
    IntoAttribute               course(code, …)            course[@code](…)           ToElement
    Unwrapping                  course(schedule(time))     course(time)               Insert, InsertAll
    Grouping                    course(code, title, …)     course(info(code, title))  Upgrade, Hide
    LiftingOut                  course(place(room, …))     course(room, place(…))     Downgrade
    Enclosing                   course(code, title, …)     offer(course(title), code) Exchange, Upgrade, Hide
    TurningAround               author(article(…), name)   article(author(name), …)   Exchange

The operators of a dialect are those of its changes, last change first.  Grouping and Enclosing make an
element that only the dialect has; it is hidden once its content has left it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from experiments.engines.mapping.dialects.dialect_schema import DialectSchema, Part, Slot
from experiments.engines.mapping.dialects.items import Item, Value
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    Operator,
    Rename,
    ToElement,
    Upgrade,
)

KeyOf = Callable[[str], str]
"""Gives the key of a part by its identity, when an operator is applied."""


class DialectChange(Protocol):
    """One change: what it does to the schema and to a document, and the operators that undo it."""

    def change_schema(self, schema: DialectSchema) -> None: ...

    def change_document(self, root: Item) -> Item: ...

    def undone_by(self, key: KeyOf) -> list[Operator]: ...

    @property
    def makes(self) -> str | None:
        """The identity of the part that the first of the operators makes, if it makes one."""
        ...


@dataclass(frozen=True, slots=True)
class NewName:
    """Gives a part another name."""

    part: str
    name: str
    label: QName
    """The label before."""
    makes: str | None = None

    def change_schema(self, schema: DialectSchema) -> None:
        schema.parts[self.part].name = self.name
        schema.names.add(self.name)

    def change_document(self, root: Item) -> Item:
        for item in root.below():
            if item.identity == self.part:
                item.name = self.name
        return root

    def undone_by(self, key: KeyOf) -> list[Operator]:
        return [Rename(key(self.part), self.label)]


@dataclass(frozen=True, slots=True)
class IntoAttribute:
    """Makes a child with text an attribute of its parent."""

    part: str
    name: str
    label: QName
    makes: str | None = None

    def change_schema(self, schema: DialectSchema) -> None:
        part = schema.parts[self.part]
        parent = _parent(part)
        slot = parent.slot(part)
        parent.children.remove(slot)
        parent.attributes.append(part)
        parent.is_changed = part.as_attribute = True
        part.is_required, part.name = bool(slot.least), self.name

    def change_document(self, root: Item) -> Item:
        for item in root.below():
            for child in item.items:
                if child.identity == self.part:
                    item.children.remove(child)
                    item.attributes.append(Value(self.name, child.text, self.part))
        return root

    def undone_by(self, key: KeyOf) -> list[Operator]:
        return [ToElement(key(self.part), self.label)]


@dataclass(frozen=True, slots=True)
class Unwrapping:
    """Replaces an element that groups others by its content."""

    part: str
    parent: str
    members: tuple[str, ...]
    label: QName
    is_all: bool
    """Whether the parent contains nothing else."""

    @property
    def makes(self) -> str:
        return self.part

    def change_schema(self, schema: DialectSchema) -> None:
        part = schema.parts[self.part]
        parent = _parent(part)
        slot = parent.slot(part)
        at = parent.children.index(slot)
        parent.children[at : at + 1] = [_moved(each, slot) for each in part.children]
        parent.is_changed = True
        for each in part.parts:
            each.parent = parent

    def change_document(self, root: Item) -> Item:
        for item in root.below():
            if item.identity == self.parent:
                children: list[Item | str] = []
                for child in item.children:
                    unwrapped = isinstance(child, Item) and child.identity == self.part
                    children += child.children if isinstance(child, Item) and unwrapped else [child]
                item.children = children
        return root

    def undone_by(self, key: KeyOf) -> list[Operator]:
        if self.is_all:
            return [InsertAll(key(self.parent), (self.label,))]
        return [Insert(key(self.parent), (self.label,), tuple(map(key, self.members)))]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Puts neighbouring children into an element that only the dialect has."""

    parent: str
    members: tuple[str, ...]
    name: str
    makes: str | None = None

    def change_schema(self, schema: DialectSchema) -> None:
        parent = schema.parts[self.parent]
        group = schema.extra(self.name, parent)
        group.parent = parent
        taken = [slot for slot in parent.children if slot.part and slot.part.identity in self.members]
        at = parent.children.index(taken[0])
        parent.children = [slot for slot in parent.children if slot not in taken]
        least = int(any(slot.least for slot in taken))
        parent.children.insert(at, Slot(group, group.name, least, 1))
        parent.is_changed = True
        group.children = taken
        for slot in taken:
            assert slot.part is not None
            slot.part.parent = group

    def change_document(self, root: Item) -> Item:
        for item in list(root.below()):
            if item.identity != self.parent:
                continue
            moved = [child for child in item.items if child.identity in self.members]
            if moved:
                group = _extra_item(self.name, item, moved)
                at = item.children.index(moved[0])
                item.children = [child for child in item.children if child not in moved]
                item.children.insert(at, group)
        return root

    def undone_by(self, key: KeyOf) -> list[Operator]:
        group = key(_extra_identity(self.name, self.parent))
        return [Upgrade(group, tuple(map(key, self.members))), Hide(group)]


@dataclass(frozen=True, slots=True)
class LiftingOut:
    """Moves some content of a child out of it, behind it."""

    part: str
    parent: str
    members: tuple[str, ...]
    makes: str | None = None

    def change_schema(self, schema: DialectSchema) -> None:
        part, parent = schema.parts[self.part], schema.parts[self.parent]
        own = parent.slot(part)
        taken = [slot for slot in part.children if slot.part and slot.part.identity in self.members]
        part.children = [slot for slot in part.children if slot not in taken]
        at = parent.children.index(own) + 1
        parent.children[at:at] = [_moved(slot, own) for slot in taken]
        own.least = 0  # it is left out where nothing is left in it
        part.is_changed = parent.is_changed = True
        for slot in taken:
            assert slot.part is not None
            slot.part.parent = parent

    def change_document(self, root: Item) -> Item:
        for item in list(root.below()):
            if item.identity != self.parent:
                continue
            for child in item.items:
                if child.identity != self.part:
                    continue
                moved = [each for each in child.items if each.identity in self.members]
                child.children = [each for each in child.children if each not in moved]
                at = item.children.index(child) + 1
                item.children[at:at] = moved
                if moved and not child.children and not child.attributes:
                    item.children.remove(child)
        return root

    def undone_by(self, key: KeyOf) -> list[Operator]:
        return [Downgrade(key(self.parent), tuple(map(key, self.members)), key(self.part))]


@dataclass(frozen=True, slots=True)
class Enclosing:
    """Encloses an element, and beside it some of its content, in an element that only the dialect has."""

    part: str
    members: tuple[str, ...]
    name: str
    makes: str | None = None

    def change_schema(self, schema: DialectSchema) -> None:
        part = schema.parts[self.part]
        parent = _parent(part)
        own = parent.slot(part)
        group = schema.extra(self.name, part)
        taken = [slot for slot in part.children if slot.part and slot.part.identity in self.members]
        part.children = [slot for slot in part.children if slot not in taken]
        group.children = [Slot(part, part.name, 1, 1), *taken]
        parent.children[parent.children.index(own)] = Slot(group, group.name, own.least, own.most)
        group.parent, part.parent = parent, group
        part.is_changed = parent.is_changed = True
        for slot in taken:
            assert slot.part is not None
            slot.part.parent = group

    def change_document(self, root: Item) -> Item:
        for item in list(root.below()):
            for child in item.items:
                if child.identity == self.part:
                    moved = [each for each in child.items if each.identity in self.members]
                    child.children = [each for each in child.children if each not in moved]
                    group = _extra_item(self.name, child, [child, *moved])
                    item.children[item.children.index(child)] = group
        return root

    def undone_by(self, key: KeyOf) -> list[Operator]:
        group = key(_extra_identity(self.name, self.part))
        return [
            Exchange(group, key(self.part)),
            Upgrade(group, tuple(map(key, self.members))),
            Hide(group),
        ]


@dataclass(frozen=True, slots=True)
class TurningAround:
    """Turns an element and a child that it always has around: the child contains the element."""

    part: str
    child: str
    makes: str | None = None

    def change_schema(self, schema: DialectSchema) -> None:
        part, child = schema.parts[self.part], schema.parts[self.child]
        parent = _parent(part)
        own = parent.slot(part)
        part.children.remove(part.slot(child))
        parent.children[parent.children.index(own)] = Slot(child, child.name, own.least, own.most)
        child.children.append(Slot(part, part.name, 1, 1))
        child.parent, part.parent = parent, child
        part.is_changed = parent.is_changed = child.is_changed = True

    def change_document(self, root: Item) -> Item:
        found = [(item, part) for item in root.below() for part in item.items if part.identity == self.part]
        for item, part in found:
            child = next(each for each in part.items if each.identity == self.child)
            part.children.remove(child)
            child.children.append(part)
            item.children[item.children.index(part)] = child
        return root

    def undone_by(self, key: KeyOf) -> list[Operator]:
        return [Exchange(key(self.child), key(self.part))]


def _parent(part: Part) -> Part:
    assert part.parent is not None
    return part.parent


def _moved(slot: Slot, out_of: Slot) -> Slot:
    """The slot of a child that leaves an element which occurs at most once."""
    return Slot(slot.part, slot.name, slot.least * out_of.least, slot.most)


def _extra_item(name: str, near: Item, content: list[Item]) -> Item:
    prefix, colon, _ = near.name.rpartition(":")
    return Item(f"+{prefix}{colon}{name}", prefix + colon + name, [], [*content])


def _extra_identity(name: str, near: str) -> str:
    prefix, colon, _ = near.rpartition(":")
    return f"+{prefix.removeprefix('+')}{colon}{name}"
