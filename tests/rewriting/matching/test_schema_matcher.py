"""Proposals of pairs between schemas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.mapping.dialects import make_dialects
from tests.rewriting.random_graphs import random_graph
from twigcast.document import read
from twigcast.rewriting import (
    Mapping,
    SchemaTree,
    Thesaurus,
    derive,
    match_schemas,
    pooled_profiles,
    profile_documents,
    read_mapping_file,
)
from twigcast.schema import read_schema
from twigcast.workload import infer

CATALOGUES = Path(__file__).parents[3] / "examples" / "catalogues"
GLOBAL = b"""<catalogue><course nr="1"><code>1</code><title>1</title>
<instructor><name>1</name><email>1</email></instructor><place><room>1</room></place></course></catalogue>"""


def tree(*bodies: bytes) -> SchemaTree:
    return SchemaTree.of(infer(bodies))


def test_a_leaf_goes_to_a_leaf() -> None:
    """An element with text means the name of the instructor, not the element that contains it."""
    found = match_schemas(tree(b"<cmu><Course><Lecturer>A</Lecturer></Course></cmu>"), tree(GLOBAL))
    assert found.pairs == {
        "cmu": "catalogue",
        "cmu/Course": "catalogue/course",
        "cmu/Course/Lecturer": "catalogue/course/instructor/name",
    }
    assert "thesaurus lecturer~instructor" in str(found.evidence["cmu/Course/Lecturer"])


def test_what_has_no_counterpart_is_unmatched() -> None:
    """Places without a pair are listed in the order of the schema."""
    found = match_schemas(
        tree(b"<cmu><Course><Code>1</Code><CRN>2</CRN><Max>3</Max></Course></cmu>"), tree(GLOBAL)
    )
    assert found.unmatched == ("cmu/Course/CRN", "cmu/Course/Max")


def test_an_attribute_can_become_an_element() -> None:
    """Attributes of the source are leaves like others."""
    target = tree(b"<catalogue><course><code>1</code><title>1</title></course></catalogue>")
    found = match_schemas(tree(b'<cmu><Course code="1"><Title>x</Title></Course></cmu>'), target)
    assert found.pairs["cmu/Course/@code"] == "catalogue/course/code"


def test_an_element_never_becomes_an_attribute() -> None:
    """No operator makes an attribute, and an attribute stays one only at its own element."""
    found = match_schemas(tree(b"<cmu><Course><nr>1</nr><Title>1</Title></Course></cmu>"), tree(GLOBAL))
    assert found.pairs.get("cmu/Course/nr") != "catalogue/course/@nr"
    stays = match_schemas(tree(b'<cmu><Course nr="1"><Title>1</Title></Course></cmu>'), tree(GLOBAL))
    assert stays.pairs["cmu/Course/@nr"] == "catalogue/course/@nr"


def test_the_names_above_decide_between_equal_names() -> None:
    """Of two places with one name, each goes where the names above it are similar."""
    target = tree(b"<i><seller><name>1</name></seller><buyer><name>1</name></buyer></i>")
    source = tree(
        b"<I><CustomerParty><Party><Name>1</Name></Party></CustomerParty>"
        b"<SupplierParty><Party><Name>1</Name></Party></SupplierParty></I>"
    )
    pairs = match_schemas(source, target).pairs
    assert pairs["I/CustomerParty/Party/Name"] == "i/buyer/name"
    assert pairs["I/SupplierParty/Party/Name"] == "i/seller/name"


def test_values_find_columns_that_are_swapped() -> None:
    """E-mail addresses go to the e-mail place, whatever their element is called."""
    body = b"""<t><Course><instructorEmail>Ada Lovelace</instructorEmail><instructorName>ada@site.org
    </instructorName></Course></t>"""
    source = tree(body)
    by_name = match_schemas(source, tree(GLOBAL)).pairs
    assert by_name["t/Course/instructorName"] == "catalogue/course/instructor/name"
    other = b"<c><Course><Instructor>Grace Hopper</Instructor></Course></c>"
    known = {"c/Course/Instructor": "catalogue/course/instructor/name"}
    pooled = pooled_profiles([(known, profile_documents(tree(other), [read(other)]))])
    found = match_schemas(
        source,
        tree(GLOBAL),
        source_profiles=profile_documents(source, [read(body)]),
        target_profiles=pooled,
    )
    assert found.pairs["t/Course/instructorEmail"] == "catalogue/course/instructor/name"
    assert found.pairs["t/Course/instructorName"] == "catalogue/course/instructor/email"


def test_siblings_with_numbered_names_share_a_target() -> None:
    """Several leaves may mean one place if nothing but a number tells them apart."""
    found = match_schemas(tree(b"<c><Course><Room1>1</Room1><Room2>2</Room2></Course></c>"), tree(GLOBAL))
    rooms = {key: image for key, image in found.pairs.items() if "Room" in key}
    assert rooms == dict.fromkeys(["c/Course/Room1", "c/Course/Room2"], "catalogue/course/place/room")
    assert sorted(found.evidence[key].shared for key in rooms) == [False, True]


def test_names_of_earlier_mappings_are_learnt() -> None:
    """A name that another publisher has for a place is sure evidence."""
    source = tree(b"<c><Course><CRN>1</CRN></Course></c>")
    found = match_schemas(source, tree(GLOBAL), target_names={"catalogue/course/code": {"CRN"}})
    assert found.pairs["c/Course/CRN"] == "catalogue/course/code"
    assert "learnt" in str(found.evidence["c/Course/CRN"])


def test_a_proposal_can_be_derived() -> None:
    """Operators can be derived from the pairs, and lead every pair to its place."""
    graph = read_schema(CATALOGUES / "catalogue.dtd")
    target = SchemaTree.of(graph)
    for dialect in make_dialects(graph, 10, seed=3, operators=10):
        pairs = match_schemas(dialect.tree, target).pairs
        mapping = Mapping("proposal", dialect.tree, derive(dialect.tree, target, pairs))
        assert all(mapping.image[key].path_text == image for key, image in pairs.items())


def test_a_source_root_may_lie_below_the_global_root() -> None:
    """A publisher that sends single courses is mapped to the course, not to the catalogue."""
    found = match_schemas(tree(b"<Course><Code>1</Code><Title>1</Title></Course>"), tree(GLOBAL)).pairs
    assert found["Course"] == "catalogue/course"


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_every_proposal_can_be_derived(one: int, other: int) -> None:
    """Whatever two schemas have in common, operators lead every pair to its place.

    If the source root is paired below the global root, a made element stands in its place.
    """
    source, target = SchemaTree.of(random_graph(one)), SchemaTree.of(random_graph(other))
    pairs = match_schemas(source, target).pairs
    mapping = Mapping("proposal", source, derive(source, target, pairs))
    below = {key: image for key, image in pairs.items() if key != source.root.key}
    assert all(mapping.image[key].path_text == image for key, image in below.items())


def test_what_can_contain_itself_is_not_moved() -> None:
    """Only names can be changed there, so pairs that would need more are left out."""
    source = tree(b"<n><block><p>1</p><block><p>1</p></block></block><head><title>1</title></head></n>")
    target = tree(b"<n><body><block><para>1</para></block></body><title>1</title></n>")
    found = match_schemas(source, target).pairs
    assert "n/block" not in found
    assert found["n/head/title"] == "n/title"
    mapping = Mapping("proposal", source, derive(source, target, found))
    assert all(mapping.image[key].path_text == image for key, image in found.items())
    same = match_schemas(source, tree(b"<n><Block><p>1</p></Block></n>")).pairs
    assert same == {"n": "n", "n/block": "n/Block", "n/block/p": "n/Block/p"}


def test_no_library_is_loaded_before_it_is_used() -> None:
    """``import twigcast.rewriting`` costs none of the libraries of the extra."""
    script = (
        "import sys, twigcast.rewriting; "
        "print(*(m for m in ('rapidfuzz', 'networkx', 'tomlkit') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_a_missing_library_names_the_extra() -> None:
    """The error says what to install."""
    script = (
        "import sys; sys.modules['rapidfuzz'] = None\n"
        "from twigcast.errors import ExtraError\n"
        "try:\n from twigcast.rewriting import match_schemas\n"
        "except ExtraError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "rapidfuzz is not installed: pip install 'twigcast[schemas]'"


@pytest.mark.data
@pytest.mark.parametrize(("values", "least"), [(False, 0.85), (True, 0.9)], ids=["names", "values"])
def test_seven_catalogues(data: Path, values: bool, least: float) -> None:
    """Leave-one-out on the seven catalogues: the F1 that was asked for, and toronto's swapped columns."""
    files = {path.stem: read_mapping_file(path) for path in sorted(CATALOGUES.glob("*.toml"))}
    target = SchemaTree.of(read_schema(CATALOGUES / "catalogue.dtd"))
    trees = {name: file.source_tree() for name, file in files.items()}
    true = {name: file.keys(trees[name], target) for name, file in files.items()}
    profiles = {
        name: profile_documents(tree, [read((data / "thalia" / f"{name}.xml").read_bytes())])
        for name, tree in trees.items()
    }
    right = proposed = wanted = 0
    for name, tree in trees.items():
        others = [(true[other], profiles[other]) for other in trees if other != name]
        found = match_schemas(
            tree,
            target,
            thesaurus=Thesaurus.built_in(),
            source_profiles=profiles[name] if values else None,
            target_profiles=pooled_profiles(others) if values else None,
        ).pairs
        right += len(found.items() & true[name].items())
        proposed, wanted = proposed + len(found), wanted + len(true[name])
        if name == "toronto" and values:
            assert found["toronto/Course/instructorEmail"] == "catalogue/course/instructor/name"
            assert found["toronto/Course/instructorName"] == "catalogue/course/instructor/email"
    assert len(files) == 7
    assert 2 * right / (proposed + wanted) >= least
