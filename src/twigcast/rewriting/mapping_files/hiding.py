"""Which places ``hide = ["*"]`` takes out of an image: all that are not matched, but no text of one that is.

    Course/Notes           not matched                     left out with all it contains
    Course/Abstract/n      the abstract is matched text    stays as it is: its words are the abstract's
    Course/Box             Course/Box/Sec is kept          stays, with Sec and nothing else
    block/media            can contain a matched block     stays with all it contains

Attributes stay with their elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from twigcast.rewriting.labels import is_made, keys_above, parent_key
from twigcast.rewriting.places import RecursiveComponents
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree


def hidden_by_wildcard(
    source: SchemaTree,
    image: SchemaTree,
    target: SchemaTree,
    pairs: Mapping[str, str],
    kept: Iterable[str],
    hidden: frozenset[str],
) -> list[str]:
    """The topmost unmatched elements of an image that can be left out, in its order.

    ``hidden`` are places that are left out anyway.
    """
    texts = matched_texts(image, target, pairs)
    kept = frozenset(kept)
    above_kept = {above for key in kept for above in keys_above(key)}
    recursion = RecursiveComponents(source)
    found: list[str] = []
    waiting: list[SchemaNode] = list(reversed(image.roots))
    while waiting:
        node = waiting.pop()
        is_matched = node.key in pairs or parent_key(node.key)[1].startswith("+")
        if not is_matched and node.parent is not None and node.key not in above_kept:
            if node.key not in kept and node.key not in hidden and not _leads_back(source, recursion, node):
                found.append(node.key)
        elif node.key not in texts:
            image.expand(node)
            waiting += reversed(node.children)
    return found


def matched_texts(image: SchemaTree, target: SchemaTree, pairs: Mapping[str, str]) -> set[str]:
    """The matched and made places whose string-value is a text, in the source or in the global schema.

    The string-value of an element that has only elements on both sides is nothing that a subscriber asks for.
    """
    found = {key for key, goal in pairs.items() if target[goal].has_text or image[key].has_text}
    found.update(node.key for node in image.known if node.has_text and is_made(node.key))
    return found


def _leads_back(source: SchemaTree, recursion: RecursiveComponents, node: SchemaNode) -> bool:
    """Whether an unmatched element can contain an element above it again, which is matched."""
    inside = recursion.of(source[node.key])
    return any(source[above].label in inside for above in keys_above(node.key))
