"""What must hold for mapping files and for mappings in headers, however they were altered.

* Reading and checking a file gives findings or ``MappingError``, and nothing else; so does a canonical text.
* A mapping that can be used gives an image or a documented error for every document of its source; stream,
  tree and kernel agree on it.
* Every step stays within its bound.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

from experiments.engines.mapping.streaming.event_rewriter import rewrite_events
from experiments.engines.mapping.streaming.events import events
from tests.fuzz.alterations import altered_bytes, altered_json
from tests.fuzz.bounds import Unmetered
from tests.fuzz.checks import expect
from tests.rewriting.strategies import random_mapping, random_schema, random_source_document
from twigcast import Index
from twigcast.document import DocumentLimits, read
from twigcast.errors import DocumentError, MappingError
from twigcast.pattern import matches, parse
from twigcast.rewriting import (
    Mapping,
    SchemaTree,
    check_mapping,
    mapping_rows,
    read_mapping_file,
    shown_operator,
    to_xslt,
    update_mapping_file,
)
from twigcast.schema import write_dtd

LIMITS = DocumentLimits(amplification=50.0, amplification_threshold=1 << 16)
PATTERNS = ["//a", "//b[c]", "/*/*[2]", "//c[. = '5']", "//made", "//*[@x]", "count(//a) > 1", "//b/text()"]


@dataclass(frozen=True, slots=True)
class MappingCase:
    """Two schemas, a mapping file between them, a canonical text, and documents of the source."""

    source: str
    target: str
    file: bytes
    canonical: str
    bodies: list[bytes]


def mapping_case(seed: int) -> MappingCase:
    """The case of a seed: a file that is right, mostly with some alterations."""
    chance = Random(seed)
    source, target = (_plain_schema(chance) for _ in range(2))
    mapping = random_mapping(chance, source, chance.randrange(1, 7))
    table = _table(chance, source, target, mapping)
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        table = altered_json(chance, table)
    file = _written(table).encode("utf-8", "surrogatepass")
    if chance.random() < 0.3:
        file = altered_bytes(chance, file)
    entries = json.loads(mapping.canonical)
    for _ in range(chance.choice([0, 1, 1, 2])):
        entries = altered_json(chance, entries)
    bodies = [random_source_document(chance, source) for _ in range(3)]
    texts = [write_dtd(tree.graph) for tree in (source, target) if tree.graph is not None]
    return MappingCase(texts[0], texts[1], file, json.dumps(entries), bodies)


def _plain_schema(chance: Random) -> SchemaTree:
    """A schema without namespaces, which a DTD cannot say."""
    while True:
        tree = random_schema(chance)
        if tree.graph is not None and not any(":" in element.name for element in tree.graph):
            return tree


def _table(chance: Random, source: SchemaTree, target: SchemaTree, mapping: Mapping) -> dict[str, object]:
    places, images = (
        [node.key for node in tree.nodes(60) if not node.is_attribute or chance.random() < 0.3]
        for tree in (source, target)
    )
    some = min(len(places), len(images), chance.randrange(1, 5))
    pairs = dict(zip(chance.sample(places, some), chance.sample(images, some), strict=True))
    if chance.random() < 0.8:
        pairs[source.root.key] = target.root.key
    table: dict[str, object] = {"mapping": "m", "source": "s.dtd", "target": "t.dtd", "match": pairs}
    if chance.random() < 0.3:
        table["operators"] = [shown_operator(each) for each in mapping.operators]
    places = [place for place in places if place not in pairs]
    chosen = chance.sample(places, min(len(places), 4))
    table["unmatched"] = {"keep": chosen[:2], "hide": chance.choice([["*"], chosen[2:], ["*", *chosen[2:]]])}
    table["test"] = [{"xml": f"<{source.root.label.local}/>", "not": ["//none"]}]
    return table


def _written(table: object) -> str:
    """TOML in which every value is in one line; what TOML cannot say is text."""
    if not isinstance(table, dict):
        return _value(table)
    return "".join(f"{_value(str(key))} = {_value(value)}\n" for key, value in table.items())


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_value(str(key))} = {_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps("none" if value is None else value, ensure_ascii=False).replace("NaN", "nan")


def check_mappings(case: MappingCase, meter: Unmetered, done: Counter[str]) -> None:
    """All that must hold for a case; raises ``Mismatch``."""
    size = len(case.source) + len(case.target) + len(case.file)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "s.dtd").write_text(case.source)
        (folder / "t.dtd").write_text(case.target)
        path = folder / "m.toml"
        path.write_bytes(case.file)
        with meter.bounded("mapping", size):
            try:
                file = read_mapping_file(path)
            except MappingError:
                done["mapping files refused"] += 1
            else:
                checked = check_mapping(file)
                if checked.is_good and checked.mapping is not None:
                    mapping_rows(checked.mapping, {}, {})
                    to_xslt(checked.mapping)
                    with contextlib.suppress(MappingError):
                        update_mapping_file(path, settings={"reviewed": "0"}, pairs={"a": "b"})
                    check_images(checked.mapping, case.bodies, done)
                    done["mapping files used"] += 1
                else:
                    done["mapping files with errors"] += 1
    with meter.bounded("mapping", len(case.canonical) + sum(map(len, case.bodies))):
        try:
            mapping = Mapping.parse("m", case.canonical)
            _ = mapping.plan
        except MappingError:
            done["canonical texts refused"] += 1
            return
        expect("canonical", Mapping.parse("m", mapping.canonical).canonical, mapping.canonical)
        check_images(mapping, case.bodies, done)
        done["canonical texts used"] += 1


def check_images(mapping: Mapping, bodies: list[bytes], done: Counter[str]) -> None:
    """Compare the forms of a mapping on documents."""
    patterns = [parse(text) for text in PATTERNS]
    index = Index(list(enumerate(patterns)), limits=LIMITS)
    for body in bodies:
        document = read(body, LIMITS)
        match = index.match(body, rewriting=mapping)
        try:
            image = mapping.apply(document, LIMITS)
        except (DocumentError, MappingError) as error:
            expect("error", match.error and match.error.code, error.code)
            continue
        expect(
            "events", list(rewrite_events(events(document), mapping, len(body), LIMITS)), list(events(image))
        )
        expect("match", match.error, None)
        expect("ids", match.ids, [number for number, each in enumerate(patterns) if matches(each, image)])
        done["images"] += 1
