"""Random documents that their schema describes: no strangers, but any order and number of elements."""

from __future__ import annotations

from random import Random

from tests.pattern.strategies import NAMESPACES
from twigcast.rewriting import SchemaTree
from twigcast.rewriting.schema_tree import SchemaNode

_TEXTS = ("x", "5", " 5 ", "-1", "ab", "&lt;", "\n", "<![CDATA[x<5]]>", "<!--c-->", "<?pi x?>")
_VALUES = ("x", "5", "5", "-1", " 5", "ab", "&lt;", "")
_PREFIXES = {uri: f"{prefix}:" for prefix, uri in NAMESPACES.items()}


def known_document(random: Random, tree: SchemaTree) -> bytes:
    """A document of the schema, which need not keep to the cardinalities."""
    declared = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
    return _element(random, tree, tree.root, declared, [40]).encode()


def _element(random: Random, tree: SchemaTree, node: SchemaNode, declared: str, left: list[int]) -> str:
    left[0] -= 1
    tree.expand(node)
    tag = _PREFIXES.get(node.label.namespace, "") + node.label.local
    known = [_PREFIXES.get(each.label.namespace, "") + each.label.local for each in node.attributes]
    names = {name for name in known if random.randint(0, 2)} | set(
        random.sample(["x", "z", "a", "b"], 1)[: random.randint(0, 1)]
    )
    attributes = "".join(f' {name}="{random.choice(_VALUES)}"' for name in sorted(names))
    pieces: list[str] = []
    for child in node.children:
        for _ in range(random.choice([0, 1, 1, 2, 2, 3])):
            if left[0] > 0:
                pieces.append(_element(random, tree, child, "", left))
    if random.randint(0, 2) == 0:
        random.shuffle(pieces)
    for _ in range(random.choice([0, 0, 1, 1, 2])):
        pieces.insert(random.randint(0, len(pieces)), random.choice(_TEXTS))
    return f"<{tag}{declared}{attributes}>{''.join(pieces)}</{tag}>"
