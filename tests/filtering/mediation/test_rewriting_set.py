"""Which mapping a document gets, and what an index answers with it."""

from __future__ import annotations

from typing import Any

import pytest

from twigcast import DocumentError, Index
from twigcast.errors import MappingError
from twigcast.rewriting import Downgrade, Insert, Mapping, Mappings, Rename, SchemaTree, ToElement, Upgrade
from twigcast.rewriting.labels import QName
from twigcast.schema import read_dtd

CMU = (
    "<!ELEMENT cmu (Course*)> <!ELEMENT Course (Title,Day,Time)> <!ATTLIST Course nr CDATA #IMPLIED>"
    + "".join(f"<!ELEMENT {each} (#PCDATA)>" for each in ("Title", "Day", "Time"))
)
BROWN = "<!ELEMENT brown (Class*)> <!ELEMENT Class (#PCDATA)>"


def label(local: str) -> QName:
    return QName("", local)


def tree(dtd: str) -> SchemaTree:
    return SchemaTree.of(read_dtd(dtd.encode()))


CMU_MAPPING = Mapping(
    "cmu",
    tree(CMU),
    (
        Rename("cmu", label("catalogue")),
        Rename("cmu/Course", label("course")),
        Rename("cmu/Course/Title", label("title")),
        ToElement("cmu/Course/@nr", label("code")),
        Insert("cmu/Course", (label("schedule"),), ("cmu/Course/Day", "cmu/Course/Time")),
    ),
)
BROWN_MAPPING = Mapping("brown", tree(BROWN), (Rename("brown/Class", label("course")),))
MAPPINGS = Mappings([CMU_MAPPING, BROWN_MAPPING])
BODY = b'<cmu>\n <Course nr="15"><Title>DB</Title><Day>MWF</Day>, <Time>9</Time></Course>\n</cmu>'


@pytest.fixture
def index() -> Index:
    return Index(
        [
            ("course", "//course"),
            ("code", "//course[code='15']"),
            ("schedule", "//course/schedule"),
            ("text", "//course[contains(title, 'D')]/schedule/*[2]"),
            ("source", "//Course"),
        ]
    )


def test_the_root_element_chooses_the_mapping(index: Index) -> None:
    """Of several; the result says which was applied."""
    found = index.match(BODY, rewriting=MAPPINGS)
    assert found.ids == ["course", "code", "schedule", "text"]
    assert found.mapping == CMU_MAPPING.reference
    other = index.match(b"<brown><Class/></brown>", rewriting=MAPPINGS)
    assert (other.ids, other.mapping) == (["course"], BROWN_MAPPING.reference)


def test_without_rewriting_documents_are_matched_as_they_are(index: Index) -> None:
    """Also between documents that are rewritten."""
    index.match(BODY, rewriting=MAPPINGS)
    found = index.match(BODY)
    assert (found.ids, found.mapping) == (["source"], None)


def test_a_root_without_a_mapping_is_an_error_at_its_place(index: Index) -> None:
    """With the names of the mappings that there are; select and explain give the same error."""
    body = b"<?xml version='1.0'?>\n <syllabus/>"
    error = index.match(body, rewriting=MAPPINGS).error
    assert error is not None
    assert error.code == "no-mapping"
    assert (
        str(error) == "no mapping for the root element 'syllabus'; there are brown, cmu at line 2, column 2"
    )
    for call in (
        index.count,
        lambda *a, **k: index.select(*a, "code", **k),
        lambda *a, **k: index.explain(*a, "code", **k),
    ):
        with pytest.raises(DocumentError) as raised:
            call(body, rewriting=MAPPINGS)
        assert raised.value == error


def test_a_document_without_a_mapping_can_be_matched_as_it_is(index: Index) -> None:
    """The result has no mapping then."""
    body = b"<other><course/></other>"
    found = index.match(body, rewriting=MAPPINGS, unknown="as-is")
    assert (found.ids, found.mapping) == (["course"], None)
    assert index.count(body, rewriting=MAPPINGS, unknown="as-is") == 1
    assert [each.kind for each in index.select(body, "course", MAPPINGS, "as-is")] == ["element"]
    assert index.match_batch([body], MAPPINGS, unknown="as-is").mappings == [None]


def test_a_batch_names_the_mapping_of_each_document(index: Index) -> None:
    """By name, or by the root where there is none; a name that is unknown or does not fit is an error."""
    which = ["cmu", None, "nowhere", "brown", None]
    found = index.match_batch([BODY] * 4 + [b"<brown><odd/></brown>"], MAPPINGS, which)
    assert found.mappings == [CMU_MAPPING.reference] * 2 + [None] * 2 + [BROWN_MAPPING.reference]
    assert found.strangers == [0, 0, 0, 0, 1]
    assert found.cached_bytes[0] > 0
    assert found.ids(0) == found.ids(1) == index.match(BODY, rewriting=MAPPINGS).ids
    assert [error and error.code for error in found.errors] == [None, None, "no-mapping", "no-mapping", None]
    assert "there is no mapping 'nowhere'; there are brown, cmu" in str(found.errors[2])
    assert "the mapping 'brown' is for the root element 'brown', not for 'cmu'" in str(found.errors[3])
    with pytest.raises(ValueError, match="5 documents, but 1 names"):
        index.match_batch([BODY] * 5, MAPPINGS, ["cmu"])


def test_a_root_with_several_mappings_must_say_which(index: Index) -> None:
    """The root does not decide between two versions of a mapping."""
    again = [CMU_MAPPING, Mapping("other", CMU_MAPPING.source, (Rename("cmu/Course", label("course")),))]
    error = index.match(BODY, rewriting=again).error
    assert error is not None
    assert "has several mappings: cmu, other; use one of them, or choose by name" in str(error)
    assert index.match_batch([BODY], again, ["other"]).ids(0) == ["course"]


def test_a_root_with_several_mappings_is_never_matched_as_it_is(index: Index) -> None:
    """``as-is`` is for documents that no mapping is for, not for those that two mappings claim."""
    twice = [CMU_MAPPING, Mapping("twin", CMU_MAPPING.source, CMU_MAPPING.operators)]
    error = index.match(BODY, rewriting=twice, unknown="as-is").error
    assert error is not None
    assert "has several mappings: cmu, twin" in str(error)
    with pytest.raises(DocumentError, match="has several mappings"):
        index.select(BODY, "course", twice, "as-is")


def test_selected_nodes_and_parts_are_those_of_the_publisher(index: Index) -> None:
    """A made element stands for what it contains, an element of an attribute for it; none twice."""
    found = index.select(BODY, "schedule", MAPPINGS)
    assert [BODY[each.start : each.end] for each in found] == [b"<Day>MWF</Day>", b"<Time>9</Time>"]
    assert list(index.parts(BODY, "text", "range", MAPPINGS)) == [b"<Time>9</Time>"]
    index.add("number", "//code")
    assert [BODY[each.start : each.end] for each in index.select(BODY, "number", MAPPINGS)] == [b'nr="15"']


def test_an_explanation_is_of_the_image(index: Index) -> None:
    """It has the names of the global schema."""
    index.add("missing", "//course[schedule/room]")
    assert index.explain(BODY, "code", rewriting=MAPPINGS).matched
    assert not index.explain(BODY, "missing", rewriting=MAPPINGS).matched


class Counted:
    """A mapping that counts how often its plan is asked for."""

    def __init__(self) -> None:
        self.name, self.reference, self.root = CMU_MAPPING.name, CMU_MAPPING.reference, CMU_MAPPING.root
        self.apply, self.asked = CMU_MAPPING.apply, 0

    @property
    def plan(self) -> bytes:
        self.asked += 1
        return CMU_MAPPING.plan


def test_a_mapping_is_opened_once(index: Index) -> None:
    """Whether the same object comes again, or another with the same reference, alone or in a list."""
    first, second = Counted(), Counted()
    for _ in range(3):
        assert index.match(BODY, rewriting=first).mapping == CMU_MAPPING.reference
        index.match(BODY, rewriting=second)
        index.match(BODY, rewriting=[first, BROWN_MAPPING])
        index.match(BODY, rewriting=(second,))
    assert (first.asked, second.asked) == (1, 0)


def test_a_list_that_changes_is_looked_at_again(index: Index) -> None:
    """Only what cannot change is known by identity."""
    used = [BROWN_MAPPING]
    assert index.match(BODY, rewriting=used).error is not None
    used.append(CMU_MAPPING)
    assert index.match(BODY, rewriting=used).error is None


def test_many_sets_of_mappings_do_not_stay_in_memory(index: Index) -> None:
    """The ones used last are kept; the answers do not change."""
    for number in range(400):
        each = Mapping("m", CMU_MAPPING.source, CMU_MAPPING.operators, version=number + 1)
        assert index.match(BODY, rewriting=each).mapping == each.reference
    assert len(index._rewritings._plans) < 100


def test_a_root_in_another_namespace_is_shown_with_it(index: Index) -> None:
    """Its local name alone may be that of a mapping."""
    error = index.match(b"<c:cmu xmlns:c='urn:c'/>", rewriting=MAPPINGS).error
    assert "no mapping for the root element 'Q{urn:c}cmu'; there are brown, cmu" in str(error)


@pytest.mark.parametrize("wrong", ["mappings/", 7, [MAPPINGS]])
def test_what_is_no_mapping_is_refused(index: Index, wrong: Any) -> None:
    """A path, for example: the message says how files are read."""
    with pytest.raises(TypeError, match=r"expected a Mapping or Mappings, got .*Mappings\.load"):
        index.match(BODY, rewriting=wrong)


def test_an_unknown_word_for_documents_without_a_mapping_is_refused(index: Index) -> None:
    """A typing error would otherwise mean dead-letter."""
    wrong: Any = "as_is"
    with pytest.raises(ValueError, match="expected 'dead-letter' or 'as-is', got 'as_is'"):
        index.match(BODY, rewriting=MAPPINGS, unknown=wrong)
    with pytest.raises(ValueError, match="expected 'dead-letter' or 'as-is', got 'as_is'"):
        index.select(b"<other/>", "code", MAPPINGS, wrong)


def test_a_mapping_that_is_too_large_for_the_kernel_is_an_error_of_ours(index: Index) -> None:
    """With its name."""
    operators = [Upgrade("cmu/Course", (f"cmu/Course/{each}",)) for each in ("Title", "Day", "Time")]
    down = [Downgrade("cmu", (each.members[0],), "cmu/Course") for each in operators]
    moves = tuple(move for pair in zip(operators, down, strict=True) for move in pair)
    with pytest.raises(MappingError, match="the mapping 'deep' cannot be used: 1,200 operators move"):
        index.match(BODY, rewriting=Mapping("deep", tree(CMU), moves * 200))
