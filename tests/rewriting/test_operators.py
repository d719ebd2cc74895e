"""What each operator does to a schema tree and to a document, and the worked examples of the papers."""

from __future__ import annotations

from random import Random

import pytest

from tests.rewriting.images import image_of, name, shown, tree_of
from tests.rewriting.strategies import random_case
from twigcast.document import Document, Element, read
from twigcast.errors import MappingError
from twigcast.pattern import matches, parse
from twigcast.rewriting import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertEach,
    Mapping,
    Operator,
    Rename,
    SchemaTree,
    ToElement,
    Upgrade,
    apply,
)
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll, UpgradeAll, apply_all

COURSE = "faculty(department(course*(@code, @room, title, time?, location?, instructor*(name), TAs*)))"
IN = "faculty/department/course"


def paths(tree: SchemaTree) -> list[str]:
    """The paths of all nodes, with their cardinalities."""
    return [node.path_text + node.cardinality for node in tree.nodes()]


def course(inside: str, *operators: Operator, attributes: str = "") -> str:
    """The image of one course, without what is around it."""
    body = f"<faculty><department><course{attributes}>{inside}</course></department></faculty>"
    text = shown(image_of(COURSE, body, *operators))
    return text.removeprefix("<faculty><department>").removesuffix("</department></faculty>")


# Documents, on the fragments of Fig. 6.3


def test_rename() -> None:
    """An element or attribute gets another name and stays where it is."""
    renames = Rename(IN, name("class")), Rename(f"{IN}/@code", name("nr")), Rename(f"{IN}/TAs", name("TA"))
    assert course("x<TAs/>y", *renames, attributes=" room='1' code='7'") == (
        '<class room="1" nr="7">x<TA/>y</class>'
    )


def test_rename_of_an_attribute_takes_the_name_from_an_unknown_one() -> None:
    """An element has no two attributes of one name."""
    rename = Rename(f"{IN}/@code", name("nr"))
    assert course("", rename, attributes=" nr='stranger' code='7'") == '<course nr="7"/>'
    assert course("", rename, attributes=" nr='stranger'") == '<course nr="stranger"/>'


def test_to_element() -> None:
    """The new child stands before all content, behind those that were attributes before."""
    both = ToElement(f"{IN}/@room", name("room")), ToElement(f"{IN}/@code", name("nr"))
    assert course("x<TAs/>", *both, attributes=" code='7' room='1'") == (
        "<course><room>1</room><nr>7</nr>x<TAs/></course>"
    )


def test_to_element_of_an_empty_value() -> None:
    """There is an element, but no text node."""
    image = image_of(
        "c(@code)", "<c code=''/>", ToElement("c/@code", name("nr")), InsertAll("c/@code", (name("z"),))
    )
    assert shown(image) == "<c><nr/></c>"


def test_to_element_of_an_absent_attribute() -> None:
    """Nothing is made."""
    assert course("x", ToElement(f"{IN}/@code", name("nr"))) == "<course>x</course>"


def test_insert() -> None:
    """The members move into one made path, which is the last child."""
    insert = Insert(IN, (name("plan"), name("schedule")), (f"{IN}/time", f"{IN}/location"))
    assert course("<location>A</location>x<odd/><time>9</time><title/>", insert) == (
        "<course>x<odd/><title/><plan><schedule><location>A</location><time>9</time></schedule></plan></course>"
    )


def test_insert_each() -> None:
    """Each member gets a path of its own, in its place."""
    insert = InsertEach(IN, (name("staff"), name("p")), (f"{IN}/instructor", f"{IN}/TAs"))
    assert course("<TAs/>x<instructor/><title/>", insert) == (
        "<course><staff><p><TAs/></p></staff>x<staff><p><instructor/></p></staff><title/></course>"
    )


def test_insert_all() -> None:
    """All content moves, also text, strangers and comments, but not attributes; no content, no path."""
    insert = InsertAll(f"{IN}/instructor", (name("contact"), name("x")))
    assert course("<instructor a='1'>x<name/><odd/><!--c--></instructor><instructor/>", insert) == (
        '<course><instructor a="1"><contact><x>x<name/><odd/><!--c--></x></contact></instructor>'
        "<instructor/></course>"
    )


def test_upgrade() -> None:
    """The members stand behind their parent, in their order."""
    upgrade = Upgrade(IN, (f"{IN}/TAs", f"{IN}/time"))
    assert course("<TAs>1</TAs>x<time/><TAs>2</TAs><odd/>", upgrade) == (
        "<course>x<odd/></course><TAs>1</TAs><time/><TAs>2</TAs>"
    )


def test_upgrade_all() -> None:
    """All child elements move, strangers too; text and comments stay."""
    assert course("x<TAs/><!--c--><odd/>y", UpgradeAll(IN)) == "<course>x<!--c-->y</course><TAs/><odd/>"


def test_downgrade() -> None:
    """Each holder gets all members as its last children, and stands last."""
    downgrade = Downgrade(IN, (f"{IN}/TAs",), f"{IN}/instructor")
    assert course("<instructor>A</instructor><TAs>1</TAs><title/><instructor/><TAs>2</TAs>", downgrade) == (
        "<course><title/><instructor>A<TAs>1</TAs><TAs>2</TAs></instructor>"
        "<instructor><TAs>1</TAs><TAs>2</TAs></instructor></course>"
    )


def test_downgrade_without_members() -> None:
    """Holders stand last all the same, since a member could still have come."""
    downgrade = Downgrade(IN, (f"{IN}/TAs",), f"{IN}/instructor")
    assert course("<instructor/><title/>", downgrade) == "<course><title/><instructor/></course>"
    assert course("<title/>", downgrade) == "<course><title/></course>"


def test_exchange() -> None:
    """The holders take the place of the element, each with a copy of the rest before its content."""
    exchange = Exchange(IN, f"{IN}/instructor")
    assert course(
        "x<instructor>A</instructor><TAs/><instructor><name/></instructor>", exchange, attributes=" code='7'"
    ) == (
        '<instructor><course code="7">x<TAs/></course>A</instructor>'
        '<instructor><course code="7">x<TAs/></course><name/></instructor>'
    )


def test_hide() -> None:
    """An element goes with all that it contains; an attribute likewise."""
    assert course("<TAs><odd/></TAs>x", Hide(f"{IN}/TAs"), Hide(f"{IN}/@code"), attributes=" code='7'") == (
        "<course>x</course>"
    )


def test_hide_of_an_element_that_contains_itself() -> None:
    """All of its instances go."""
    assert shown(image_of("r(a(a))", "<r><a><a/></a>x<a/></r>", Hide("r/a"))) == "<r>x</r>"


# Schema trees


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (Rename("r/e", name("z")), ["r", "r/z*", "r/z/@x?", "r/z/a", "r/z/b*", "r/z/f*", "r/z/f/g"]),
        (Rename("r/e/@x", name("z")), ["r", "r/e*", "r/e/@z?", "r/e/a", "r/e/b*", "r/e/f*", "r/e/f/g"]),
        (ToElement("r/e/@x", name("z")), ["r", "r/e*", "r/e/z?", "r/e/a", "r/e/b*", "r/e/f*", "r/e/f/g"]),
        (
            Insert("r/e", (name("p"), name("q")), ("r/e/b", "r/e/a")),
            ["r", "r/e*", "r/e/@x?", "r/e/f*", "r/e/f/g", "r/e/p", "r/e/p/q", "r/e/p/q/a", "r/e/p/q/b*"],
        ),
        (
            InsertEach("r/e", (name("p"),), ("r/e/b",)),
            ["r", "r/e*", "r/e/@x?", "r/e/a", "r/e/p*", "r/e/p/b", "r/e/f*", "r/e/f/g"],
        ),
        (
            InsertAll("r/e", (name("p"),)),
            ["r", "r/e*", "r/e/@x?", "r/e/p", "r/e/p/a", "r/e/p/b*", "r/e/p/f*", "r/e/p/f/g"],
        ),
        (Upgrade("r/e", ("r/e/a",)), ["r", "r/e*", "r/e/@x?", "r/e/b*", "r/e/f*", "r/e/f/g", "r/a*"]),
        (UpgradeAll("r/e"), ["r", "r/e*", "r/e/@x?", "r/a*", "r/b*", "r/f*", "r/f/g"]),
        (
            Downgrade("r/e", ("r/e/a",), "r/e/f"),
            ["r", "r/e*", "r/e/@x?", "r/e/b*", "r/e/f+", "r/e/f/g", "r/e/f/a"],
        ),
        (
            Exchange("r/e", "r/e/f"),
            ["r", "r/f*", "r/f/e", "r/f/e/@x?", "r/f/e/a", "r/f/e/b*", "r/f/g"],
        ),
        (Hide("r/e/f"), ["r", "r/e*", "r/e/@x?", "r/e/a", "r/e/b*"]),
        (Hide("r/e/@x"), ["r", "r/e*", "r/e/a", "r/e/b*", "r/e/f*", "r/e/f/g"]),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, list) else "",
)
def test_the_image_of_a_schema(operator: Operator, expected: list[str]) -> None:
    """An operator does to the schema tree what it does to documents."""
    assert paths(apply_all(tree_of("r(e*(@x, a, b*, f*(g)))"), [operator])) == expected


def test_text_moves_with_all_content() -> None:
    """InsertAll leaves an element without text."""
    image = apply_all(tree_of("r(e)"), [InsertAll("r/e", (name("p"),))])
    assert (image["r/e"].has_text, image["r/e/+p"].has_text) == (False, True)


def test_loops_move_with_all_content() -> None:
    """An element that contains itself does so inside of the made path then."""
    image = apply_all(tree_of("r(a(b, a))"), [InsertAll("r/a", (name("p"),)), Rename("r/a", name("z"))])
    assert image.at(map(name, ["r", "z", "p", "z", "p", "b"])) is image["r/a/b"]
    assert image.at(map(name, ["r", "z", "b"])) is None


def test_made_keys_are_never_used_twice() -> None:
    """A second path of the same name has another key, also when the first one is gone."""
    insert = InsertAll("r", (name("p"),))
    image = apply_all(tree_of("r(a)"), [insert, insert, Hide("r/+p.2"), insert])
    assert [node.key for node in image.nodes()] == ["r", "r/+p.3"]


@pytest.mark.parametrize("seed", range(30))
def test_a_list_is_its_operators_one_after_the_other(seed: int) -> None:
    """The image of the first operators' image under the rest is the image under all."""
    mapping = random_case(Random(seed), 6).mapping
    at = seed % (len(mapping.operators) + 1)
    between = apply_all(mapping.source, mapping.operators[:at])
    assert paths(apply_all(between, mapping.operators[at:])) == paths(mapping.image)


@pytest.mark.parametrize("seed", range(60))
def test_elements_lie_where_the_image_schema_says(seed: int) -> None:
    """The label path of each known element of an image is the path of its node in the image schema."""
    case = random_case(Random(seed), 6, recursive=False)
    mapping, document = case.mapping, read(case.body)
    image = mapping.apply(document)
    keys = _source_keys(mapping.source, document)
    for node, origins in image.origins.items():
        key = keys.get(origins[0]) if isinstance(node, Element) else None
        if key is not None:
            labels, above = [], node
            while isinstance(above, Element):
                labels.append(QName(above.namespace, above.local))
                above = above.parent
            assert [step.label for step in mapping.image[key].path] == labels[::-1]


def _source_keys(tree: SchemaTree, document: Document) -> dict[object, str]:
    keys: dict[object, str] = {}
    waiting = [(document.root, tree.root)]
    while waiting:
        element, node = waiting.pop()
        keys[element] = node.key
        for child in element.children:
            if isinstance(child, Element):
                below = tree.child(node, QName(child.namespace, child.local))
                if below is not None:
                    waiting.append((child, below))
    return keys


# What cannot be applied


@pytest.mark.parametrize(
    ("operator", "code", "says"),
    [
        (Rename("r/z", name("y")), "place", "there is no 'r/z'; 'r' contains e, f, c"),
        (Rename("r/e", name("a b")), "operator", "'a b' is not a name"),
        (Rename("r/e/@x", name("xmlns")), "operator", "'xmlns' is not a name"),
        (Rename("r/e/@x", name("y")), "operator", "two attributes 'y': rename or hide the other one first"),
        (ToElement("r/e", name("y")), "operator", "'r/e' is not an attribute"),
        (Insert("r", (), ("r/e",)), "operator", "needs at least one name"),
        (Insert("r", (name("p"),), ()), "operator", "must be named"),
        (Insert("r", (name("p"),), ("r/e/a",)), "operator", "'r/e/a' is not a child of 'r'"),
        (InsertAll("r/e/@x", (name("p"),)), "operator", "make it an element first"),
        (Upgrade("r", ("r/e",)), "operator", "children of the root"),
        (Upgrade("r/e", ()), "operator", "must be named"),
        (Downgrade("r", ("r/e",), "r/e"), "operator", "cannot move into itself"),
        (Downgrade("r", (), "r/e"), "operator", "must be named"),
        (Exchange("r", "r/e/a"), "operator", "'r/e/a' is not a child of 'r'"),
        (Hide("r"), "operator", "the root cannot be hidden"),
        (Upgrade("r/c", ("r/c/d",)), "recursive", "'r/c', which can contain itself"),
        (UpgradeAll("r/c"), "recursive", "'r/c', which can contain itself"),
        (Insert("r/c", (name("p"),), ("r/c/d",)), "recursive", "'r/c', which can contain itself"),
        (InsertEach("r/c", (name("p"),), ("r/c/d",)), "recursive", "'r/c', which can contain itself"),
        (Exchange("r/c", "r/c/d"), "recursive", "'r/c', which can contain itself"),
        (Exchange("r", "r/c"), "recursive", "'r/c', which can contain itself"),
        (Downgrade("r/c", ("r/c/d",), "r/c/g"), "recursive", "'r/c', which can contain itself"),
        (Downgrade("r", ("r/e",), "r/c"), "recursive", "'r/c', which can contain itself"),
        (Rename("r/c/g/c", name("y")), "place", "the same place as 'r/c'"),
    ],
)
def test_what_cannot_be_applied_is_refused(operator: Operator, code: str, says: str) -> None:
    """The error has a code and says what is wrong and where."""
    with pytest.raises(MappingError, match=says) as caught:
        apply_all(tree_of("r(e*(@x, @y, a), f, c(d, g(c)))"), [operator])
    assert caught.value.code == code


def test_a_hidden_place_is_gone() -> None:
    """A later operator cannot name it, nor what was in it."""
    tree = tree_of("r(a(b))")
    apply(tree, Hide("r/a"))
    for key in ("r/a", "r/a/b"):
        with pytest.raises(MappingError, match="there is no"):
            apply(tree, Hide(key))


def test_recursive_members_may_move() -> None:
    """The outermost of elements that contain themselves moves with all it contains."""
    image = image_of("r(a(a), f)", "<r><a><a/></a><f/></r>", Downgrade("r", ("r/a",), "r/f"))
    assert shown(image) == "<r><f><a><a/></a></f></r>"


# Worked examples of the papers

QUERY = '/author[name="John"]/paper/title'
D1 = b"<author><name>John</name><article><title>XML</title></article></author>"
D2 = b"<article><title>XML</title><author><name>John</name></author></article>"


def test_one_query_for_two_schemas() -> None:
    """Neither document matches as it is; each does under its mapping."""
    first = Mapping("1", tree_of("author(name, article(title))"), (Rename("author/article", name("paper")),))
    second = Mapping(
        "2",
        tree_of("article(title, author(name))"),
        (Exchange("article", "article/author"), Rename("article", name("paper"))),
    )
    query = parse(QUERY)
    assert not matches(query, read(D1))
    assert not matches(query, read(D2))
    assert matches(query, first.apply(read(D1)))
    assert matches(query, second.apply(read(D2)))


FIGURE = """
univ(faculty*(department*(course*(@code, title, time, location, instructor*(name, email), TAs*))),
     author*(name, article*(title)))"""
FACULTY = "univ/faculty"
COURSE_AT = "univ/faculty/department/course"


def test_the_mapping_of_figure_6_3() -> None:
    """The paper's seven operators give its global schema."""
    image = apply_all(
        tree_of(FIGURE),
        [
            Exchange("univ/author", "univ/author/article"),
            UpgradeAll(FACULTY),
            Rename(f"{FACULTY}/department", name("dept")),
            ToElement(f"{COURSE_AT}/@code", name("code")),
            Insert(COURSE_AT, (name("schedule"),), (f"{COURSE_AT}/time", f"{COURSE_AT}/location")),
            InsertAll(f"{COURSE_AT}/instructor", (name("contact"),)),
            Downgrade(COURSE_AT, (f"{COURSE_AT}/TAs",), f"{COURSE_AT}/instructor"),
        ],
    )
    assert [node.path_text for node in image.nodes()] == [
        "univ",
        "univ/faculty",
        "univ/dept",
        "univ/dept/course",
        "univ/dept/course/code",
        "univ/dept/course/title",
        "univ/dept/course/schedule",
        "univ/dept/course/schedule/time",
        "univ/dept/course/schedule/location",
        "univ/dept/course/instructor",
        "univ/dept/course/instructor/contact",
        "univ/dept/course/instructor/contact/name",
        "univ/dept/course/instructor/contact/email",
        "univ/dept/course/instructor/TAs",
        "univ/article",
        "univ/article/author",
        "univ/article/author/name",
        "univ/article/title",
    ]


def test_three_authors_of_two_articles() -> None:
    """Fig. 6.4 and 6.5: three author trees in a row; the two Johns are not merged."""
    body = (
        "<r><article><title>XML</title><author>John</author><author>Mary</author></article>"
        "<article><title>SQL</title><author>John</author></article></r>"
    )
    image = image_of("r(article*(title, author*))", body, Exchange("r/article", "r/article/author"))
    xml, sql = (f"<article><title>{title}</title></article>" for title in ("XML", "SQL"))
    assert shown(image) == (
        f"<r><author>{xml}John</author><author>{xml}Mary</author><author>{sql}John</author></r>"
    )


@pytest.mark.parametrize(("number", "holds"), [("2", True), ("3", False)])
def test_children_around_their_holder(number: str, holds: bool) -> None:
    """Fig. 6.6: c comes before e, and d after it; both are in e in the image."""
    image = image_of(
        "a(b(c, e(@id), d))",
        f"<a><b><c/><e id='{number}'/><d/></b></a>",
        Downgrade("a/b", ("a/b/c", "a/b/d"), "a/b/e"),
    )
    assert matches(parse("/a/b/e[@id=2][.//c][.//d]"), image) is holds
