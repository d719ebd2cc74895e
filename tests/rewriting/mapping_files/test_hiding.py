"""What ``hide = ["*"]`` leaves out, and that the text of a matched place stays."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from experiments.engines.mapping.streaming.event_rewriter import rewrite_events
from experiments.engines.mapping.streaming.events import events
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.mapping_files.publisher import publisher
from tests.rewriting.strategies import random_schema, random_source_document
from tests.rewriting.test_xslt import run, unwrapped
from twigcast.document import Element, Node, descendants, read, string_value
from twigcast.filtering import Index
from twigcast.pattern import matches, parse
from twigcast.rewriting import Hide, Mapping, check_mapping, derive, read_mapping_file
from twigcast.rewriting.labels import QName
from twigcast.rewriting.mapping_files.hiding import hidden_by_wildcard
from twigcast.rewriting.mapping_files.mapping_file import read_mapping

TITLES = "<!ELEMENT titles (title*)><!ELEMENT title (#PCDATA)>"
MIXED = "<!ELEMENT r (t*, junk*)><!ELEMENT t (#PCDATA|i|n)*><!ELEMENT i (#PCDATA|i|n)*>"
MIXED += "<!ELEMENT n (#PCDATA)><!ATTLIST n x CDATA #IMPLIED><!ELEMENT junk (#PCDATA)>"
PAIRS = {"r": "titles", "r/t": "titles/title"}


def mapping_file(
    folder: Path,
    source: str,
    target: str,
    pairs: dict[str, str],
    hide: tuple[str, ...] = ("*",),
    keep: tuple[str, ...] = (),
) -> Path:
    """A mapping file between two schemas; ``*`` is hidden unless something else is said."""
    lines = ['mapping = "m"', 'source = "cmu.dtd"', 'target = "catalogue.dtd"', "[match]"]
    lines += [f'"{place}" = "{image}"' for place, image in pairs.items()]
    lines += ["[unmatched]", f"hide = {list(hide)}", f"keep = {list(keep)}"]
    return publisher(folder, "\n".join(lines), source, target)


def hidden(path: Path) -> list[str]:
    return [each.node for each in read_mapping(path).operators if isinstance(each, Hide)]


def test_the_text_of_a_matched_place_stays(tmp_path: Path) -> None:
    """The elements in it stay as they are, also those that cannot contain themselves."""
    path = mapping_file(tmp_path, MIXED, TITLES, PAIRS)
    body = b"<r><t>A <i>B</i> <n x='1'>C</n></t><junk>J</junk></r>"
    mapping = read_mapping(path)
    assert hidden(path) == ["r/junk"]
    image = mapping.apply(read(body))
    assert matches(parse("/titles/title[. = 'A B C'][n/@x = '1'][i]"), image)
    index = Index([("c", "//title[contains(., 'C')]"), ("j", "//junk")])
    assert index.match(body, rewriting=mapping).ids == ["c"]


def test_the_text_is_that_of_the_source_or_of_the_global_schema(tmp_path: Path) -> None:
    """A date of year and month is a text for subscribers, if the global schema says so."""
    source = "<!ELEMENT r (t*)><!ELEMENT t (y, m)><!ELEMENT y (#PCDATA)><!ELEMENT m (#PCDATA)>"
    assert hidden(mapping_file(tmp_path, source, TITLES, PAIRS)) == []
    elements = TITLES.replace("title (#PCDATA)", "title (name?)") + "<!ELEMENT name (#PCDATA)>"
    assert hidden(mapping_file(tmp_path, source, elements, PAIRS)) == ["r/t/y", "r/t/m"]


def test_what_is_matched_inside_of_a_text_moves_and_the_rest_stays(tmp_path: Path) -> None:
    """The unmatched element between two matched ones is text of the upper one."""
    source = "<!ELEMENT r (t*)><!ELEMENT t (#PCDATA|n)*><!ELEMENT n (#PCDATA|m|k)*>"
    source += "<!ELEMENT m (#PCDATA)><!ELEMENT k (#PCDATA)>"
    target = "<!ELEMENT titles (title*)><!ELEMENT title (#PCDATA|name)*><!ELEMENT name (#PCDATA)>"
    path = mapping_file(tmp_path, source, target, PAIRS | {"r/t/n/m": "titles/title/name"})
    assert hidden(path) == []
    image = read_mapping(path).apply(read(b"<r><t>A <n>B <m>C</m><k>D</k></n></t></r>"))
    assert matches(parse("/titles/title[name = 'C'][n = 'B D']"), image)


def test_a_made_element_around_a_text_changes_nothing(tmp_path: Path) -> None:
    """Each text gets an element of its own, and what is in the text stays in it."""
    source = MIXED
    target = "<!ELEMENT titles (book*)><!ELEMENT book (title)><!ELEMENT title (#PCDATA)>"
    path = mapping_file(tmp_path, source, target, {"r": "titles", "r/t": "titles/book/title"})
    assert hidden(path) == ["r/junk"]
    image = read_mapping(path).apply(read(b"<r><t>A <n>C</n></t><t>D</t></r>"))
    assert matches(parse("/titles[count(book) = 2]/book[title = 'A C']"), image)


def test_a_text_below_a_root_that_moves_down_stays(tmp_path: Path) -> None:
    """The text of the root is then that of a made element."""
    source = "<!ELEMENT t (#PCDATA|n)*><!ELEMENT n (#PCDATA)>"
    path = mapping_file(tmp_path, source, TITLES, {"t": "titles/title"})
    assert hidden(path) == []
    assert matches(parse("/titles/title[. = 'A C']"), read_mapping(path).apply(read(b"<t>A <n>C</n></t>")))


def test_what_is_kept_stays_with_what_is_above_it(tmp_path: Path) -> None:
    """The other elements beside it go."""
    source = "<!ELEMENT r (t*, box?)><!ELEMENT t (#PCDATA)><!ELEMENT box (a?, b?)>"
    source += "<!ELEMENT a (c)><!ELEMENT b (#PCDATA)><!ELEMENT c (#PCDATA)>"
    path = mapping_file(tmp_path, source, TITLES, PAIRS, keep=("r/box/a",))
    assert hidden(path) == ["r/box/b"]


def test_an_element_that_contains_itself_is_hidden(tmp_path: Path) -> None:
    """Unless it can contain a matched element again."""
    source = "<!ELEMENT r (t*, list?, block?)><!ELEMENT t (#PCDATA)><!ELEMENT list (list*, x?)>"
    source += "<!ELEMENT x (#PCDATA)><!ELEMENT block (media?, x?)><!ELEMENT media (block*, x?)>"
    target = "<!ELEMENT titles (title*, part?)><!ELEMENT title (#PCDATA)><!ELEMENT part (part*)>"
    path = mapping_file(tmp_path, source, target, PAIRS | {"r/block": "titles/part"})
    assert hidden(path) == ["r/list", "r/block/x"]
    body = b"<r><block><media><block><x>h</x></block></media></block><list><list><x>h</x></list></list></r>"
    index = Index([("inner", "//part//part"), ("x", "//x")])
    assert index.match(body, rewriting=read_mapping(path)).ids == ["inner"]


@pytest.mark.parametrize(
    ("hide", "pairs", "place"),
    [
        (("r/t/n",), PAIRS, "r/t"),
        (("r/t/i",), PAIRS, "r/t"),
        (("*",), PAIRS | {"r/t/n": "titles/title/name"}, ""),
        (("*",), PAIRS | {"r/t/n": "titles/name"}, "r/t"),
        (("*",), PAIRS | {"r/t/n": "titles/title/box/name"}, ""),
        (("*",), {"r": "titles", "r/t": "titles/head", "r/t/n": "titles/head/box/name"}, "r/t"),
        (("*",), PAIRS | {"r/t/n/@x": "titles/title/name"}, "r/t"),
        (("r/junk",), PAIRS, ""),
    ],
)
def test_a_changed_text_is_reported(
    tmp_path: Path, hide: tuple[str, ...], pairs: dict[str, str], place: str
) -> None:
    """A part of it is hidden, moves out, moves behind the rest, or was an attribute; names do not count."""
    target = "<!ELEMENT titles (title*, name*, head*)><!ELEMENT head (box?)><!ELEMENT name (#PCDATA)>"
    target += "<!ELEMENT title (#PCDATA|name|box)*><!ELEMENT box (name*)>"
    checked = check_mapping(read_mapping_file(mapping_file(tmp_path, MIXED, target, pairs, hide)))
    assert checked.is_good
    found = [(each.code, each.place) for each in checked.findings if each.code == "text"]
    assert sorted(set(found)) == ([("text", place)] if place else [])


@pytest.mark.parametrize("seed", range(60))
def test_all_forms_agree_and_no_text_is_lost(seed: int) -> None:
    """The tree, the stream, the stylesheet and the kernel leave out the same; matched texts stay whole."""
    random = Random(seed)
    source = random_schema(random, recursive=bool(seed % 2))
    nodes = [node for node in source.nodes(200) if not node.is_attribute]
    chosen = {node.key for node in nodes if node.parent is None or random.random() < 0.3}
    pairs = {key: key for key in chosen if all(a.key in chosen for a in source[key].ancestors())}
    operators = derive(source, source, pairs)
    assert operators == ()
    hides = hidden_by_wildcard(source, source.copy(), source, pairs, (), frozenset())
    mapping = Mapping("random", source, tuple(map(Hide, hides)))
    for _ in range(3):
        body = random_source_document(random, source)
        document = read(body)
        image = mapping.apply(document)
        assert list(rewrite_events(events(document), mapping, len(body))) == list(events(image))
        tests = [parse(f"//{each}", NAMESPACES) for each in ("a", "b", "p:a", "c", "text()[. = '5']")]
        expected = [number for number, pattern in enumerate(tests) if matches(pattern, image)]
        index = Index(list(enumerate(tests)))
        assert index.match(body, rewriting=mapping).ids == expected
        written = unwrapped(run(mapping, body))
        assert [number for number, pattern in enumerate(tests) if matches(pattern, written)] == expected
        for element in descendants(image):
            origin = image.sources(element)[0]
            node = source.at(labels(origin))
            if node is not None and node.key in pairs and node.has_text:
                assert string_value(element) == string_value(origin)


def labels(element: Node) -> list[QName]:
    """The names from the root to an element."""
    found: list[QName] = []
    while isinstance(element, Element):
        found.append(QName(element.namespace, element.local))
        element = element.parent
    return found[::-1]
