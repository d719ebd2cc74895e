"""Operators that are derived from a matching."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rewriting.random_matchings import ends_at_images, random_document, random_matching
from twigcast.document import Attribute, Element, Node, read
from twigcast.errors import MappingError
from twigcast.pattern import matches, parse
from twigcast.rewriting import Mapping, SchemaTree, derive, shown_operator
from twigcast.rewriting.operators import apply_all
from twigcast.schema import read_dtd


def tree(dtd: str) -> SchemaTree:
    """The tree of a DTD, in which names that are not declared are elements with text."""
    declared = set(re.findall(r"<!ELEMENT (\w+)", dtd))
    models = " ".join(re.findall(r"<!ELEMENT \w+ (\([^>]*\))", dtd)).replace("#PCDATA", "")
    leaves = sorted(set(re.findall(r"\w+", models)) - declared)
    return SchemaTree.of(
        read_dtd((dtd + "".join(f"<!ELEMENT {name} (#PCDATA)>" for name in leaves)).encode())
    )


def lines(source: SchemaTree, target: SchemaTree, pairs: dict[str, str]) -> list[str]:
    return [shown_operator(operator) for operator in derive(source, target, pairs)]


def image_matches(
    source: SchemaTree, target: SchemaTree, pairs: dict[str, str], body: str, xpath: str
) -> bool:
    mapping = Mapping("test", source, derive(source, target, pairs))
    return matches(parse(xpath), mapping.apply(read(body.encode())))


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 10**9))
def test_every_matched_node_ends_at_the_path_of_its_image(seed: int) -> None:
    """Whatever the two trees and the pairs are."""
    source, target, pairs = random_matching(random.Random(seed))
    operators = derive(source, target, pairs)
    assert ends_at_images(apply_all(source, operators), pairs, source)
    assert derive(source, target, dict(reversed(pairs.items()))) == operators


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**9))
def test_every_matched_element_of_a_document_ends_at_the_path_of_its_image(seed: int) -> None:
    """Also where elements are missing or repeated."""
    draw = random.Random(seed)
    source, target, pairs = random_matching(draw)
    root = source.root.key
    image = Mapping("test", source, derive(source, target, pairs)).apply(
        read(random_document(draw, source).encode())
    )
    waiting = [child for child in image.children if isinstance(child, Element)]
    while waiting:
        element = waiting.pop()
        waiting += [child for child in element.children if isinstance(child, Element)]
        place = "".join(map(place_of, image.origins.get(element, ())))
        if place in pairs and not (place == root and "/" in pairs[place]):
            assert place_of(element) == pairs[place]


def place_of(node: Node) -> str:
    if isinstance(node, Attribute):
        return f"{place_of(node.parent)}/@{node.local}"
    names = []
    while isinstance(node, Element):
        names.append(node.local)
        node = node.parent
    return "/".join(reversed(names))


UNIVERSITY = tree(
    "<!ELEMENT university (faculty*, author*)>"
    "<!ELEMENT faculty (department*)>"
    "<!ELEMENT department (course*)>"
    "<!ELEMENT course (title, time, location, instructor, TAs)><!ATTLIST course code CDATA #IMPLIED>"
    "<!ELEMENT instructor (name, email)>"
    "<!ELEMENT author (name, article*)>"
    "<!ELEMENT article (title)>"
)
GLOBAL_UNIVERSITY = tree(
    "<!ELEMENT university (faculty*, dept*, article*)>"
    "<!ELEMENT faculty EMPTY>"
    "<!ELEMENT dept (course*)>"
    "<!ELEMENT course (code, title, schedule, instructor)>"
    "<!ELEMENT schedule (time, location)>"
    "<!ELEMENT instructor (contact, TAs)>"
    "<!ELEMENT contact (name, email)>"
    "<!ELEMENT article (title, author)>"
    "<!ELEMENT author (name)>"
)
COURSE, GLOBAL_COURSE = "university/faculty/department/course", "university/dept/course"
FIGURE = {
    "university": "university",
    "university/faculty": "university/faculty",
    "university/faculty/department": "university/dept",
    COURSE: GLOBAL_COURSE,
    f"{COURSE}/@code": f"{GLOBAL_COURSE}/code",
    f"{COURSE}/title": f"{GLOBAL_COURSE}/title",
    f"{COURSE}/time": f"{GLOBAL_COURSE}/schedule/time",
    f"{COURSE}/location": f"{GLOBAL_COURSE}/schedule/location",
    f"{COURSE}/instructor": f"{GLOBAL_COURSE}/instructor",
    f"{COURSE}/instructor/name": f"{GLOBAL_COURSE}/instructor/contact/name",
    f"{COURSE}/instructor/email": f"{GLOBAL_COURSE}/instructor/contact/email",
    f"{COURSE}/TAs": f"{GLOBAL_COURSE}/instructor/TAs",
    "university/author": "university/article/author",
    "university/author/name": "university/article/author/name",
    "university/author/article": "university/article",
    "university/author/article/title": "university/article/title",
}


def test_the_figure_of_the_papers_gives_its_operators() -> None:
    """Fig. 6.3 of the thesis: exactly these seven, of which Insert+ stands before Downgrade."""
    found = lines(UNIVERSITY, GLOBAL_UNIVERSITY, FIGURE)
    assert sorted(found) == sorted(
        [
            "Exchange university/author article",
            "Upgrade+ university/faculty",
            "Rename university/faculty/department dept",
            f"ToElement {COURSE}/@code code",
            f"Insert {COURSE} schedule {{time, location}}",
            f"Insert+ {COURSE}/instructor contact",
            f"Downgrade {COURSE} {{TAs}} instructor",
        ]
    )
    assert found.index(f"Insert+ {COURSE}/instructor contact") < found.index(
        f"Downgrade {COURSE} {{TAs}} instructor"
    )


def test_one_wrapper_is_made_for_all_places_below_it() -> None:
    """Trap 7: two pairs below schedule give one schedule with both."""
    source = tree("<!ELEMENT r (day?, time?)>")
    target = tree("<!ELEMENT r (schedule?)><!ELEMENT schedule (days?, time?)>")
    pairs = {"r/day": "r/schedule/days", "r/time": "r/schedule/time"}
    assert "Insert+ r schedule" in lines(source, target, pairs)
    assert image_matches(source, target, pairs, "<r><day>M</day><time>9</time></r>", "//schedule[days][time]")


def test_places_several_levels_away_are_reached() -> None:
    """Trap 11: r/a/b/c to r/c."""
    source = tree("<!ELEMENT r (a)><!ELEMENT a (b)><!ELEMENT b (c)>")
    target = tree("<!ELEMENT r (a, c)><!ELEMENT a (b)>")
    pairs = {"r/a": "r/a", "r/a/b": "r/a/b", "r/a/b/c": "r/c"}
    assert lines(source, target, pairs) == ["Upgrade+ r/a/b", "Upgrade r/a {r/a/b/c}"]


def test_nodes_that_are_not_neighbours_are_exchanged() -> None:
    """Trap 12: an unmatched node stands between the two."""
    source = tree("<!ELEMENT r (a*)><!ELEMENT a (x*)><!ELEMENT x (b*)>")
    target = tree("<!ELEMENT r (b*)><!ELEMENT b (a*)>")
    pairs = {"r/a": "r/b/a", "r/a/x/b": "r/b"}
    assert lines(source, target, pairs) == ["Upgrade+ r/a/x", "Exchange r/a r/a/x/b"]
    body = "<r><a><x><b>1</b><b>2</b></x></a></r>"
    assert image_matches(source, target, pairs, body, "/r[count(b/a) = 2]")


def test_only_the_matched_place_is_taken_where_two_have_its_name() -> None:
    """Trap 13: the time of a section comes up to the course, but only the course's own time is matched."""
    source = tree("<!ELEMENT course (time?, section*)><!ELEMENT section (time?, room?)>")
    target = tree("<!ELEMENT course (schedule?, hour*)><!ELEMENT schedule (time?)>")
    pairs = {"course/time": "course/schedule/time", "course/section/time": "course/hour"}
    body = "<course><time>9</time><section><time>11</time></section></course>"
    assert image_matches(
        source, target, pairs, body, "/course[schedule[time='9'][not(time='11')]][hour='11']"
    )


def test_attributes_become_elements_at_any_place() -> None:
    """Trap 14: with the name of the global place, and then moved like elements."""
    source = tree("<!ELEMENT r (course*)><!ELEMENT course (title)><!ATTLIST course nr CDATA #IMPLIED>")
    target = tree("<!ELEMENT r (course*)><!ELEMENT course (title, id)><!ELEMENT id (code)>")
    pairs = {"r/course": "r/course", "r/course/@nr": "r/course/id/code"}
    assert lines(source, target, pairs) == [
        "ToElement r/course/@nr code",
        "Insert r/course id {@nr}",
    ]
    assert image_matches(
        source, target, pairs, '<r><course nr="7"><title/></course></r>', "//course[id/code='7'][not(@nr)]"
    )


def test_an_attribute_gets_the_name_of_a_global_attribute() -> None:
    """Trap 14: attribute to attribute of the same element."""
    source = tree("<!ELEMENT r (c)><!ATTLIST c nr CDATA #IMPLIED>")
    target = tree("<!ELEMENT r (c)><!ATTLIST c id CDATA #IMPLIED>")
    assert lines(source, target, {"r/c": "r/c", "r/c/@nr": "r/c/@id"}) == ["Rename r/c/@nr id"]


def test_a_root_that_belongs_further_down_gets_a_path_above_it() -> None:
    """Trap 15: the content of the root goes into the made path, and the root is the global root."""
    source = tree("<!ELEMENT Course (Title)><!ATTLIST Course nr CDATA #IMPLIED>")
    target = tree("<!ELEMENT catalogue (course+)><!ELEMENT course (code?, title?)>")
    pairs = {
        "Course": "catalogue/course",
        "Course/Title": "catalogue/course/title",
        "Course/@nr": "catalogue/course/code",
    }
    assert lines(source, target, pairs) == [
        "ToElement Course/@nr code",
        "Insert+ Course course",
        "Rename Course catalogue",
        "Rename Course/Title title",
    ]
    body = '<Course nr="7"><Title>XML</Title></Course>'
    assert image_matches(source, target, pairs, body, "/catalogue/course[code='7'][title='XML']")


def test_each_gets_a_wrapper_of_its_own_where_the_place_repeats() -> None:
    """Trap 37: two instructors are not one instructor with two names."""
    source = tree("<!ELEMENT course (Instructor*)>")
    target = tree("<!ELEMENT course (instructor*)><!ELEMENT instructor (name*, email?)>")
    pairs = {"course/Instructor": "course/instructor/name"}
    assert lines(source, target, pairs)[0] == "InsertEach course instructor {Instructor}"
    body = "<course><Instructor>A</Instructor><Instructor>B</Instructor></course>"
    assert image_matches(source, target, pairs, body, "/course[count(instructor) = 2]")
    assert not image_matches(source, target, pairs, body, "//instructor[name='A'][name='B']")


def test_what_an_element_contains_stays_with_it_in_a_wrapper_of_its_own() -> None:
    """A repeated element with an attribute, both mapped into a place that repeats: values are not mixed."""
    source = tree("<!ELEMENT job (town*)><!ELEMENT town (#PCDATA)><!ATTLIST town land CDATA #IMPLIED>")
    target = tree("<!ELEMENT job (location*)><!ELEMENT location (city?, country?)>")
    pairs = {"job/town": "job/location/city", "job/town/@land": "job/location/country"}
    assert "InsertEach job location {town}" in lines(source, target, pairs)
    body = '<job><town land="DE">Ulm</town><town land="FR">Nice</town></job>'
    assert image_matches(source, target, pairs, body, "//location[city='Nice'][country='FR']")
    assert not image_matches(source, target, pairs, body, "//location[city='Ulm'][country='FR']")


def test_a_longer_path_is_one_operator() -> None:
    """Operators that make one element inside of another are joined, and so are those of siblings."""
    source = tree("<!ELEMENT r (x?, a?, b?)>")
    target = tree("<!ELEMENT r (x?, one?)><!ELEMENT one (two?)><!ELEMENT two (a?, b?)>")
    pairs = {"r/a": "r/one/two/a", "r/b": "r/one/two/b"}
    assert lines(source, target, pairs) == ["Insert r one/two {a, b}"]


def test_moves_out_of_and_into_one_element_are_joined() -> None:
    """Renaming does not part them."""
    source = tree("<!ELEMENT r (p?, q?)><!ELEMENT p (a?, b?, c?)>")
    target = tree("<!ELEMENT r (q?)><!ELEMENT q (A?, B?)>")
    pairs = {"r/q": "r/q", "r/p/a": "r/q/A", "r/p/b": "r/q/B"}
    assert lines(source, target, pairs) == [
        "Upgrade r/p {a, b}",
        "Downgrade r {r/p/a, r/p/b} q",
        "Rename r/p/a A",
        "Rename r/p/b B",
    ]


def test_text_is_not_taken_into_a_wrapper() -> None:
    """All children of an element with text move by Insert, since Insert+ would take the text as well."""
    source = tree("<!ELEMENT r (#PCDATA|a)*>")
    target = tree("<!ELEMENT r (w?)><!ELEMENT w (a*)>")
    assert lines(source, target, {"r/a": "r/w/a"}) == ["Insert r w {a}"]


def test_several_places_share_a_global_place() -> None:
    """Each is renamed and moved; InsertEach takes all of them."""
    source = tree("<!ELEMENT course (fall?, winter?)>")
    target = tree("<!ELEMENT course (instructor*)><!ELEMENT instructor (name?)>")
    pairs = {"course/fall": "course/instructor/name", "course/winter": "course/instructor/name"}
    assert lines(source, target, pairs)[0] == "InsertEach course instructor {fall, winter}"


@pytest.mark.parametrize(
    ("pairs", "name"),
    [
        ({"r/a": "t/x", "r/b": "t/x", "r/c": "t/x/y"}, "r/b"),
        ({"r/a": "t", "r/b": "t"}, "r/b"),
        ({"r/a": "t/x/@k"}, "r/a"),
        ({"r/a/@k": "t/x/@k"}, "r/a/@k"),
        ({"r": "t/x", "r/@n": "t/x/@k"}, "r/@n"),
    ],
)
def test_contradictions_are_refused(pairs: dict[str, str], name: str) -> None:
    """A shared place with a place below it, two roots, an element as an attribute, a moved attribute."""
    source = tree(
        "<!ELEMENT r (a?, b?, c?)><!ATTLIST r n CDATA #IMPLIED>"
        "<!ELEMENT a EMPTY><!ATTLIST a k CDATA #IMPLIED>"
    )
    target = tree("<!ELEMENT t (x?)><!ELEMENT x (y?)><!ATTLIST x k CDATA #IMPLIED>")
    with pytest.raises(MappingError) as caught:
        derive(source, target, pairs)
    assert (caught.value.code, caught.value.name) == ("matching", name)


def test_an_unknown_place_is_refused() -> None:
    """A path that leads nowhere in its schema."""
    source = tree("<!ELEMENT r (a)>")
    with pytest.raises(MappingError) as caught:
        derive(source, source, {"r/b": "r/a"})
    assert (caught.value.code, caught.value.name) == ("place", "r/b")


def test_an_element_that_can_contain_itself_cannot_be_rearranged() -> None:
    """It can be renamed, but nothing can move out of it."""
    source = tree("<!ELEMENT r (block*)><!ELEMENT block (p?, block*)>")
    target = tree("<!ELEMENT r (part*, q*)><!ELEMENT part (p?)>")
    assert lines(source, target, {"r/block": "r/part"}) == ["Rename r/block part"]
    with pytest.raises(MappingError) as caught:
        derive(source, target, {"r/block": "r/part", "r/block/p": "r/q"})
    assert caught.value.code == "recursive"


def test_an_unmatched_root_gives_way_to_the_global_root() -> None:
    """A child of the root that is to be the root takes its place."""
    source = tree("<!ELEMENT feed (head?, catalogue)><!ELEMENT catalogue (course*)>")
    target = tree("<!ELEMENT catalogue (course*)>")
    pairs = {"feed/catalogue": "catalogue", "feed/catalogue/course": "catalogue/course"}
    assert lines(source, target, pairs) == ["Exchange feed catalogue"]
    body = "<feed><head/><catalogue><course>1</course></catalogue></feed>"
    assert image_matches(source, target, pairs, body, "/catalogue/course")
