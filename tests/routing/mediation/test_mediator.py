"""The mediator: publishers, versions, and a global schema that only grows."""

from __future__ import annotations

import pytest

from twigcast.document import read
from twigcast.errors import MappingError
from twigcast.pattern import matches, parse
from twigcast.rewriting import SchemaTree
from twigcast.routing import Mediator
from twigcast.schema import read_dtd

TEXT = "<!ELEMENT {} (#PCDATA)>"


def tree(models: str, *texts: str) -> SchemaTree:
    """A schema of these models, with elements that hold text."""
    return SchemaTree.of(read_dtd((models + "".join(TEXT.format(name) for name in texts)).encode()))


GLOBAL = tree("<!ELEMENT catalogue (course*)> <!ELEMENT course (title, credits?)>", "title", "credits")
LARGER = tree(
    "<!ELEMENT catalogue (course*)> <!ELEMENT course (title, credits?, instructor*)>",
    "title",
    "credits",
    "instructor",
)
SMALLER = tree("<!ELEMENT catalogue (course*)> <!ELEMENT course (title)>", "title")
CMU = tree(
    "<!ELEMENT cmu (Course*)> <!ELEMENT Course (Title, Units, Lecturer)>", "Title", "Units", "Lecturer"
)
PAIRS = {"cmu": "catalogue", "cmu/Course": "catalogue/course", "cmu/Course/Title": "catalogue/course/title"}


def test_a_proposal_says_what_it_is_made_of() -> None:
    """Pairs with evidence, operators, and the places without a counterpart."""
    proposal = Mediator(GLOBAL).register("cmu", CMU)
    assert proposal.matching.pairs["cmu/Course/Title"] == "catalogue/course/title"
    assert proposal.matching.evidence["cmu/Course/Title"]
    assert proposal.operators
    assert "cmu/Course/Lecturer" in proposal.missing


def test_accepted_pairs_become_a_mapping() -> None:
    """The mapping leads documents of the publisher to the global schema."""
    mediator = Mediator(GLOBAL, "courses")
    mapping = mediator.accept("cmu", CMU, PAIRS)
    image = mapping.apply(read(b"<cmu><Course><Title>XML</Title></Course></cmu>"))
    assert matches(parse("/catalogue/course[title='XML']"), image)
    assert (mapping.version, mapping.target) == (1, "courses")
    assert mediator.mappings == (mapping,)


def test_versions_count_changes() -> None:
    """The same pairs are the same version; other pairs are the next, and the old one is still found."""
    mediator = Mediator(GLOBAL)
    first = mediator.accept("cmu", CMU, PAIRS)
    assert mediator.accept("cmu", CMU, PAIRS) is first
    second = mediator.accept("cmu", CMU, PAIRS | {"cmu/Course/Units": "catalogue/course/credits"})
    assert (second.version, mediator.mappings) == (2, (second,))
    assert mediator.find(first.reference) is first


def test_an_unknown_hash_is_not_another_version() -> None:
    """A reference is looked up by its hash alone."""
    mediator = Mediator(GLOBAL)
    mediator.accept("cmu", CMU, PAIRS)
    with pytest.raises(MappingError) as caught:
        mediator.find("cmu@1#0123456789abcdef")
    assert caught.value.code == "unknown-mapping"


def test_withdrawn_mappings_stay_known_until_they_are_forgotten() -> None:
    """Documents under way are still understood."""
    mediator = Mediator(GLOBAL)
    mapping = mediator.accept("cmu", CMU, PAIRS)
    with pytest.raises(MappingError) as caught:
        mediator.forget(mapping.reference)
    assert caught.value.code == "in-use"
    mediator.withdraw("cmu")
    assert mediator.mappings == ()
    assert mediator.find(mapping.reference) is mapping
    mediator.forget(mapping.reference)
    with pytest.raises(MappingError, match="there is no mapping"):
        mediator.find(mapping.reference)


def test_an_unknown_publisher_cannot_be_withdrawn() -> None:
    """The error names those that there are."""
    with pytest.raises(MappingError, match="there are: none"):
        Mediator(GLOBAL).withdraw("cmu")


def test_growing_changes_only_the_mappings_whose_operators_change() -> None:
    """A new place that no publisher has changes no mapping."""
    mediator = Mediator(GLOBAL)
    mapping = mediator.accept("cmu", CMU, PAIRS)
    assert mediator.grow(LARGER) == ()
    assert mediator.mappings == (mapping,)
    grown = mediator.accept("cmu", CMU, PAIRS | {"cmu/Course/Lecturer": "catalogue/course/instructor"})
    assert grown.version == 2


@pytest.mark.parametrize("text", ["//credits", "/catalogue/course[credits > 5]", "//course[not(credits)]"])
def test_a_place_in_use_cannot_go(text: str) -> None:
    """A subscription that uses a place keeps the global schema from losing it, and nothing changes."""
    mediator = Mediator(GLOBAL)
    with pytest.raises(MappingError, match="'catalogue/course/credits'") as caught:
        mediator.grow(SMALLER, [parse("//title"), parse(text)])
    assert caught.value.code == "in-use"
    assert mediator.schema is GLOBAL


def test_a_place_that_a_mapping_uses_cannot_go() -> None:
    """The publisher is named."""
    mediator = Mediator(GLOBAL)
    mediator.accept("cmu", CMU, PAIRS | {"cmu/Course/Units": "catalogue/course/credits"})
    with pytest.raises(MappingError, match="'cmu'") as caught:
        mediator.grow(SMALLER)
    assert caught.value.code == "in-use"


def test_a_place_that_nobody_uses_can_go() -> None:
    """Then no subscription changes its meaning."""
    mediator = Mediator(GLOBAL)
    mediator.grow(SMALLER, [parse("//title"), parse("//course/*")])
    assert mediator.schema is SMALLER
