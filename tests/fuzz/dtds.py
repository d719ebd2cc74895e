"""DTDs, valid and hostile, and what must hold when one is read.

* A DTD is read, or refused with a ``SchemaError`` whose code is known, within a bound on time and memory.
* Its elements, content models and attributes are those that expat and lxml report, as far as each is
  reliable: lxml leaves prefixes out of content models, pyexpat overflows the stack on deep ones.
* What was read is written, and read again the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from random import Random
from typing import Any
from xml.parsers import expat

from lxml import etree

from tests.fuzz.bounds import BOUNDS, Bound, Unmetered
from tests.fuzz.checks import expect
from twigcast.errors import SchemaError
from twigcast.schema import Child, ElementGraph, Particle, read_dtd, write_dtd

BOUNDS["dtd"] = Bound(5.0, 40e-6, bytes_per_byte=2000.0)  # of it, 8 MiB of expanded entities for any DTD
INCOMPLETE = 29  # expat's number
CODES = {"schema", "too-complex"}


@dataclass(frozen=True, slots=True)
class DtdCase:
    """The bytes of a DTD."""

    body: bytes


def dtd_case(seed: int) -> DtdCase:
    """The case of a seed, in any encoding: half are meant to be read, the others are hostile or damaged."""
    chance = Random(seed)
    hostile = chance.random() < 0.5
    text = "" if hostile else _TAME
    text += "".join(_declarations(chance, chance.choice([1, 3, 10, 10, 40, 400]), hostile))
    encoding = chance.choice(["", "", "", "utf-8", "utf-16", "iso-8859-1", "windows-1252", "gb18030", "x"])
    if encoding == "x" and not hostile:
        encoding = ""
    if encoding and (not hostile or chance.random() < 0.9):
        text = f'<?xml version="1.0" encoding="{encoding}"?>{text}'
    codec = "utf-8" if encoding in ("", "x") else encoding
    body = text.encode(codec, "xmlcharrefreplace")
    return DtdCase(_damaged(chance, body) if hostile and chance.random() < 0.5 else body)


def check_dtd(case: DtdCase, meter: Unmetered, done: Counter[str]) -> None:
    """All that must hold for a DTD; raises ``Mismatch``."""
    done["DTDs"] += 1
    with meter.bounded("dtd", len(case.body)):
        try:
            graph = read_dtd(case.body)
        except SchemaError as error:
            expect("code of a refused DTD", error.code in CODES and bool(error.message), True, str(error))
            return
    done["DTDs read"] += 1
    with meter.bounded("other", len(case.body)):
        compare_with_expat(graph, case.body, done)
        compare_with_lxml(graph, case.body, done)
        again = read_dtd(write_dtd(graph).encode(), graph.root)
        expect("elements written", [each.name for each in again], [each.name for each in graph])
        for element in graph:
            name = element.name
            expect("children written", again.children(name), graph.children(name))
            expect("attributes written", again[name].attributes, element.attributes)


def compare_with_expat(graph: ElementGraph, body: bytes, done: Counter[str]) -> None:
    """Names of all content models, and defaults of attributes, where expat alone reads the DTD."""
    try:
        models, attributes = reported(body)
    except expat.ExpatError as error:
        expect("verdict of expat", error.code, INCOMPLETE)  # an entity with declarations in a section
        return
    done["DTDs compared with expat"] += 1
    expect("elements", [element.name for element in graph], list(models))
    for element in graph:
        expect("names of a content model", list(_names(element.model)), models[element.name])
        found = {each.name: each.default for each in element.attributes}
        expect("attributes", found, attributes.get(element.name, {}))


def reported(body: bytes) -> tuple[dict[str, list[str]], dict[str, dict[str, str | None]]]:
    """The names in content models, and the defaults of attributes, that expat reports of a DTD."""
    models: dict[str, list[str]] = {}
    attributes: dict[str, dict[str, str | None]] = {}
    document: Any = expat.ParserCreate()
    document.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    document.UseForeignDTD(True)
    document.ElementDeclHandler = lambda name, model: models.setdefault(name, list(_names_reported(model)))
    document.AttlistDeclHandler = lambda element, name, kind, default, required: attributes.setdefault(
        element, {}
    ).setdefault(name, default)

    def give(context: str, *_: object) -> int:
        if b'"gb18030"' in body[:60]:  # which expat does not know
            document.ExternalEntityParserCreate(context, "utf-8").Parse(body.decode("gb18030").encode(), True)
        else:
            document.ExternalEntityParserCreate(context).Parse(body, True)
        return 1

    document.ExternalEntityRefHandler = give
    document.Parse(b" " * len(body) + b"<x/>", True)
    return models, attributes


def compare_with_lxml(graph: ElementGraph, body: bytes, done: Counter[str]) -> None:
    """Local names of all content models, where lxml reads the DTD; it would open what entities refer to."""
    if _EXTERNAL.search(body):
        return
    try:
        declared = list(etree.DTD(BytesIO(body)).iterelements())
    except etree.DTDParseError:  # of entities that begin in a group and end outside, and names of XML 1.0.4
        return
    done["DTDs compared with lxml"] += 1
    for each in declared:
        name = f"{each.prefix}:{each.name}" if each.prefix else each.name
        local = [child.partition(":")[2] or child for child in _names(graph[name].model)]
        expect("local names of lxml", local, list(_names_of_lxml(each.content)))


_EXTERNAL = re.compile(rb"<!ENTITY[^'\">]*(SYSTEM|PUBLIC)")


def _names(particle: Particle | None) -> Iterator[str]:
    waiting = [particle]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Child):
            yield part.name
        elif part is not None:
            waiting += reversed(part.parts)


def _names_reported(model: Any) -> Iterator[str]:
    _, _, name, children = model
    if name is not None:
        yield name
    for child in children:
        yield from _names_reported(child)


def _names_of_lxml(content: Any) -> Iterator[str]:
    waiting = [content]
    while waiting:
        node = waiting.pop()
        if node is not None and node.type == "element":
            yield node.name
        elif node is not None:
            waiting += [node.right, node.left]


# Texts

_TAME = """<!NOTATION n SYSTEM 'n'> <!ENTITY e "x &#38;#60;"> <!ENTITY f "&e;">
<!ENTITY % e "q:a"> <!ENTITY % f "( %e;*, p:a)"> <!ENTITY % g "INCLUDE"> <!ENTITY % h " ">
<!ENTITY % declarations "<!ELEMENT p:z (%f;, %e;?)><!ATTLIST p:z k CDATA '&f;'>"> %declarations;
"""  # the first declarations of all entities, which those after it do not change
_ELEMENTS = ("a", "b", "p:a", "q:a", "p:b", "é", "EMPTY", "a.b-c", "p:q:a", "ANY")
_ENTITIES = ("e", "f", "g", "h")
_TEXTS = (
    "",
    " ",
    "x",
    "a, b",
    "(a | p:a)*",
    "a?",
    "CDATA",
    "#IMPLIED",
    "INCLUDE",
    "IGNORE",
    "&#37;e;",
    "&e;",
)
_KINDS = ("CDATA", "ID", "IDREF", "IDREFS", "NMTOKEN", "NMTOKENS", "ENTITY", "(x | y)", "NOTATION (n)")
_DEFAULTS = ("#REQUIRED", "#IMPLIED", "'x'", "#FIXED 'x'", "' x\n y '", "'&e;'", "'&#60;&lt;é'", "'&e;&f;'")
_DAMAGES = (b"", b"<", b">", b"%e;", b"(", b")", b"'", b"<![", b"]]>", b"\x00", b"\xff", b"--", b"&#37;")


def _declarations(
    chance: Random, number: int, hostile: bool, declared: set[str] | None = None
) -> Iterator[str]:
    declared = set() if declared is None else declared
    for _ in range(number):
        kind = chance.randrange(12)
        name = chance.choice(_ELEMENTS) if chance.random() < 0.8 else f"p:n{chance.randrange(1000)}"
        if kind < 4 and (name not in declared or (hostile and chance.random() < 0.1)):
            declared.add(name)
            yield f"<!ELEMENT {name} {_content(chance, hostile)}>"
        elif kind < 6:
            number = chance.choice([0, 1, 2, 2, 50])
            attributes = (
                f"\n {chance.choice('klm')}{n} {chance.choice(_KINDS)} {chance.choice(_DEFAULTS)}"
                for n in range(number)
            )
            yield f"<!ATTLIST {name}{''.join(attributes)}>"
        elif kind < 9:
            sign = chance.choice(["", "% ", "% "])
            value = "".join(chance.choice(_TEXTS) for _ in range(chance.choice([1, 1, 2, 5])))
            if declared_entity := chance.choice([None, None, "%e;", "%f;"]):
                value += declared_entity
            external = hostile and chance.random() < 0.2
            yield f"<!ENTITY {sign}{chance.choice(_ENTITIES)} {'SYSTEM ' * external}'{value}'>"
        elif kind == 9:
            inside = "".join(_declarations(chance, 2, hostile, declared))
            yield f"<![{chance.choice(['INCLUDE', 'IGNORE', '%g;', *['%e;'] * hostile])}[{inside}]]>"
        elif kind == 10:
            yield chance.choice(
                ["<!-- <!ELEMENT a (b)> -->", "<?pi <!ELEMENT ?>", "<!NOTATION n SYSTEM 'n'>"]
            )
        else:
            yield chance.choice(["%e;", "%f;", " ", *_bombs(chance)] if hostile else ["%h;", "\r\n"])


def _content(chance: Random, hostile: bool) -> str:
    kind = chance.randrange(10)
    if kind < 2:
        return chance.choice(["EMPTY", "ANY", "(#PCDATA)", "(#PCDATA)*"])
    if kind < 4:
        return f"(#PCDATA | {' | '.join(chance.sample(_ELEMENTS, chance.randrange(1, 5)))})*"
    if kind == 4:
        depth = chance.choice([5, 100, 128, *[129, 3000] * hostile])
        return f"{'(' * depth}a{')' * depth}"
    return _group(chance, 3, hostile)


def _group(chance: Random, levels: int, hostile: bool) -> str:
    connector = chance.choice([",", " | ", " ,\n"])
    parts = [
        _group(chance, levels - 1, hostile)
        if levels and chance.random() < 0.3
        else chance.choice(_ELEMENTS) + chance.choice(["", "", "?", "*", "+"])
        for _ in range(chance.choice([1, 2, 2, 3, 30]))
    ]
    if chance.random() < 0.05:
        parts.append(chance.choice(["%e;", "%f;", *["%undeclared;"] * hostile]))
    return f"({connector.join(parts)}){chance.choice(['', '', '?', '*', '+'])}"


def _bombs(chance: Random) -> Iterator[str]:
    """Chains and doublings of entities, sometimes too long."""
    if chance.random() < 0.1:
        length = chance.choice([3, 20, 64, 65, 1000, 30_000])
        sign, kind = chance.choice([("&#37;", "% "), ("%", "% "), ("&#38;", "")])
        times = chance.choice([1, 1, 2])
        first = chance.choice(["", " ", "<!-- -->", "a,"])
        chain = f"<!ENTITY {kind}c0 '{first}'>" + "".join(
            f"<!ENTITY {kind}c{n} '{f'{sign}c{n - 1};' * times}'>" for n in range(1, length)
        )
        use = f"%c{length - 1};" if kind else f"<!ATTLIST a k CDATA '&c{length - 1};'>"
        yield chain + use


def _damaged(chance: Random, body: bytes) -> bytes:
    for _ in range(chance.choice([1, 1, 1, 5])):
        at = chance.randrange(len(body) + 1)
        body = body[:at] + chance.choice(_DAMAGES) + body[at + chance.choice([0, 0, 1, 10]) :]
    return body
