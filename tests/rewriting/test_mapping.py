"""Mappings: canonical text, hash, and the mapping of a text alone."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings

from experiments.engines.mapping.streaming import events
from tests.rewriting.images import name, shown, tree_of
from tests.rewriting.strategies import Case, cases, random_case
from twigcast.document import read
from twigcast.errors import MappingError
from twigcast.rewriting import Insert, Mapping, Rename, SchemaTree, ToElement, Upgrade
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import UpgradeAll
from twigcast.schema import read_dtd

CMU = Mapping(
    "cmu",
    tree_of("cmu(Course*(@nr, Day_, Time_))"),
    (
        Rename("cmu", name("catalogue")),
        ToElement("cmu/Course/@nr", QName("urn:p", "code")),
        Insert("cmu/Course", (name("schedule"),), ("cmu/Course/Day_", "cmu/Course/Time_")),
        UpgradeAll("cmu/Course/+schedule"),
    ),
    version=3,
)
TEXT = (
    '[["Mapping","cmu"],["Rename","cmu","catalogue"],["ToElement","cmu/Course/@nr","Q{urn:p}code"],'
    '["Insert","cmu/Course",["schedule"],["cmu/Course/Day_","cmu/Course/Time_"]],'
    '["UpgradeAll","cmu/Course/+schedule"]]'
)


def test_the_canonical_text_is_json() -> None:
    """It names the root and all operators, in their order."""
    assert CMU.canonical == TEXT


def test_a_mapping_is_known_by_its_text() -> None:
    """Name and version are not part of the hash, which the reference ends with."""
    parsed = Mapping.parse("other", TEXT)
    assert (parsed, parsed.hash, hash(parsed)) == (CMU, CMU.hash, hash(CMU))
    assert CMU.reference == f"cmu@3#{CMU.hash}"
    assert len(CMU.hash) == 16


def test_another_order_is_another_mapping() -> None:
    """Operators are a list."""
    other = Mapping("cmu", CMU.source, (*CMU.operators[1:], CMU.operators[0]))
    assert other != CMU
    assert other.hash != CMU.hash


@settings(max_examples=50, deadline=None)
@given(cases(6))
def test_a_text_says_all_that_a_router_needs(case: Case) -> None:
    """A mapping that was read from its text is equal, and gives the same image without the source schema."""
    parsed = Mapping.parse("parsed", case.mapping.canonical)
    assert parsed == case.mapping
    assert parsed.operators == case.mapping.operators
    document = read(case.body)
    assert list(events(parsed.apply(document))) == list(events(case.mapping.apply(document)))


@pytest.mark.parametrize("seed", range(40))
def test_a_text_says_through_which_elements_an_element_contains_itself(seed: int) -> None:
    """The same for schemas that are recursive."""
    case = random_case(Random(seed), 6, recursive=True)
    parsed = Mapping.parse("parsed", case.mapping.canonical)
    assert parsed.canonical == case.mapping.canonical
    document = read(case.body)
    assert list(events(parsed.apply(document))) == list(events(case.mapping.apply(document)))


def test_recursion_by_way_of_elements_that_nobody_names() -> None:
    """They are in the text, those with the same children together."""
    mapping = Mapping("m", tree_of("r(a(u(a, v(a)), w(a, v)), x(x))"), (Rename("r/a", name("z")),))
    assert mapping.canonical == (
        '[["Mapping","r"],["Inside",["a"],["u","w"]],["Inside",["u","w"],["a","v"]],'
        '["Inside",["v"],["a"]],["Rename","r/a","z"]]'
    )
    parsed = Mapping.parse("m", mapping.canonical)
    body = b"<r><a><u><v><a/></v></u><x><a/></x></a></r>"
    assert shown(parsed.apply(read(body))) == "<r><z><u><v><z/></v></u><x><a/></x></z></r>"


@pytest.mark.data
def test_the_text_of_an_entangled_schema_is_short(data: Path) -> None:
    """NITF has more places in a block than can be counted, and 26 elements that contain themselves."""
    tree = SchemaTree.of(read_dtd(data / "nitf" / "nitf-2-5.dtd"))
    block = "nitf/body/body.content/block"
    mapping = Mapping("nitf", tree, (Rename(block, name("part")), Rename(f"{block}/p", name("para"))))
    assert len(mapping.canonical) < 1024
    body = b"<nitf><body><body.content><block><p/><ul><li><bq><block><p/></block></bq></li></ul></block>"
    body += b"</body.content></body></nitf>"
    image = Mapping.parse("nitf", mapping.canonical).apply(read(body))
    inner = "<part><para/></part>"
    assert shown(image) == (
        f"<nitf><body><body.content><part><para/><ul><li><bq>{inner}</bq></li></ul></part>"
        "</body.content></body></nitf>"
    )


@pytest.mark.parametrize("seed", range(10))
def test_renaming_to_the_same_name_changes_nothing(seed: int) -> None:
    """The image has the events of the document."""
    case = random_case(Random(seed))
    tree = case.mapping.source
    same = tuple(Rename(node.key, node.label) for node in tree.nodes(50) if not node.is_attribute)
    document = read(case.body)
    assert list(events(Mapping("same", tree, same).apply(document))) == list(events(document))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "7",
        '[["Rename","a","b"]]',
        '[["Mapping"]]',
        '[["Mapping",7]]',
        '[["Mapping","a"],["Explode","a"]]',
        '[["Mapping","a"],["Rename","a"]]',
        '[["Mapping","a"],["Rename","a","b","c"]]',
        '[["Mapping","a"],["Rename","b","c"]]',
        '[["Mapping","a"],["Rename","a/x y","c"]]',
        '[["Mapping","a"],["Inside","a"]]',
        '[["Mapping","a"],[]]',
        '[["Mapping","a"],null]',
        '[["Mapping","a"],["Insert","a",7,["a/b"]]]',
        '[["Mapping","a"],[["Rename"],"a","b"]]',
        "[" * 100_000,
        '[["Mapping","a"]' + " " * 300_000 + "]",
        '[["Mapping","a"],["Rename","' + "/".join(["a"] * 300) + '","b"]]',
        json.dumps([["Mapping", "a"], ["Inside", *[[f"a{n}" for n in range(1000)]] * 2]]),
        json.dumps([["Mapping", "a"], ["InsertEach", "a", ["x"] * 1001, ["a/b"]]]),
        json.dumps([["Mapping", "a"], *[["InsertAll", "a", ["x"]]] * 1001]),
        '[["Mapping","a"],["Rename","a","Q{\\ud800}b"]]',
    ],
    ids=range(24),
)
def test_a_bad_text_is_refused(text: str) -> None:
    """Whatever arrives in a header, the error is one of ours."""
    with pytest.raises(MappingError) as caught:
        Mapping.parse("bad", text)
    assert caught.value.code in {"mapping-rules", "place", "operator"}


def test_the_refusal_of_a_text_names_the_operator() -> None:
    """And what it needs."""
    with pytest.raises(MappingError, match="there is no operator 'Explode'"):
        Mapping.parse("bad", '[["Mapping","a"],["Explode","a"]]')
    with pytest.raises(MappingError, match="Rename needs node, label"):
        Mapping.parse("bad", '[["Mapping","a"],["Rename","a"]]')


def test_an_operator_that_cannot_be_applied_is_refused_when_a_text_is_read() -> None:
    """Not only with the first document."""
    with pytest.raises(MappingError, match="children of the root"):
        Mapping.parse("bad", '[["Mapping","a"],["Upgrade","a",["a/b"]]]')


def test_the_image_of_the_schema_is_that_of_all_operators() -> None:
    """Its paths are those of the global schema."""
    mapping = Mapping("m", tree_of("r(a(b))"), (Rename("r", name("z")), Upgrade("r/a", ("r/a/b",))))
    assert [node.path_text for node in mapping.image.nodes()] == ["z", "z/a", "z/b"]


def test_a_mapping_can_be_sent_to_another_process() -> None:
    """Before and after it was used."""
    body = b"<cmu><Course nr='1'><Day_>M</Day_></Course></cmu>"
    unused = pickle.loads(pickle.dumps(Mapping("cmu", CMU.source, CMU.operators)))
    expected = shown(CMU.apply(read(body)))
    used = pickle.loads(pickle.dumps(CMU))
    assert [shown(each.apply(read(body))) for each in (unused, used)] == [expected, expected]
