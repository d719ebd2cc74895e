"""Matching documents of other schemas: the rewriter in the kernel against other ways to the same answers.

    seven       one operator of each of seven kinds, on documents of a university
    renames     a new name for every element
    rivals      the image made by XSLT in lxml, or by the tree in Python, and then matched
    copies      an Exchange that copies an element into r others, with and without sharing
    places      subscriptions that see a part of the schema, with and without skipping the rest
    sources     one index for documents of 1, 7 or 40 schemas

Every figure is a ratio of two times of one run, the best of several runs that alternate; every answer is
compared with those for the ready-made images, which are other bytes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from lxml import etree

from benchmarks.results import Outcome, Progress
from twigcast import Index, Tuning
from twigcast.document import Element, Text, read
from twigcast.pattern import matches
from twigcast.rewriting import (
    Downgrade,
    Exchange,
    Insert,
    Mapping,
    Operator,
    Rename,
    SchemaTree,
    ToElement,
    to_xslt,
)
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll, UpgradeAll
from twigcast.schema import ElementGraph, read_dtd
from twigcast.workload import generate_subscriptions, presets

RUNS = 7
DOCUMENTS = 60
SEED = 14

_LEAVES = ["title", "time", "location", "description", "name", "email", "office", "phone"]
_LEAVES += ["year", "dname", "TAs"]
SOURCE = """
<!ELEMENT university (faculty*, author*)>
<!ELEMENT faculty (#PCDATA|department)*> <!ATTLIST faculty id CDATA #REQUIRED>
<!ELEMENT department (dname, course*)>
<!ELEMENT course (title, time, location, instructor*, description, TAs*)>
<!ATTLIST course code CDATA #REQUIRED>
<!ELEMENT instructor (name, email, office, phone)>
<!ELEMENT author (name, office, article*)>
<!ELEMENT article (title, year)>
""" + "".join(f"<!ELEMENT {leaf} (#PCDATA)>" for leaf in _LEAVES)
GLOBAL = """
<!ELEMENT university (faculty|dept|article)*>
<!ELEMENT faculty (#PCDATA)> <!ATTLIST faculty id CDATA #REQUIRED>
<!ELEMENT dept (dname, course*)>
<!ELEMENT course (code, title, description, instructor*, schedule)> <!ELEMENT code (#PCDATA)>
<!ELEMENT instructor (contact, TAs*)> <!ELEMENT contact (name, email, office, phone)>
<!ELEMENT schedule (time, location)>
<!ELEMENT article (author, title, year)> <!ELEMENT author (name, office)>
""" + "".join(f"<!ELEMENT {leaf} (#PCDATA)>" for leaf in _LEAVES)


def _label(local: str) -> QName:
    return QName("", local)


_COURSE = "university/faculty/department/course"
SEVEN: tuple[Operator, ...] = (
    Exchange("university/author", "university/author/article"),
    UpgradeAll("university/faculty"),
    Rename("university/faculty/department", _label("dept")),
    ToElement(f"{_COURSE}/@code", _label("code")),
    Insert(_COURSE, (_label("schedule"),), (f"{_COURSE}/time", f"{_COURSE}/location")),
    InsertAll(f"{_COURSE}/instructor", (_label("contact"),)),
    Downgrade(_COURSE, (f"{_COURSE}/TAs",), f"{_COURSE}/instructor"),
)


@cache
def seven(size: int, kind: str, progress: Progress) -> Outcome:
    """Documents rewritten by seven operators, in times of matching the ready-made images."""
    progress(f"seven operators, {size:,} subscriptions")
    mapping, bodies, images = _mapping(), _documents(), _images()
    index = _index(_texts(size, kind))
    wrong = _differences(index, mapping, bodies, images)
    rewritten, ready, source = _times(
        lambda: index.match_batch(bodies, mapping),
        lambda: index.match_batch(images),
        lambda: index.match_batch(bodies),
    )
    return Outcome(
        {
            "ratio": rewritten / ready,
            "ratio_to_source": rewritten / source,
            "microseconds_per_document": rewritten / len(bodies) * 1e6,
            "bytes_per_document": sum(map(len, bodies)) / len(bodies),
        },
        wrong,
    )


@cache
def renames(size: int, progress: Progress) -> Outcome:
    """Every element renamed, in times of matching the same documents without a mapping.

    The subscriptions are written for the new names, and for the old ones in the index without a mapping.
    """
    progress(f"renames, {size:,} subscriptions")
    tree, bodies = SchemaTree.of(_graph(SOURCE)), _documents()
    elements = [node for node in tree.nodes() if not node.is_attribute]
    operators = [Rename(node.key, _label(f"{node.label.local}_")) for node in elements]
    mapping = Mapping("renames", tree, tuple(operators))
    texts = _texts(size, "branching", SOURCE)
    plain, renamed = _index(texts), _index([_with_new_names(text) for text in texts])
    wrong = tuple(
        f"document {number}"
        for number, body in enumerate(bodies)
        if list(plain.match(body).ids) != list(renamed.match(body, rewriting=mapping).ids)
    )
    with_mapping, without = _times(
        lambda: renamed.match_batch(bodies, mapping), lambda: plain.match_batch(bodies)
    )
    return Outcome({"ratio": with_mapping / without}, wrong)


@cache
def rivals(progress: Progress) -> Outcome:
    """How many times longer the other ways to the same answers take, with 1,000 subscriptions.

    The stylesheet was written by hand; the one that ``to_xslt`` exports applies the operators one after the
    other, and takes much longer.
    """
    progress("XSLT and the tree in Python")
    mapping, bodies, images = _mapping(), _documents()[:20], _images()[:20]
    index = _index(_texts(1000, "branching"))
    by_hand = etree.XSLT(etree.parse(Path(__file__).with_name("university.xsl")))
    exported = etree.XSLT(etree.fromstring(to_xslt(mapping).encode()))
    patterns = [index.pattern(id) for id in range(50)]

    def by_xslt(stylesheet: etree.XSLT = by_hand, count: int = len(bodies)) -> list[list[object]]:
        written = [bytes(stylesheet(etree.fromstring(body))) for body in bodies[:count]]
        return [list(index.match(each).ids) for each in written]

    def by_tree() -> None:
        for body in bodies:
            index.match(_written(mapping, body))

    ours, xslt, tree = _times(lambda: index.match_batch(bodies, mapping), by_xslt, by_tree, runs=2)
    (one,) = _times(lambda: by_xslt(exported, 1), runs=1)
    wrong = list(_differences(index, mapping, bodies, images))
    if by_xslt() != [list(index.match(body, rewriting=mapping).ids) for body in bodies]:
        wrong.append("the stylesheet says otherwise")
    image = mapping.apply(read(bodies[0]))
    found = index.match(bodies[0], rewriting=mapping).ids
    if any(matches(each, image) is not (id in found) for id, each in enumerate(patterns)):
        wrong.append("the evaluator says otherwise")
    figures = {"factor": xslt / ours, "factor_of_tree": tree / ours}
    return Outcome(figures | {"factor_of_exported_xslt": one * len(bodies) / ours}, tuple(wrong))


@cache
def copies(times: int, progress: Progress) -> Outcome:
    """An author's articles, each with a copy of the author: shared copies in times of repeated ones."""
    progress(f"copies into {times}")
    graph = _graph(SOURCE)
    tree = SchemaTree.of(graph)
    mapping = Mapping("copies", tree, (Exchange("university/author", "university/author/article"),))
    bodies = [_copied(Random(number), times) for number in range(DOCUMENTS)]
    texts = _texts(1000, "values", _COPIED_IMAGE)
    shared, repeated = _index(texts), _index(texts, Tuning(shared_copies=False))
    images = [_written(mapping, body) for body in bodies]
    wrong = _differences(shared, mapping, bodies, images) + _differences(repeated, mapping, bodies, images)
    once, again = _times(
        lambda: shared.match_batch(bodies, mapping), lambda: repeated.match_batch(bodies, mapping)
    )
    return Outcome({"ratio": once / again}, wrong)


@cache
def places(share: str, progress: Progress) -> Outcome:
    """Subscriptions that see a third or all of the schema: skipping in times of looking at everything.

    ``third`` is without the operators that copy, ``third-copied`` with them: what is copied is not skipped.
    """
    progress(f"places: {share}")
    mapping, bodies, images = _mapping(), _documents(), _images()
    texts = _texts(1000, "branching")
    if share == "third":
        kept = tuple(each for each in SEVEN if not isinstance(each, Downgrade | Exchange))
        mapping = Mapping("five", mapping.source, kept)
        images = [_written(mapping, body) for body in bodies]
    if share != "all":
        seen = ("dept", "course", "title", "schedule", "time", "location", "university")
        texts = [f"/university/dept/course[{a}]/{b}" for a in seen[2:6] for b in seen[2:6]]
        texts += [f"/university/dept/course/schedule[{a}]" for a in seen[4:6]]
    looking, skipping = _index(texts, Tuning(dead_places=False)), _index(texts)
    wrong = _differences(looking, mapping, bodies, images) + _differences(skipping, mapping, bodies, images)
    with_skips, without = _times(
        lambda: skipping.match_batch(bodies, mapping), lambda: looking.match_batch(bodies, mapping)
    )
    return Outcome({"ratio": with_skips / without}, wrong)


@cache
def sources(progress: Progress) -> Outcome:
    """The bytes of one index after documents of 1, 7 and 40 schemas, and the time of a batch."""
    progress("one index for 1, 7 and 40 sources")
    index = _index(_texts(1000, "branching"))
    bodies, images = _documents(), _images()
    wrong: list[str] = []
    figures: dict[str, float] = {}
    for count in (1, 7, 40):
        mappings = [_source(number) for number in range(count)]
        mixed = [_as_source(body, number % count) for number, body in enumerate(bodies)]
        found = index.match_batch(mixed, mappings)
        expected = index.match_batch(images)
        if found.matches.to_pylist() != expected.matches.to_pylist():
            wrong.append(f"{count} sources")
        seconds = _times(lambda used=mappings, of=mixed: index.match_batch(of, used))[0]
        figures[f"microseconds_for_{count}"] = seconds / len(bodies) * 1e6
        figures[f"bytes_for_{count}_sources"] = index.stats().bytes
    figures["ratio"] = figures["bytes_for_40_sources"] / figures["bytes_for_1_sources"]
    began = time.perf_counter()
    index.match(_as_source(bodies[0], 41), rewriting=_source(41))
    figures["milliseconds"] = (time.perf_counter() - began) * 1e3
    return Outcome(figures, tuple(wrong))


# Documents


@cache
def _documents() -> list[bytes]:
    return [_university(Random(f"{SEED}/{number}")) for number in range(DOCUMENTS)]


@cache
def _images() -> list[bytes]:
    return [_written(_mapping(), body) for body in _documents()]


@cache
def _mapping() -> Mapping:
    return Mapping("seven", SchemaTree.of(_graph(SOURCE)), SEVEN)


def _university(random: Random, courses: int = 60) -> bytes:
    """A document of about 25 KB."""
    faculties = []
    for faculty in range(3):
        departments = []
        for _ in range(2):
            inside = [_course(random) for _ in range(courses // 6)]
            departments.append(f"<department>{_leaf(random, 'dname')}{''.join(inside)}</department>")
        faculties.append(f'<faculty id="f{faculty}">Science {"".join(departments)}</faculty>')
    authors = [_author(random, random.choice([0, 1, 2, 3])) for _ in range(20)]
    return f"<university>\n{''.join(faculties)}\n{''.join(authors)}\n</university>".encode()


def _course(random: Random) -> str:
    inside = [_leaf(random, each) for each in ("title", "time", "location")]
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        who = "".join(_leaf(random, each) for each in ("name", "email", "office", "phone"))
        inside.append(f"<instructor>{who}</instructor>")
    inside.append(_leaf(random, "description", 12))
    inside += [_leaf(random, "TAs") for _ in range(random.choice([0, 0, 1, 2]))]
    return f'<course code="c{random.randint(1, 50)}">{"".join(inside)}</course>'


def _author(random: Random, articles: int, words: int = 2) -> str:
    who = _leaf(random, "name", words) + _leaf(random, "office", words)
    wrote = [f"<article>{_leaf(random, 'title')}{_leaf(random, 'year')}</article>" for _ in range(articles)]
    return f"<author>{who}{''.join(wrote)}</author>"


def _copied(random: Random, times: int) -> bytes:
    """Authors with contents of their own, of whom each article gets a copy."""
    authors = []
    for _ in range(max(1, 160 // times)):
        leaves = ["name", "email", "office", "phone"] * 4
        content = "".join(_leaf(random, each) for each in leaves)
        wrote = "".join(f"<article>{_leaf(random, 'title')}</article>" for _ in range(times))
        authors.append(f"<author>{content}{wrote}</author>")
    return f"<university>{''.join(authors)}</university>".encode()


_COPIED_IMAGE = """
<!ELEMENT university (article*)> <!ELEMENT article (author, title)>
<!ELEMENT author (name|email|office|phone)*>
""" + "".join(f"<!ELEMENT {leaf} (#PCDATA)>" for leaf in _LEAVES)


def _leaf(random: Random, name: str, words: int = 2) -> str:
    return f"<{name}>{' '.join(random.choice(_WORDS) for _ in range(words))}</{name}>"


_WORDS = ("data", "5", "systems", "12", "logic", "Klein", "MWF", "9:30", "hall", "100", "xml", "graph")


@cache
def _source(number: int) -> Mapping:
    """One of many publishers: other names for the same things, so other operators."""
    tree = SchemaTree.of(_graph(_renamed(SOURCE, number), f"university-{number}"))
    renames: list[Operator] = []
    for node in tree.nodes():
        if not node.is_attribute:
            renames.append(Rename(node.key, _label(node.label.local.removesuffix(f"-{number}"))))
    return Mapping(f"source {number}", tree, (*renames, *[_with_keys(each, number) for each in SEVEN]))


def _with_keys(operator: Operator, number: int) -> Operator:
    def key(text: str) -> str:
        return "/".join(step if step.startswith("@") else f"{step}-{number}" for step in text.split("/"))

    changes: dict[str, object] = {"node": key(operator.node)}
    for field in ("into", "above"):
        if hasattr(operator, field):
            changes[field] = key(getattr(operator, field))
    if hasattr(operator, "members"):
        changes["members"] = tuple(map(key, operator.members))
    return replace(operator, **changes)  # type: ignore[arg-type]


def _renamed(dtd: str, number: int) -> str:
    for name in _names(dtd):
        dtd = _with_word(dtd, name, f"{name}-{number}")
    return dtd


def _as_source(body: bytes, number: int) -> bytes:
    root = etree.fromstring(body)
    for element in root.iter():
        element.tag = f"{element.tag}-{number}"
    return etree.tostring(root, encoding="utf-8")


def _with_word(text: str, word: str, by: str) -> str:
    return re.sub(rf"(?<![\w-]){word}(?![\w-])", by, text)


# Subscriptions and answers


def _names(dtd: str) -> list[str]:
    return [each.name for each in _graph(dtd)]


def _graph(dtd: str, root: str = "university") -> ElementGraph:
    return read_dtd(dtd.encode(), root)


def _texts(count: int, kind: str, dtd: str = GLOBAL) -> list[str]:
    """Branching paths over a schema; with the kind ``values``, one in three has a condition on a value."""
    graph = _graph(dtd)
    options = replace(presets.BRANCHING, seed=SEED, distinct=False, min_steps=2)
    texts = list(generate_subscriptions(graph, count, options))
    if kind == "values":
        random = Random(SEED)
        pairs = [(each.name, child.name) for each in graph for child in graph.children(each.name)]
        for number in range(0, count, 3):
            above, below = random.choice(pairs)
            texts[number] = f"//{above}[{below}='{random.choice(_WORDS)} {random.choice(_WORDS)}']"
    return texts


def _with_new_names(text: str) -> str:
    pattern = text
    for leaf in _names(SOURCE):
        pattern = _with_word(pattern, leaf, f"{leaf}_")
    return pattern


def _index(texts: Sequence[str], tuning: Tuning | None = None) -> Index:
    return Index(enumerate(texts), tuning=tuning)


def _written(mapping: Mapping, body: bytes) -> bytes:
    """The image of a document as bytes."""

    def text(node: object) -> str:
        if isinstance(node, Text):
            return node.value.replace("&", "&amp;").replace("<", "&lt;")
        assert isinstance(node, Element)
        attributes = "".join(f' {each.local}="{each.value}"' for each in node.attributes)
        return f"<{node.local}{attributes}>{''.join(map(text, node.children))}</{node.local}>"

    return text(mapping.apply(read(body)).root).encode()


def _differences(
    index: Index, mapping: Mapping, bodies: Sequence[bytes], images: Sequence[bytes]
) -> tuple[str, ...]:
    found = index.match_batch(list(bodies), mapping).matches.to_pylist()
    expected = index.match_batch(list(images)).matches.to_pylist()
    return tuple(f"document {n}" for n, each in enumerate(found) if each is None or each != expected[n])


def _times(*functions: Callable[[], object], runs: int = RUNS) -> list[float]:
    """The best CPU time of each, in runs that alternate: other processes disturb it least."""
    best = [float("inf")] * len(functions)
    for run in range(runs + 1):  # the first warms the caches
        for number, function in enumerate(functions):
            began = time.process_time()
            function()
            if run:
                best[number] = min(best[number], time.process_time() - began)
    return best
