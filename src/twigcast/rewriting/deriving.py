"""Derives the operators of a mapping from a matching: pairs of a source place and a global place.

    pairs                                          operators
    cmu/Course/Day_  → catalogue/course/schedule/days    Insert(Course, schedule, {Day_, Time_})
    cmu/Course/Time_ → catalogue/course/schedule/time    Rename(Day_, days), Rename(Time_, time)

Each operator is applied to a working copy of the source schema at once, so the next one is chosen for the
tree as it then is.  In the end every matched node is at the path of its image.

Invariant of the walk over the global schema: the nodes placed so far are connected, with the root on top, and
no node that is still to be placed is above one of them.  The order of the global schema decides ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from twigcast.errors import MappingError
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
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
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree


def derive(source: SchemaTree, target: SchemaTree, pairs: Mapping[str, str]) -> tuple[Operator, ...]:
    """The operators that bring every matched place of the source to its place in the global schema.

    ``pairs`` has the global place of each matched source place, both as paths.  Several source places may
    share a global place that has no image below it.  Raises ``MappingError``: ``place`` for a path that is
    not in its schema, ``matching`` for pairs that contradict each other, ``recursive`` where a place would
    have to move out of or into an element that can contain itself.
    """
    derivation = _Derivation(source, target, checked_pairs(source, target, pairs))
    derivation.run()
    return tuple(_joined(source, derivation.operators))


def checked_pairs(source: SchemaTree, target: SchemaTree, pairs: Mapping[str, str]) -> dict[str, str]:
    """The pairs with keys as the trees write them; raises ``MappingError`` as ``derive`` does."""
    found: dict[str, str] = {}
    for place, image in pairs.items():
        node, goal = source[place], target[image]
        if goal.is_attribute and not node.is_attribute:
            raise _contradiction(
                f"the element {place!r} cannot become the attribute {image!r}: a global schema needs an "
                "element there",
                place,
            )
        if found.setdefault(node.key, goal.key) != goal.key:
            raise _contradiction(
                f"{place!r} leads to both {found[node.key]!r} and {goal.key!r}; a source place has one image",
                place,
            )
    shared: dict[str, str] = {}
    for place, image in found.items():
        if image in shared and (below := _below(image, found, target)) is not None:
            raise _contradiction(
                f"{shared[image]!r} and {place!r} both lead to {image!r}, so nothing may lead to a place "
                f"below it, as {below!r} does",
                place,
            )
        if image in shared and image == target.root.key:
            raise _contradiction(
                f"{shared[image]!r} and {place!r} cannot both become the root {image!r}", place
            )
        shared.setdefault(image, place)
    for place, image in found.items():
        owner, above = source[place].parent, target[image].parent
        if not target[image].is_attribute or owner is None or above is None:
            continue
        leads_to = found.get(owner.key)
        if owner.parent is None and target.root.key not in found.values():
            leads_to = target.root.key  # attributes of the root stay on top
        if leads_to != above.key:
            raise _contradiction(
                f"the attribute {place!r} cannot move to {image!r}: its element {owner.key!r} does not "
                f"become {above.key!r}",
                place,
            )
    return found


def _below(image: str, pairs: Mapping[str, str], target: SchemaTree) -> str | None:
    """A source place that leads to an element below a global place."""
    for place, other in pairs.items():
        if other.startswith(f"{image}/") and not target[other].is_attribute:
            return place
    return None


def _contradiction(message: str, name: str) -> MappingError:
    return MappingError(message, code="matching", name=name)


class _Derivation:
    """The working copy of the source schema, the image of each of its nodes, and the operators so far."""

    def __init__(self, source: SchemaTree, target: SchemaTree, pairs: dict[str, str]) -> None:
        self.tree, self.target = source.copy(), target
        self.image = pairs
        self.operators: list[Operator] = []
        for key in pairs:
            # Matched nodes exist from now on; others are created where an operator needs them.
            _ = self.tree[key]

    def run(self) -> None:
        self._attributes()
        self._root()
        self._exchanges()
        self._walk()

    def _do(self, operator: Operator) -> None:
        self.operators.append(operator)
        apply(self.tree, operator)

    # Attributes, and the root

    def _attributes(self) -> None:
        for node in self._matched(attributes=True):
            goal = self.target[self.image[node.key]]
            if not goal.is_attribute:
                self._do(ToElement(node.key, goal.label))
                continue
            if goal.label != node.label:
                self._do(Rename(node.key, goal.label))
            del self.image[node.key]

    def _root(self) -> None:
        """Give the root of the source the role of the global root, unless another node has it."""
        root, top = self.tree.root, self.target.root
        if top.key in self.image.values():
            return
        place = self.image.get(root.key)
        if place is not None:
            taken = set(self.image.values()) - {place}
            goal = self.target[place]
            above = [each for each in reversed(list(goal.ancestors())) if each.parent is not None]
            path = [*(each for each in above if each.key not in taken), goal]
            operator = InsertAll(root.key, tuple(each.label for each in path))
            keys = made_keys(self.tree, operator)
            self._do(operator)
            self.image.update((key, each.key) for key, each in zip(keys, path, strict=True))
        self.image[root.key] = top.key
        if root.label != top.label:
            self._do(Rename(root.key, top.label))

    # Nodes that stand the other way round

    def _exchanges(self) -> None:
        while (found := self._inverted()) is not None:
            e, f = found
            while f.parent is not None and f.parent is not e:
                self._do(Upgrade(f.parent.key, (f.key,)))
            self._do(Exchange(e.key, f.key))

    def _inverted(self) -> tuple[SchemaNode, SchemaNode] | None:
        """The nearest two nodes of which the upper one has its image below that of the lower one."""
        nearest: tuple[SchemaNode, SchemaNode] | None = None
        distance = 0
        for f in self._matched():
            for steps, e in enumerate(f.ancestors(), 1):
                if nearest is not None and steps >= distance:
                    break
                image = self.image.get(e.key)
                if image is None:
                    # An unmatched root, where another node is to be the root.
                    below = e.parent is None and self.image[f.key] == self.target.root.key
                else:
                    below = image.startswith(f"{self.image[f.key]}/")
                if below:
                    nearest, distance = (e, f), steps
                    break
        return nearest

    # The walk over the global schema

    def _walk(self) -> None:
        top = self.target.root
        for node in self._matched():
            if self.image[node.key] == top.key and node.parent is None and node.label != top.label:
                self._rename(node, top.label)
        self._place_below(top, self.tree.root)

    def _place_below(self, goal: SchemaNode, holder: SchemaNode) -> None:
        """Bring all nodes whose images lie below a global place under the node that has this place."""
        steps: list[tuple[SchemaNode, list[SchemaNode], bool]] = []
        for each in self._places(goal):
            images = [node for node in self._matched() if self.image[node.key] == each.key]
            steps.append((each, images or self._topmost(each), bool(images)))
        leaving = [node for _, nodes, _ in steps for node in nodes]
        for each, nodes, is_image in steps:
            if is_image:
                leaving += self._outside(each, nodes)
        self._upgrade(leaving, holder)
        for each, nodes, is_image in steps:
            for node in nodes:
                self._downgrade(node, holder)
            if is_image:
                for node in nodes:
                    self._rename(node, each.label)
                below = nodes[0]
            else:
                below = self._made(each, nodes, holder)
            self._place_below(each, below)

    def _places(self, goal: SchemaNode) -> list[SchemaNode]:
        """The children of a global place that are images or have images below them."""
        wanted: set[str] = set()
        for image in self.image.values():
            if image.startswith(f"{goal.key}/"):
                node = self.target[image]
                while node.parent is not goal:
                    assert node.parent is not None
                    node = node.parent
                wanted.add(node.key)
        self.target.expand(goal)
        return [child for child in goal.children if child.key in wanted]

    def _topmost(self, goal: SchemaNode) -> list[SchemaNode]:
        """The nodes with images below a place that have no such node above them."""
        inside = [node for node in self._matched() if self.image[node.key].startswith(f"{goal.key}/")]
        keys = {node.key for node in inside}
        return [node for node in inside if not any(above.key in keys for above in node.ancestors())]

    def _outside(self, goal: SchemaNode, nodes: list[SchemaNode]) -> list[SchemaNode]:
        """The topmost nodes with images below a place that are not below the nodes of that place.

        They come up together with the others, to be moved down later: one operator instead of two.
        """
        keys = {node.key for node in nodes}
        return [
            node for node in self._topmost(goal) if not any(above.key in keys for above in node.ancestors())
        ]

    def _made(self, goal: SchemaNode, nodes: list[SchemaNode], holder: SchemaNode) -> SchemaNode:
        """Put nodes into a made element, or each into one of its own, where the place can repeat."""
        used = {image for image in self.image.values() if image.startswith(f"{goal.key}/")}
        kind = InsertEach if goal.most != 1 and 1 in (len(used), len(nodes)) else Insert
        operator = kind(holder.key, (goal.label,), tuple(node.key for node in nodes))
        (key,) = made_keys(self.tree, operator)
        self._do(operator)
        self.image[key] = goal.key
        return self.tree[key]

    def _rename(self, node: SchemaNode, label: QName) -> None:
        if node.label != label:
            self._do(Rename(node.key, label))

    def _upgrade(self, nodes: list[SchemaNode], holder: SchemaNode) -> None:
        """Move nodes up until they are children of nodes at or above the holder, the lowest ones first."""
        goals = {id(node) for node in (holder, *holder.ancestors())}
        while True:
            parents = {
                id(node.parent): node.parent
                for node in nodes
                if node.parent is not None and id(node.parent) not in goals
            }
            if not parents:
                return
            lowest = max(parents.values(), key=lambda each: len(each.path))
            members = tuple(node.key for node in nodes if node.parent is lowest)
            self._do(Upgrade(lowest.key, members))

    def _downgrade(self, node: SchemaNode, holder: SchemaNode) -> None:
        """Move a node from an element above the holder down into the holder."""
        while node.parent is not holder:
            assert node.parent is not None
            into = next(each for each in (holder, *holder.ancestors()) if each.parent is node.parent)
            self._do(Downgrade(node.parent.key, (node.key,), into.key))

    def _matched(self, attributes: bool = False) -> list[SchemaNode]:
        """The matched nodes in the order of the tree as it is now."""
        return [
            node for node in self.tree.known if node.key in self.image and node.is_attribute == attributes
        ]


# Shorter lists of operators


def _joined(source: SchemaTree, operators: list[Operator]) -> Iterator[Operator]:
    """Joins neighbouring operators, and uses the forms for all content where these mean the same."""
    joined: list[Operator] = []
    for operator in operators:
        at = _partner(joined, operator)
        if at is None:
            joined.append(operator)
        else:
            joined[at] = _join(joined[at], operator)
    tree = source.copy()
    for operator in joined:
        short = _short(tree, operator)
        apply(tree, short)
        yield short


def _partner(operators: list[Operator], operator: Operator) -> int | None:
    """Where the operator is that this one can be joined with; renaming does not part them."""
    for at in range(len(operators) - 1, -1, -1):
        before = operators[at]
        match before, operator:
            case Upgrade(e, _), Upgrade(f, _):
                return at if e == f else None
            case Downgrade(e, _, into), Downgrade(f, _, other):
                return at if (e, into) == (f, other) else None
            case (Insert(e, path, members), Insert(f, _, others)) | (
                InsertEach(e, path, members),
                (Insert(f, _, others) | InsertEach(f, _, others)),
            ):
                return at if f == _last_key(e, path) and set(members) == set(others) else None
            case Rename(), _:
                continue
            case _:
                return None
    return None


def _last_key(node: str, path: tuple[QName, ...]) -> str:
    return "/".join((node, *(f"+{label}" for label in path)))


def _join(first: Operator, second: Operator) -> Operator:
    match first, second:
        case ((Upgrade(members=members) | Downgrade(members=members)), (Upgrade() | Downgrade())):
            return replace(first, members=(*members, *second.members))
        case ((Insert(path=path) | InsertEach(path=path)), (Insert() | InsertEach())):
            return replace(first, path=(*path, *second.path))
    raise AssertionError((first, second))


def _short(tree: SchemaTree, operator: Operator) -> Operator:
    if not isinstance(operator, Insert | Upgrade):
        return operator
    node = tree[operator.node]
    tree.expand(node)
    if node.loops or {child.key for child in node.children} != set(operator.members):
        return operator
    if isinstance(operator, Upgrade):
        return UpgradeAll(operator.node)
    return operator if node.has_text else InsertAll(operator.node, operator.path)
