"""Random twigs and cuts for property tests of fragments; documents are those of ``tests.pattern``."""

from __future__ import annotations

import re
from random import Random

from tests.pattern.strategies import NAMESPACES, document
from twigcast.document import descendants, read
from twigcast.fragmenting import CutRule, Cuts, Fragment, Spans, Subtrees, fragment
from twigcast.fragmenting.fragments import HEADER_KINDS
from twigcast.pattern import Pattern, parse


def plain_document(random: Random, depth: int = 4) -> bytes:
    """A document of nested elements with three names, so that twigs match and names recur on a path."""

    def element(left: int) -> str:
        name = random.choice("abc")
        most = 0 if not left else random.choice([1, 2, 3] if left == depth else [0, 0, 1, 2, 3])
        return f"<{name}>{''.join(element(left - 1) for _ in range(most))}</{name}>"

    return element(depth).encode()


def any_document(random: Random) -> bytes:
    """A plain document, one with namespaces and text, or one that also has entities and other encodings."""
    kind = random.randrange(3)
    if kind == 0:
        return plain_document(random)
    body = document(random)
    if kind == 1:
        return body
    encoding = re.search(r"encoding='([^']+)'", body.replace(b"\0", b"").decode("latin-1"))
    assert encoding is not None
    text = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?\]>|&m;", "", body.decode(encoding[1]), flags=re.DOTALL)
    return text.replace("&t;", "5").strip("\ufeff").encode()


def twig(random: Random) -> Pattern:
    """A twig of elements: names, ``*``, ``/``, ``//`` and nested paths."""
    return parse(_path(random, 0), NAMESPACES)


def _path(random: Random, depth: int) -> str:
    text = ""
    for _ in range(random.randint(1, 3)):
        prefix = random.choice(["", "", "", "", "p:", "*:"])
        text += random.choice(["/", "/", "//"]) + random.choice([f"{prefix}a", f"{prefix}b", "b", "c", "*"])
        for _ in range(random.choice([0, 0, 1, 1, 2]) if depth < 2 else 0):
            nested = _path(random, depth + 1)
            text += f"[.{nested}]" if nested.startswith("//") else f"[{nested[1:]}]"
    return text


def any_cut(random: Random, body: bytes) -> CutRule:
    """Spans or subtrees, by size or before given elements."""
    count = sum(1 for _ in descendants(read(body)))
    nodes = tuple(sorted({random.randint(1, count) for _ in range(random.randint(1, 6))}))
    return random.choice(
        [
            Cuts(nodes),
            Spans(nodes=nodes),
            Subtrees(random.randint(1, 5)),
            Spans(elements=random.randint(1, 5)),
        ]
    )


def any_fragments(random: Random, body: bytes) -> list[Fragment]:
    """A document cut by some rule, with headers of some kind."""
    return list(fragment(body, cut=any_cut(random, body), header=random.choice(HEADER_KINDS)))
