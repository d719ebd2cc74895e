"""Generated documents and decisions, and what the projector makes of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from tests.oracles.naive_projection import ProjectedPart
from tests.oracles.path_decisions import PathDecisions
from twigcast.document import DocumentPiece, Keep, LabelPath, Projector, Slice, SourceMap
from twigcast.errors import DocumentError

NAMES = ["a", "b", "c", "p:a"]
DOCTYPE = '<!DOCTYPE a [<!ENTITY e "<b><c/>t</b>u<a/>"><!ENTITY f "plain"><!ATTLIST c d CDATA "1">]>'

SUBSTITUTES = {
    "Shift_JIS": {"b": "\u8868", "c": "\u80fd", "é": "\u30bd"},
    "gb18030": {"b": "\u4fd9", "c": "\u4fdb", "é": "\u3400"},
    "euc-kr": {"b": "\uac00", "é": "\uac01"},
    "koi8-r": {"b": "\u0431", "é": "\u0432"},
}
"""For each encoding names and texts of it; the second byte of most of these characters is one of ASCII."""
ENCODINGS = ["utf-8", "utf-8", "ISO-8859-1", "UTF-16", *SUBSTITUTES]


def generated(random: random.Random, *, encoding: str = "utf-8") -> bytes:
    """A document with comments, CDATA, instructions, entities with markup, namespaces and odd tags."""

    def element(depth: int, name: str) -> str:
        space = random.choice(["", " ", "\n"])
        attributes = random.choice(["", ' x="1>2"', " x='&lt;&f;' y=\"é\"", "\n z = '/>'"])
        bound = ' xmlns:p="u"' if depth == 0 else random.choice(["", "", ' xmlns:p="v"', ' xmlns="w"'])
        head = f"<{name}{bound}{attributes}{space}"
        count = random.choice([0, 0, 1, 2, 3, 4]) if 0 < depth < 5 else 4 if depth == 0 else 0
        if count == 0 and random.random() < 0.5:
            return head + "/>"
        inside = "".join(content(depth + 1) for _ in range(count))
        return f"{head}>{inside}</{name}{space}>"

    def content(depth: int) -> str:
        texts = [
            "",
            "",
            " ",
            "\n  ",
            "é text",
            "<!-- <b> -->",
            "<![CDATA[<b>]]>",
            "<?b <c/>?>",
            "&f;",
            "x" * 70,
        ]
        texts += ["&e;", "&e;&e;"]
        return random.choice(texts) + element(depth, random.choice(NAMES)) + random.choice(texts)

    declared = "" if encoding == "utf-8" else f'<?xml version="1.0" encoding="{encoding}"?>'
    text = declared + random.choice(["", "<!-- first -->\n"]) + DOCTYPE + element(0, "a")
    text += random.choice(["", "\n<!-- last -->"])
    for character, other in SUBSTITUTES.get(encoding, {}).items():
        text = re.sub(f"(?<=[</:]){character}(?=[\\s/>])" if character.isascii() else character, other, text)
    return text.encode("utf-16" if encoding == "UTF-16" else encoding)


def decided(seed: int, divided: Sequence[bool], weights: Sequence[int] = (3, 6, 2, 1, 2)) -> PathDecisions:
    """Random decisions: the same label path has the same decision."""

    def decide(path: LabelPath) -> list[Keep]:
        chance = random.Random(f"{seed} {path}")
        found = []
        for is_divided in divided:
            keep = chance.choices(list(Keep), weights)[0]
            if is_divided and keep in (Keep.TAG, Keep.OWN):
                keep = Keep.ABOVE
            if not path:
                keep = Keep.TREE if chance.random() < 0.1 and not is_divided else Keep.ABOVE
            found.append(keep)
        return found

    return PathDecisions(decide)


def assembled(slices: Iterable[Slice], outputs: int) -> list[list[ProjectedPart]]:
    """The parts that slices make, without those that never became whole."""
    bodies: dict[tuple[int, int], bytearray] = {}
    maps: dict[tuple[int, int], list[tuple[int, int]]] = {}
    parts: list[list[ProjectedPart]] = [[] for _ in range(outputs)]
    for each in slices:
        key = each.output, each.part
        body = bodies.setdefault(key, bytearray())
        del body[each.start :]
        body += each.body
        pairs = maps.setdefault(key, [])
        pairs[:] = [pair for pair in pairs if pair[0] < each.start] + each.source_map.pairs()
        if each.is_last:
            assert each.part == len(parts[each.output])
            parts[each.output].append(ProjectedPart(bytes(body), SourceMap(pairs)))
    return parts


def streamed(
    body: bytes, decisions: PathDecisions, divided: Sequence[bool], part_bytes: int, step: int
) -> tuple[list[list[ProjectedPart]], DocumentError | None]:
    """What the projector makes of a document that comes in blocks of ``step`` bytes."""
    projector = Projector(decisions, divided, part_bytes)
    slices: list[Slice] = []
    for at in range(0, len(body), step):
        slices += projector.feed(body[at : at + step])
    projected = projector.finish()
    return assembled(slices + projected.slices, len(divided)), projected.error


def read_piece(
    body: bytes,
    piece: DocumentPiece,
    decisions: PathDecisions,
    divided: Sequence[bool],
    part_bytes: int,
    step: int,
) -> tuple[list[list[ProjectedPart]], DocumentError | None]:
    """The same for a piece."""
    projector = Projector(decisions, divided, part_bytes, piece=piece)
    slices: list[Slice] = []
    for block in piece.blocks(body, step):
        slices += projector.feed(block)
    projected = projector.finish()
    return assembled(slices + projected.slices, len(divided)), projected.error
