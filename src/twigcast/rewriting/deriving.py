"""Derives the operators of a mapping from a matching: pairs of a source place and a global place.

    pairs                                          operators
    cmu/Course/Day_  → catalogue/course/schedule/days    Insert(Course, schedule, {Day_, Time_})
    cmu/Course/Time_ → catalogue/course/schedule/time    Rename(Day_, days), Rename(Time_, time)

Each operator is applied to a working copy of the source schema at once, so the next one is chosen for the
tree as it then is.  In the end every matched node is at the path of its image.

Invariant of the walk over the global schema: the nodes placed so far are connected, with the root on top, and
no node that is still to be placed is above one of them.  The order of the global schema decides ties.
Cost: O(n log n) for n steps of all pairs together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from heapq import heappop, heappush

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

DEEPEST_PLACE = 256
"""The most steps of a place that can be matched."""


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
        for each, name in ((node, place), (goal, image)):
            if each.depth > DEEPEST_PLACE:
                message = f"{name[:60]!r}… is deeper than {DEEPEST_PLACE} levels, which no mapping can have"
                raise MappingError(message, code="place", name=name)
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
    below: dict[str, str] = {}  # a source place that leads to an element below a global place
    for place, image in found.items():
        if not target[image].is_attribute:
            for around in target[image].ancestors():
                below.setdefault(around.key, place)
    shared: dict[str, str] = {}
    for place, image in found.items():
        if image in shared and image in below:
            raise _contradiction(
                f"{shared[image]!r} and {place!r} both lead to {image!r}, so nothing may lead to a place "
                f"below it, as {below[image]!r} does",
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
        if owner.parent is None and target.root.key not in shared:
            leads_to = target.root.key  # attributes of the root stay on top
        if leads_to != above.key:
            raise _contradiction(
                f"the attribute {place!r} cannot move to {image!r}: its element {owner.key!r} does not "
                f"become {above.key!r}",
                place,
            )
    return found


def _contradiction(message: str, name: str) -> MappingError:
    return MappingError(message, code="matching", name=name)


class _Derivation:
    """The working copy of the source schema, the image of each of its nodes, and the operators so far.

    From the walk on, ``at`` has the nodes whose image is a global place, and ``below`` those whose image is
    below it.
    """

    def __init__(self, source: SchemaTree, target: SchemaTree, pairs: dict[str, str]) -> None:
        self.tree, self.target = source.copy(), target
        self.image = pairs
        self.operators: list[Operator] = []
        self.at: dict[str, dict[str, None]] = {}
        self.below: dict[str, dict[str, None]] = {}
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
        """Exchange the nearest pair that stands the other way round, as long as there is one."""
        newest: dict[str, tuple[int, list[int], str]] = {}
        waiting: list[tuple[int, list[int], str]] = []

        def look_at(nodes: Iterable[SchemaNode]) -> None:
            for node in nodes:
                newest.pop(node.key, None)
                found = self._inverted(node)
                if found is not None:
                    newest[node.key] = found[0], self._way_down(node), node.key
                    heappush(waiting, newest[node.key])

        look_at(self._matched())
        while waiting:
            entry = heappop(waiting)
            f = self.tree[entry[2]]
            found = self._inverted(f)
            if found is None or newest.get(f.key) is not entry:
                continue  # it was looked at again since
            _, e = found
            while f.parent is not None and f.parent is not e:
                self._do(Upgrade(f.parent.key, (f.key,)))
            self._do(Exchange(e.key, f.key))
            look_at(node for node in f.with_all_below() if node.key in self.image and not node.is_attribute)

    def _inverted(self, f: SchemaNode) -> tuple[int, SchemaNode] | None:
        """The nearest node above one whose image is below that one's image, and how far it is."""
        for steps, e in enumerate(f.ancestors(), 1):
            image = self.image.get(e.key)
            if image is None:
                # An unmatched root, where another node is to be the root.
                below = e.parent is None and self.image[f.key] == self.target.root.key
            else:
                below = image.startswith(f"{self.image[f.key]}/")
            if below:
                return steps, e
        return None

    # The walk over the global schema

    def _walk(self) -> None:
        top = self.target.root
        for key, image in self.image.items():
            self._assign(key, image)
        root = self.tree.root
        if self.image.get(root.key) == top.key:
            self._rename(root, top.label)
        self._place_below(top, root)

    def _assign(self, key: str, image: str) -> None:
        self.image[key] = image
        self.at.setdefault(image, {})[key] = None
        for above in self.target[image].ancestors():
            self.below.setdefault(above.key, {})[key] = None

    def _in_order(self, keys: Iterable[str]) -> list[SchemaNode]:
        """Nodes in the order of the tree as it is now."""
        nodes = [self.tree[key] for key in keys]
        return sorted(nodes, key=self._way_down) if len(nodes) > 1 else nodes

    def _way_down(self, node: SchemaNode) -> list[int]:
        places: list[int] = []
        each: SchemaNode | None = node
        while each is not None:
            places.append(self.tree.siblings(each).place(each))
            each = each.parent
        return places[::-1]

    def _place_below(self, goal: SchemaNode, holder: SchemaNode) -> None:
        """Bring all nodes whose images lie below a global place under the node that has this place."""
        steps: list[tuple[SchemaNode, list[SchemaNode], bool]] = []
        for each in self._places(goal):
            images = self._in_order(self.at.get(each.key, ()))
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
        if goal.key not in self.below:
            return []
        self.target.expand(goal)
        return [child for child in goal.children if child.key in self.at or child.key in self.below]

    def _topmost(self, goal: SchemaNode) -> list[SchemaNode]:
        """The nodes with images below a place that have no such node above them."""
        inside = self.below.get(goal.key, {})
        return self._in_order(
            key for key in inside if not any(above.key in inside for above in self.tree[key].ancestors())
        )

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
        used = {self.image[key] for key in self.below[goal.key]}
        kind = InsertEach if goal.most != 1 and 1 in (len(used), len(nodes)) else Insert
        operator = kind(holder.key, (goal.label,), tuple(node.key for node in nodes))
        (key,) = made_keys(self.tree, operator)
        self._do(operator)
        self._assign(key, goal.key)
        return self.tree[key]

    def _rename(self, node: SchemaNode, label: QName) -> None:
        if node.label != label:
            self._do(Rename(node.key, label))

    def _upgrade(self, nodes: list[SchemaNode], holder: SchemaNode) -> None:
        """Move nodes up until they are children of nodes at or above the holder, the lowest ones first."""
        goals = {holder, *holder.ancestors()}
        inside: dict[SchemaNode, list[int]] = {}
        waiting: list[tuple[int, int, str]] = []

        def wait(parent: SchemaNode | None, numbers: list[int]) -> None:
            if parent is not None and parent not in goals:
                known = inside.setdefault(parent, [])
                known += numbers
                heappush(waiting, (-parent.depth, min(known), parent.key))

        for number, node in enumerate(nodes):
            wait(node.parent, [number])
        while waiting:
            _, _, key = heappop(waiting)
            lowest = self.tree[key]
            numbers = sorted(inside.pop(lowest, ()))
            if numbers:
                self._do(Upgrade(key, tuple(nodes[number].key for number in numbers)))
                wait(lowest.parent, numbers)

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
    joined: list[_Joined] = []
    last: _Joined | None = None  # that is no Rename: renaming does not part others
    for operator in operators:
        if last is not None and last.takes(operator):
            continue
        joined.append(_Joined(operator))
        if not isinstance(operator, Rename):
            last = joined[-1]
    tree = source.copy()
    for each in joined:
        short = _short(tree, each.operator)
        apply(tree, short)
        yield short


class _Joined:
    """An operator with those behind it that it has been joined with."""

    __slots__ = ("_first", "_members", "_path")

    def __init__(self, operator: Operator) -> None:
        self._first = operator
        self._members: list[str] = list(getattr(operator, "members", ()))
        self._path: list[QName] = list(getattr(operator, "path", ()))

    def takes(self, operator: Operator) -> bool:
        """Join with an operator, if the two together are one."""
        match self._first, operator:
            case (Upgrade(e), Upgrade(f, members)) if e == f:
                self._members += members
            case (Downgrade(e, _, into), Downgrade(f, members, other)) if (e, into) == (f, other):
                self._members += members
            case (Insert(e), Insert(f, path, members)) | (
                InsertEach(e),
                (Insert(f, path, members) | InsertEach(f, path, members)),
            ) if f == _last_key(e, self._path) and set(self._members) == set(members):
                self._path += path
            case _:
                return False
        return True

    @property
    def operator(self) -> Operator:
        match self._first:
            case Upgrade() | Downgrade():
                return replace(self._first, members=tuple(self._members))
            case Insert() | InsertEach():
                return replace(self._first, path=tuple(self._path))
        return self._first


def _last_key(node: str, path: Iterable[QName]) -> str:
    return "/".join((node, *(f"+{label}" for label in path)))


def _short(tree: SchemaTree, operator: Operator) -> Operator:
    if not isinstance(operator, Insert | Upgrade):
        return operator
    node = tree[operator.node]
    tree.expand(node)
    if node.loops or len(node.children) != len(set(operator.members)):  # all members are children
        return operator
    if isinstance(operator, Upgrade):
        return UpgradeAll(operator.node)
    return operator if node.has_text else InsertAll(operator.node, operator.path)
