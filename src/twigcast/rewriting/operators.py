"""The operators of a mapping, as values, and what each does to a schema tree.

    Rename(E, n)            E gets another name; also an attribute
    ToElement(E/@a, n)      an attribute becomes the first child n of its element
    Insert(E, p, S)         the children S of an E move into one made path p, the last child of that E
    InsertEach(E, p, S)     each child S gets a made path p of its own, in its place
    InsertAll(E, p)         all content of an E moves into a made path p
    Upgrade(E, S)           the children S of an E move behind it, into its parent
    UpgradeAll(E)           the same for all children
    Downgrade(E, S, F)      the children S of an E move into each of its children F, as copies
    Exchange(E, F)          the children F take the place of E, each with a copy of E as its first child
    Hide(E)                 E, or an attribute, is left out

A mapping is a list of operators: each is applied to the whole document that the one before has left.
Operators name nodes by key (see ``schema_tree``), so a renamed or moved node is still meant, and a node that
happens to have the same name is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from twigcast.errors import MappingError
from twigcast.rewriting.labels import ATTRIBUTE, QName, is_name, parent_key
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree

Labels: TypeAlias = tuple[QName, ...]
Keys: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rename:
    """Gives an element or attribute another name."""

    node: str
    label: QName


@dataclass(frozen=True, slots=True)
class ToElement:
    """Makes an attribute a child element with the attribute's value as text, before all other content.

    Children that earlier operators of this kind made stay before it.  The element has the attribute's key.
    """

    node: str
    label: QName


@dataclass(frozen=True, slots=True)
class Insert:
    """Moves some children into one made path, the last child.  Without such a child nothing is made."""

    node: str
    path: Labels
    members: Keys


@dataclass(frozen=True, slots=True)
class InsertEach:
    """Puts a made path around each of some children, in its place."""

    node: str
    path: Labels
    members: Keys


@dataclass(frozen=True, slots=True)
class InsertAll:
    """Moves all content, also text and unknown elements, into a made path, if there is any content."""

    node: str
    path: Labels


@dataclass(frozen=True, slots=True)
class Upgrade:
    """Moves some children right behind their parent."""

    node: str
    members: Keys


@dataclass(frozen=True, slots=True)
class UpgradeAll:
    """Moves all child elements, unknown ones too, right behind their parent; text stays."""

    node: str


@dataclass(frozen=True, slots=True)
class Downgrade:
    """Moves some children into each child ``into``, as its last children; these children then stand last.

    Where there are members and no ``into``, one is made.
    """

    node: str
    members: Keys
    into: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """Replaces an element by its children ``above``, each with a copy of the rest as its first child.

    Where there is no ``above``, one is made.
    """

    node: str
    above: str


@dataclass(frozen=True, slots=True)
class Hide:
    """Leaves out an element with all it contains, or an attribute."""

    node: str


Operator: TypeAlias = (
    Rename | ToElement | Insert | InsertEach | InsertAll | Upgrade | UpgradeAll | Downgrade | Exchange | Hide
)
"""A step of a mapping: a function from trees to trees."""

ALLOWED_IN_LOOPS = (Rename, ToElement, InsertAll, Hide)
"""The operators for elements that can contain themselves; others would have to say which of two is meant."""


@dataclass(frozen=True, slots=True)
class AppliedOperator:
    """An operator with what it needs to know of the schema tree that the operators before it have left.

    ``made`` has the keys of the path that it makes.  ``label`` is the label that a missing holder gets:
    ``into`` of a Downgrade, ``above`` of an Exchange.
    """

    operator: Operator
    made: Keys = ()
    label: QName | None = None


def made_keys(tree: SchemaTree, operator: Insert | InsertEach | InsertAll) -> Keys:
    """The keys of the path that an operator makes if it is applied to the tree now."""
    keys: list[str] = []
    base = operator.node
    for label in operator.path:
        base = tree.free_key(f"{base}/+{label}")
        keys.append(base)
    return tuple(keys)


def apply_all(tree: SchemaTree, operators: Iterable[Operator]) -> SchemaTree:
    """The image of a schema tree; raises ``MappingError`` for an operator that cannot be applied."""
    return apply_in_order(tree, operators)[0]


def apply_in_order(
    tree: SchemaTree, operators: Iterable[Operator]
) -> tuple[SchemaTree, tuple[AppliedOperator, ...]]:
    """The image of a schema tree, and each operator as it was applied; raises ``MappingError``."""
    image = tree.copy()
    applied: list[AppliedOperator] = []
    for operator in operators:
        match operator:
            case Insert() | InsertEach() | InsertAll():
                applied.append(AppliedOperator(operator, made_keys(image, operator)))
            case Downgrade(_, _, holder) | Exchange(_, holder):
                applied.append(AppliedOperator(operator, label=image[holder].label))
            case _:
                applied.append(AppliedOperator(operator))
        apply(image, operator)
    return image, tuple(applied)


def apply(tree: SchemaTree, operator: Operator) -> None:
    """Apply an operator to a schema tree; raises ``MappingError`` if it cannot be applied."""
    node = _named(tree, operator.node)
    if not isinstance(operator, ALLOWED_IN_LOOPS):
        _not_in_loop(operator, node)
    if node.is_attribute and not isinstance(operator, Rename | ToElement | Hide):
        name = type(operator).__name__
        message = f"{name} needs an element, and {node.key!r} is an attribute: make it an element first"
        raise MappingError(message, code="operator", name=node.key)
    _check_labels(operator, node)
    match operator:
        case Rename(_, label):
            _rename(tree, node, label)
        case ToElement(_, label):
            _to_element(node, label)
        case Insert() | InsertEach() | InsertAll():
            _insert(tree, node, operator)
        case Upgrade(_, members):
            _upgrade(tree, node, _members(tree, node, members))
        case UpgradeAll():
            tree.expand(node)
            _upgrade(tree, node, list(node.children))
        case Downgrade(_, members, into):
            holder = _members(tree, node, (into,))[0]
            _not_in_loop(operator, holder)
            _downgrade(tree, node, _members(tree, node, members), holder)
        case Exchange(_, above):
            holder = _members(tree, node, (above,))[0]
            _not_in_loop(operator, holder)
            _exchange(tree, node, holder)
        case Hide():
            if node.parent is None:
                raise MappingError("the root cannot be hidden", code="operator", name=node.key)
            tree.remove(node)


def _named(tree: SchemaTree, key: str) -> SchemaNode:
    node = tree[key]
    if node.key != key:
        message = f"{key!r} is the same place as {node.key!r}, which can contain itself: name that one"
        raise MappingError(message, code="place", name=key)
    return node


def _not_in_loop(operator: Operator, node: SchemaNode) -> None:
    if node.is_recursive:
        name = type(operator).__name__
        message = (
            f"{name} cannot be applied to {node.key!r}, which can contain itself: "
            "there, only names, attributes, and a path around all content can be changed"
        )
        raise MappingError(message, code="recursive", name=node.key)


def _check_labels(operator: Operator, node: SchemaNode) -> None:
    labels: Labels = ()
    if isinstance(operator, Rename | ToElement):
        labels = (operator.label,)
    elif isinstance(operator, Insert | InsertEach | InsertAll):
        labels = operator.path
    for label in labels:
        is_declaration = node.is_attribute and isinstance(operator, Rename) and label == ("", "xmlns")
        if not is_name(label.local) or is_declaration:
            message = f"{label.local!r} is not a name that an element or attribute can have"
            raise MappingError(message, code="operator", name=node.key)


def _rename(tree: SchemaTree, node: SchemaNode, label: QName) -> None:
    siblings = tree.siblings(node)
    if node.is_attribute and siblings.has_other(node, label):
        message = f"an element cannot have two attributes {str(label)!r}: rename or hide the other one first"
        raise MappingError(message, code="operator", name=node.key)
    siblings.relabel(node, label)


def _members(tree: SchemaTree, node: SchemaNode, keys: Keys) -> list[SchemaNode]:
    """The children of a node with these keys, in their order."""
    if not keys:
        message = f"the children of {node.key!r} that are meant must be named"
        raise MappingError(message, code="operator", name=node.key)
    tree.expand(node)
    wanted = {_named(tree, key) for key in keys}
    missing = sorted(each.key for each in wanted if each not in node.children)
    if missing:
        message = f"{missing[0]!r} is not a child of {node.key!r} when the operator is applied"
        raise MappingError(message, code="operator", name=missing[0])
    return node.children.in_order(wanted)


def _to_element(node: SchemaNode, label: QName) -> None:
    parent = node.parent
    if not node.is_attribute or parent is None:
        raise MappingError(f"{node.key!r} is not an attribute", code="operator", name=node.key)
    parent.attributes.remove(node)
    node.is_attribute, node.label = False, label
    before = parent.children.last_leading(lambda child: was_attribute_of(parent.key, child.key))
    parent.children.insert_after(before, node)


def was_attribute_of(element: str, key: str) -> bool:
    """Whether a key is that of an attribute of an element, or of the child that ToElement made of it."""
    above, name = parent_key(key)
    return above == element and name.startswith(ATTRIBUTE)


def _insert(tree: SchemaTree, node: SchemaNode, operator: Insert | InsertEach | InsertAll) -> None:
    if isinstance(operator, InsertAll):
        tree.expand(node)
        members = list(node.children)
    else:
        members = _members(tree, node, operator.members)
    if not operator.path:
        message = f"the path to insert into {node.key!r} needs at least one name"
        raise MappingError(message, code="operator", name=node.key)
    holder = node
    for key, label in zip(made_keys(tree, operator), operator.path, strict=True):
        made = SchemaNode(key, label, holder)
        if holder is node:
            made.least, made.most = _together(members, isinstance(operator, InsertEach))
        if holder is node and isinstance(operator, InsertEach):
            holder.children.insert_before(members[0], made)
        else:
            holder.children.append(made)
        made.is_recursive = node.is_recursive
        tree.register(made)
        holder = made
    for member in members:
        node.children.remove(member)
        member.parent = holder
        if isinstance(operator, InsertEach):
            member.least, member.most = (1 if len(members) == 1 else 0), 1
    holder.children.extend(members)
    if isinstance(operator, InsertAll):
        holder.has_text, holder.loops = node.has_text, node.loops
        node.has_text, node.loops = False, {}


def _together(members: Sequence[SchemaNode], each: bool) -> tuple[int, int | None]:
    """How often a made path occurs around these members."""
    if not each:
        return int(any(member.least for member in members)), 1
    most = [member.most for member in members]
    return sum(member.least for member in members), None if None in most else sum(each or 0 for each in most)


def _times(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a * b


def _upgrade(tree: SchemaTree, node: SchemaNode, members: list[SchemaNode]) -> None:
    if node.parent is None:
        raise MappingError("children of the root cannot be moved behind it", code="operator", name=node.key)
    siblings, before = tree.siblings(node), node
    for member in members:
        node.children.remove(member)
        siblings.insert_after(before, member)
        before, member.parent = member, node.parent
        member.least, member.most = member.least * node.least, _times(member.most, node.most)


def _downgrade(tree: SchemaTree, node: SchemaNode, members: list[SchemaNode], into: SchemaNode) -> None:
    tree.expand(into)
    if into in members:
        raise MappingError(f"{into.key!r} cannot move into itself", code="operator", name=into.key)
    into.least = max(into.least, int(any(member.least for member in members)))
    for member in members:
        node.children.remove(member)
        member.parent = into
    into.children.extend(members)
    node.children.remove(into)
    node.children.append(into)


def _exchange(tree: SchemaTree, node: SchemaNode, above: SchemaNode) -> None:
    tree.expand(above)
    node.children.remove(above)
    tree.siblings(node).replace(node, above)
    above.parent, node.parent = node.parent, above
    above.children.insert_after(None, node)
    most = None if above.most is None else max(1, above.most)
    above.least, above.most = node.least * max(1, above.least), _times(node.most, most)
    node.least, node.most = 1, 1
