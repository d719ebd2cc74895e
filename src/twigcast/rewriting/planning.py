"""Compiles a mapping to a plan: flat tables of integers and names that the kernel's rewriter walks.

    header | nodes | children | attributes | words | strings

    nodes       every element type at a place: its name in the image, and what is done at its tags
    children    (node, name of a child in the source) → node of the child
    attributes  (node, name of an attribute in the source) → what becomes of it
    words       the stages, and all lists
    strings     the names as UTF-8, with a namespace as ``uri \\f local``, each followed by a zero byte

A name in the image depends on the node alone, so every ``Rename`` is already applied in the tables.  Other
operators are *stages*, one behind the other, unless they commute with all stages before them and can be
applied to the source's own tags.  The kernel checks a plan when it opens it, as it does with a segment.
"""

from __future__ import annotations

import struct
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from enum import IntEnum

from twigcast.errors import MappingError
from twigcast.rewriting.labels import QName
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
    apply_all,
    made_keys,
)
from twigcast.rewriting.places import named_places
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree

MAGIC = b"twigplan"
VERSION = 1
MOST_NODES = 5000
"""A schema with more places is in a plan only with those that operators name: then no stranger is counted."""
MOST_STAGES = 1 << 10
"""Each event of a document passes all stages one after the other."""
NONE = 0xFFFFFFFF


class StageKind(IntEnum):
    """What a stage of the kernel does; ``rewriter.hpp`` has the same numbers."""

    INSERT = 0
    INSERT_EACH = 1
    INSERT_ALL = 2
    UPGRADE = 3
    UPGRADE_ALL = 4
    DOWNGRADE = 5
    EXCHANGE = 6
    TO_ELEMENT = 7
    HIDE_ELEMENT = 8
    HIDE_ATTRIBUTE = 9


class _Flag(IntEnum):
    NAMED = 1  # all its elements have one name in the image, that of the plan
    HIDDEN = 2  # left out at the source's tags
    OPEN = 4  # the plan does not have all its children, so an unknown one is not a stranger
    KEPT = 8  # never skipped: it can be at several places, or what it contains is copied or leaves it
    COPIED = 16  # an operator copies it or an element that contains it


class _Action(IntEnum):
    """What becomes of an attribute at the source's tags; for MARK a later stage decides.

    REPLACE: an attribute of this name that the plan does not know goes if the one with the number is there.
    """

    RENAME = 0
    HIDE = 1
    ELEMENT = 2
    MARK = 3
    REPLACE = 4


def compile_plan(source: SchemaTree, operators: Sequence[Operator]) -> bytes:
    """The plan of a mapping; raises ``MappingError`` for an operator that cannot be applied."""
    apply_all(source, operators)  # says which cannot be applied
    planner = _Planner(source, operators)
    if len(planner.packed) > MOST_STAGES:
        message = (
            f"{len(planner.packed):,} operators move elements into or out of others, and a mapping can have "
            f"{MOST_STAGES:,}: match fewer places that have another parent in the global schema"
        )
        raise MappingError(message, code="operator")
    return planner.packed_plan()


class _Node:
    __slots__ = ("each", "elements", "flags", "label", "makes", "names", "parent", "wrap")

    def __init__(self, label: QName) -> None:
        self.label, self.flags = label, 0
        self.names: set[QName] = set()  # that its elements have in the source
        self.wrap: tuple[int, ...] = ()
        self.each: tuple[int, ...] = ()
        self.elements: list[int] = []
        self.parent = NONE  # in the image
        self.makes: list[int] = []  # the nodes that are made because its elements are there


class _Planner:
    def __init__(self, source: SchemaTree, operators: Sequence[Operator]) -> None:
        self.source = source
        self.schema = source.copy()  # as the operators so far have left it
        self.nodes: list[_Node] = []
        self.numbers: dict[str, int] = {}
        self.children: list[tuple[int, QName, int]] = []
        self.reached: Counter[int] = Counter()  # how many children lead to a node
        self.attributes: dict[str, tuple[int, QName, int, _Action]] = {}
        self.replaced: dict[int, list[QName]] = {}
        self.named: set[str] = set()  # by stages
        self.new_start: set[str] = set()  # elements in which a stage has changed what can stand first
        self.new_content: set[str] = set()  # elements into or out of which a stage has moved something
        self.changes_any_content = False  # whether a stage has left something out or made it
        self.packed: list[tuple[int, ...]] = []
        self.wrapped: set[str] = set()  # elements whose content an InsertAll took
        self.copied: set[str] = set()  # the keys below which a stage makes copies
        self.passing = _left_alone(source, operators)
        self.words: list[int] = []
        self.list_at: dict[tuple[int, ...], int] = {}
        self.strings = bytearray()
        self.string_at: dict[QName, tuple[int, int]] = {}
        self._add_source(operators)
        self.source_keys = frozenset(self.numbers)
        for key in self.source_keys:
            self.schema.find(key)  # creates the node
        self.nodes[0].names.add(source.root.label)
        for number, operator in enumerate(operators):
            self._add(number, operator)
            self._note_dependence(operator)
            apply(self.schema, operator)
        self._add_image()

    # The source

    def _add_source(self, operators: Sequence[Operator]) -> None:
        """All places of the source; of a schema with too many, those that operators name."""
        if self.source.has_more_places_than(MOST_NODES):
            self._add_named_places([key for operator in operators for key in _keys(operator)])
            return
        places: dict[str, SchemaNode] = {}
        waiting = deque([self.source.root])
        while waiting:
            place = waiting.popleft()
            places[place.key] = place
            self.source.expand(place)
            waiting.extend(place.children)
        for place in places.values():
            self._number(place.key, place.label)
        for place in places.values():
            for child in place.children:
                self._add_child(place.key, child.label, self.numbers[child.key])
            for label, key in place.loops.items():
                self._add_child(place.key, label, self.numbers[key])

    def _add_named_places(self, keys: list[str]) -> None:
        automaton = named_places(self.source, keys)
        names = [f"{number}" if each.key is None else each.key for number, each in enumerate(automaton)]
        for name, place in zip(names, automaton, strict=True):
            self.nodes[self._number(name, place.label)].flags |= _Flag.OPEN
        for name, place in zip(names, automaton, strict=True):
            for label, child in place.children.items():
                self._add_child(name, label, self.numbers[names[child]])

    def _add_child(self, key: str, label: QName, child: int) -> None:
        self.children.append((self.numbers[key], label, child))
        self.reached[child] += 1
        self.nodes[child].names.add(label)

    def _number(self, key: str, label: QName) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.nodes)
            self.nodes.append(_Node(label))
        return self.numbers[key]

    # Operators

    def _add(self, number: int, operator: Operator) -> None:
        match operator:
            case Rename(key, label):
                self._rename(key, label)
            case ToElement(key, label):
                self._to_element(operator, key, label)
            case Hide(key):
                self._hide(operator, key)
            case InsertAll(key, _):
                made = self._made(operator)
                node = self.nodes[self.numbers[key]]
                if key not in self.wrapped and self._commutes_as_content(key):
                    node.wrap = made
                else:
                    self._stage(StageKind.INSERT_ALL, operator, key, path=made)
                self.wrapped.add(key)
            case InsertEach(key, _, members):
                made = self._made(operator)
                if self._commutes_as_member(key, members):
                    for member in members:
                        self.nodes[self.numbers[member]].each = made
                else:
                    self._stage(StageKind.INSERT_EACH, operator, key, path=made, members=members)
            case Insert(key, _, members):
                self._stage(StageKind.INSERT, operator, key, path=self._made(operator), members=members)
            case Upgrade(key, members):
                self._stage(StageKind.UPGRADE, operator, key, members=members)
            case UpgradeAll(key):
                passes = number in self.passing
                self._stage(StageKind.UPGRADE_ALL, operator, key, key if passes else None)
            case Downgrade(key, members, into):
                self._stage(StageKind.DOWNGRADE, operator, key, into, members=members)
                self.copied.update(members)
            case Exchange(key, above):
                self._stage(StageKind.EXCHANGE, operator, key, above)
                self.copied.add(key)

    def _rename(self, key: str, label: QName) -> None:
        number = self._element_or_attribute(key)
        if self.schema[key].is_attribute:
            self.replaced.setdefault(number, []).append(label)  # an unknown attribute with this name goes
        self._relabel(number, label)

    def _relabel(self, number: int, label: QName) -> None:
        self.nodes[number].label = label
        self.nodes[number].names = {label}

    def _element_or_attribute(self, key: str) -> int:
        """The number of a key; an attribute that no operator has named before gets one."""
        if key not in self.numbers:
            place = self.schema[key]
            assert place.parent is not None
            number = self._number(key, place.label)
            owner = self.numbers[place.parent.key]
            self.attributes[key] = (owner, place.label, number, _Action.RENAME)
        return self.numbers[key]

    def _to_element(self, operator: Operator, key: str, label: QName) -> None:
        number = self._element_or_attribute(key)
        owner, name, _, _ = self.attributes[key]
        place = self.schema[key].parent
        assert place is not None
        self._relabel(number, label)
        if place.key not in self.wrapped and self._commutes_as_first(place.key):
            self.attributes[key] = (owner, name, number, _Action.ELEMENT)
            self.nodes[owner].elements.append(number)
        else:
            self.attributes[key] = (owner, name, number, _Action.MARK)
            self._stage(StageKind.TO_ELEMENT, operator, place.key, key)

    def _hide(self, operator: Operator, key: str) -> None:
        place = self.schema[key]
        if not place.is_attribute:
            node = self.nodes[self.numbers[key]]
            folds = key in self.source_keys and not self.wrapped and not node.each
            if folds and self._is_below_no_copy(key) and self._is_named_by_no_stage(key):
                node.flags |= _Flag.HIDDEN
            else:
                self._stage(StageKind.HIDE_ELEMENT, operator, key)
            return
        number = self._element_or_attribute(key)
        owner, name, _, _ = self.attributes[key]
        assert place.parent is not None
        folds = self._is_below_no_copy(place.parent.key)
        self.attributes[key] = (owner, name, number, _Action.HIDE if folds else _Action.MARK)
        if not folds:
            self._stage(StageKind.HIDE_ATTRIBUTE, operator, place.parent.key, key)

    def _made(self, operator: Insert | InsertEach | InsertAll) -> tuple[int, ...]:
        keys = made_keys(self.schema, operator)
        made = []
        for key, label in zip(keys, operator.path, strict=True):
            number = self._number(key, label)
            self.nodes[number].names = {label}
            made.append(number)
        return tuple(made)

    def _stage(
        self,
        kind: StageKind,
        operator: Operator,
        node: str,
        other: str | None = None,
        *,
        path: Sequence[int] = (),
        members: Sequence[str] = (),
    ) -> None:
        keys = (node, *members, *([other] if other else ()))
        self.named.update(keys)
        self._note_stage(kind, operator, keys)
        numbers = sorted(self.numbers[member] for member in members)
        self.packed.append(
            (
                kind,
                self.numbers[node],
                NONE if other is None else self.numbers[other],
                self._list(path),
                self._list(numbers),
            )
        )

    def _note_stage(self, kind: StageKind, operator: Operator, keys: Sequence[str]) -> None:
        """Note what a stage changes: operators that it could be in the way of are stages, too."""
        if kind in (StageKind.HIDE_ELEMENT, StageKind.TO_ELEMENT, StageKind.INSERT_ALL):
            self.changes_any_content = True
        if kind in (StageKind.INSERT_ALL, StageKind.UPGRADE_ALL):
            self.new_start.add(operator.node)
        elif kind is StageKind.TO_ELEMENT:
            self.new_start.update(keys)
        self.new_content.add(operator.node)
        if isinstance(operator, Downgrade):
            self.new_content.add(operator.into)
        elif isinstance(operator, Exchange):
            self.new_start.add(operator.above)
            self.new_content.add(operator.above)

    # Which places can be skipped if nobody sees them

    def _note_dependence(self, operator: Operator) -> None:
        """Note what is made because elements are there, and where elements are copied or leave unnamed."""
        place = self.schema[operator.node]
        makers: list[str] = []
        made: list[int] = []
        match operator:
            case Insert(_, _, members) | InsertEach(_, _, members):
                makers, made = list(members), self._numbers(made_keys(self.schema, operator))
            case InsertAll(key):
                self.schema.expand(place)
                makers = [child.key for child in place.children]
                made = self._numbers(made_keys(self.schema, operator))
                if not self.nodes[self.numbers[key]].wrap:
                    self._keep(key)  # a stage must see all content
            case ToElement(key):
                assert place.parent is not None
                makers, made = [place.parent.key], self._numbers([key])
            case UpgradeAll(key):
                self._keep(key)
            case Downgrade(key, members, into):
                for each in (key, into):
                    self._keep(each)
                for each in members:
                    self._keep_below(self.schema[each])
            case Exchange(key, above):
                self._keep(above)
                self._keep_below(place)
            case _:
                pass
        for maker in makers:
            if maker in self.numbers:
                self.nodes[self.numbers[maker]].makes += made

    def _numbers(self, keys: Iterable[str]) -> list[int]:
        return [self.numbers[key] for key in keys]

    def _keep(self, key: str) -> None:
        self.nodes[self.numbers[key]].flags |= _Flag.KEPT

    def _keep_below(self, place: SchemaNode) -> None:
        waiting = [place]
        while waiting:
            each = waiting.pop()
            if each.key in self.numbers:
                self.nodes[self.numbers[each.key]].flags |= _Flag.KEPT | _Flag.COPIED
            waiting += each.children

    def _add_image(self) -> None:
        """The parent of each node in the image; a node that can be at several places has none."""
        for key, number in self.numbers.items():
            node, place = self.nodes[number], self.schema.find(key)
            if (
                place is None
                or place.is_attribute
                or any(each.is_recursive for each in (place, *place.ancestors()))
            ):
                node.flags |= _Flag.KEPT
            elif place.parent is not None:
                node.parent = self.numbers[place.parent.key]

    # Which operators can be applied at the source's tags

    def _commutes_as_first(self, key: str) -> bool:
        """Whether no stage has changed what can stand first in this element."""
        return key not in self.new_start and self._is_below_no_copy(key)

    def _commutes_as_content(self, key: str) -> bool:
        """Whether no stage has moved something into or out of this element, or left something out."""
        if self.changes_any_content or key in self.new_content:
            return False
        return key in self.source_keys and self._is_below_no_copy(key)

    def _commutes_as_member(self, key: str, members: Sequence[str]) -> bool:
        """Whether these children are still where the source has them, and no stage has named one."""
        if key not in self.source_keys or not self._is_below_no_copy(key):
            return False
        for member in members:
            place = self.source.find(member) if member in self.source_keys else None
            if place is None or place.parent is None or place.parent.key != key:
                return False
            if not self._is_named_by_no_stage(member) or self.nodes[self.numbers[member]].each:
                return False
            if self._is_reached_by_loop(member):
                return False
        return True

    def _is_named_by_no_stage(self, key: str) -> bool:
        return key not in self.named

    def _is_below_no_copy(self, key: str) -> bool:
        """Whether no stage so far copies this element: the sizes of copies are those before this operator."""
        place = self.schema[key]
        return not any(each.key in self.copied for each in (place, *place.ancestors()))

    def _is_reached_by_loop(self, key: str) -> bool:
        return self.reached[self.numbers[key]] > 1

    # Bytes

    def packed_plan(self) -> bytes:
        nodes: list[int] = []
        for node in self.nodes:
            flags = node.flags | (_Flag.NAMED if len(node.names) == 1 else 0)
            nodes += [*self._name(node.label), flags]
            nodes += [self._list(node.wrap), self._list(node.each), self._list(node.elements)]
            nodes += [node.parent, self._list(node.makes)]
        children: list[int] = []
        for number, label, child in self.children:
            children += [number, *self._name(label), child]
        attributes: list[int] = []
        for owner, label, number, action in self.attributes.values():
            attributes += [owner, *self._name(label), number, action]
            for name in self.replaced.get(number, ()):
                attributes += [owner, *self._name(name), number, _Action.REPLACE]
        stages = len(self.words)
        self.words += [word for stage in self.packed for word in stage]
        root = 0
        header = [
            *(VERSION, len(self.nodes), len(self.children), len(attributes) // 5, len(self.words)),
            *(stages, len(self.packed), root, *self._name(self.source.root.label)),
        ]
        self.strings += bytes(-len(self.strings) % 4)
        numbers = [*header, len(self.strings), *nodes, *children, *attributes, *self.words]
        return MAGIC + struct.pack(f"<{len(numbers)}I", *numbers) + bytes(self.strings)

    def _list(self, items: Sequence[int]) -> int:
        if not items:
            return NONE
        key = tuple(items)
        if key not in self.list_at:  # the members of one InsertEach share their path
            self.list_at[key] = len(self.words)
            self.words += [len(items), *items]
        return self.list_at[key]

    def _name(self, label: QName) -> tuple[int, int]:
        if label not in self.string_at:
            text = (f"{label.namespace}\f{label.local}" if label.namespace else label.local).encode()
            self.string_at[label] = len(self.strings), len(text)
            self.strings += text + b"\0"
        return self.string_at[label]


def _keys(operator: Operator) -> list[str]:
    keys = [operator.node, *getattr(operator, "members", ())]
    return keys + [getattr(operator, name) for name in ("into", "above") if hasattr(operator, name)]


def _left_alone(source: SchemaTree, operators: Sequence[Operator]) -> set[int]:
    """Which of the operators are an UpgradeAll whose element no later operator copies.

    Nor does one depend on the text that is left in it, as an InsertAll does.
    """
    tree = source.copy()
    waiting: dict[str, list[int]] = {}
    found: set[int] = set()
    for number, operator in enumerate(operators):
        changed: Iterable[str] = ()
        if isinstance(operator, InsertAll):
            changed = (operator.node,)
        elif waiting and isinstance(operator, Downgrade | Exchange):
            copied = operator.members if isinstance(operator, Downgrade) else (operator.node,)
            changed = [each.key for key in copied for each in tree[key].with_all_below()]
        for key in changed:
            found.difference_update(waiting.pop(key, ()))
        if isinstance(operator, UpgradeAll):
            waiting.setdefault(operator.node, []).append(number)
            found.add(number)
        apply(tree, operator)
    return found
