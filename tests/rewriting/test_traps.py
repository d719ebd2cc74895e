"""What the papers leave open or get wrong about trees, operators and documents, by the number of the trap.

Correct is what ``rewrite`` makes of the tree, and then the evaluator.  The traps of derivation, of the
compiled rewriter, of routing and of the pipeline are tested with these.
"""

from __future__ import annotations

import pytest

from experiments.engines.mapping.streaming import StartEvent, events
from tests.rewriting.images import image_of, name, shown, tree_of
from twigcast.document import Document, DocumentLimits, read
from twigcast.errors import DocumentError
from twigcast.pattern import matches, parse, select
from twigcast.rewriting import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertEach,
    Mapping,
    Rename,
    ToElement,
    Upgrade,
)
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll, UpgradeAll

ARTICLE = "r(article*(title, author*))"
EXCHANGE = Exchange("r/article", "r/article/author")


def holds(pattern: str, image: Document) -> bool:
    """Whether an image matches."""
    return matches(parse(pattern, {"p": "urn:p"}), image)


def test_trap_1_operators_have_an_order() -> None:
    """TAs are beside the contact or inside of it, as the list says."""
    schema, body = "course(TAs, instructor(name))", "<course><TAs/><instructor><name/></instructor></course>"
    contact = InsertAll("course/instructor", (name("contact"),))
    downgrade = Downgrade("course", ("course/TAs",), "course/instructor")
    beside = image_of(schema, body, contact, downgrade)
    inside = image_of(schema, body, downgrade, contact)
    assert shown(beside) == "<course><instructor><contact><name/></contact><TAs/></instructor></course>"
    assert shown(inside) == "<course><instructor><contact><name/><TAs/></contact></instructor></course>"


def test_trap_1_operators_mean_nodes_not_names() -> None:
    """A renamed node is still meant, and another one that has its name now is not."""
    image = image_of(
        "r(a, b)",
        "<r><a/><b/></r>",
        Rename("r/a", name("z")),
        Rename("r/b", name("a")),
        Rename("r/a", name("y")),
    )
    assert shown(image) == "<r><y/><a/></r>"


def test_trap_2_an_exchanged_element_is_the_first_child() -> None:
    """It is not a sibling."""
    image = image_of(ARTICLE, "<r><article><title/><author>J</author></article></r>", EXCHANGE)
    assert shown(image) == "<r><author><article><title/></article>J</author></r>"


def test_trap_3_an_exchange_makes_a_missing_holder() -> None:
    """An article without an author does not vanish."""
    image = image_of(ARTICLE, "<r><article><title/></article></r>", EXCHANGE)
    assert shown(image) == "<r><author><article><title/></article></author></r>"
    assert holds("//article/title", image)


def test_trap_3_a_made_holder_has_the_name_of_its_time() -> None:
    """Renamed before: the new name; renamed after: that, too."""
    body = "<r><article/></r>"
    rename = Rename("r/article/author", name("writer"))
    for operators in ((rename, EXCHANGE), (EXCHANGE, rename)):
        assert shown(image_of(ARTICLE, body, *operators)) == "<r><writer><article/></writer></r>"


def test_trap_4_a_downgrade_makes_a_missing_holder_and_copies() -> None:
    """Without an instructor one is made; with two, each has the TAs."""
    schema = "course(TAs*, instructor*)"
    downgrade = Downgrade("course", ("course/TAs",), "course/instructor")
    none = image_of(schema, "<course><TAs/></course>", downgrade)
    assert shown(none) == "<course><instructor><TAs/></instructor></course>"
    two = image_of(schema, "<course><TAs/><instructor>1</instructor><instructor/></course>", downgrade)
    assert shown(two) == ("<course><instructor>1<TAs/></instructor><instructor><TAs/></instructor></course>")


def test_trap_5_an_image_may_have_several_roots() -> None:
    """``/author`` means any of them, and orders grow over all."""
    body = "<!--c--><article><author>1</author><title/><author>2</author></article><?end x?>"
    image = image_of("article(title, author*)", body, Exchange("article", "article/author"))
    assert shown(image) == (
        "<!--c--><author><article><title/></article>1</author>"
        "<author><article><title/></article>2</author><?end x?>"
    )
    assert holds("/author[text()='2']", image)
    assert not holds("/article", image)
    assert [node.order for node in select(parse("/author"), image)] == [2, 6]


def test_trap_6_an_insert_without_members_makes_nothing() -> None:
    """``not(schedule)`` can hold."""
    insert = Insert("course", (name("schedule"),), ("course/time",))
    image = image_of("course(time?)", "<course>x</course>", insert)
    assert not holds("//course[schedule]", image)
    assert holds("//course[not(schedule)]", image)


def test_trap_7_one_insert_makes_one_path() -> None:
    """Day and time are in the same schedule."""
    insert = Insert("course", (name("schedule"),), ("course/day", "course/time"))
    image = image_of("course(day, time)", "<course><day/><time/></course>", insert)
    assert holds("course[schedule[day][time]]", image)


def test_trap_8_insert_takes_elements_and_insert_all_takes_text_too() -> None:
    """They are two operators."""
    body = "<a>x<b/></a>"
    assert shown(image_of("a(b)", body, Insert("a", (name("p"),), ("a/b",)))) == "<a>x<p><b/></p></a>"
    assert shown(image_of("a(b)", body, InsertAll("a", (name("p"),)))) == "<a><p>x<b/></p></a>"


def test_trap_9_text_stays_when_all_children_move() -> None:
    """It does not become the parent's."""
    body = "<u><faculty>Science<department/> </faculty></u>"
    image = image_of("u(faculty(department))", body, UpgradeAll("u/faculty"))
    assert shown(image) == "<u><faculty>Science </faculty><department/></u>"


def test_trap_10_text_around_a_moved_child_is_one_node() -> None:
    """Unless a comment or a processing instruction parts it."""
    operator = Upgrade("a/b", ("a/b/c",))
    assert holds("//b[text()='xy']", image_of("a(b(c))", "<a><b>x<c/>y</b></a>", operator))
    for apart in ("<!---->", "<?pi?>"):
        image = image_of("a(b(c))", f"<a><b>x<c/>{apart}y</b></a>", operator)
        assert not holds("//b[text()='xy']", image)
        assert holds("//b[text()='x'][text()='y']", image)


def test_trap_13_only_the_named_children_move() -> None:
    """A time that an Upgrade brought up is another node than the course's own."""
    image = image_of(
        "course(time, section(time))",
        "<course><time>1</time><section><time>2</time></section></course>",
        Upgrade("course/section", ("course/section/time",)),
        Insert("course", (name("schedule"),), ("course/time",)),
    )
    assert shown(image) == "<course><section/><time>2</time><schedule><time>1</time></schedule></course>"


def test_trap_14_an_attribute_becomes_an_element_of_any_name_at_any_place() -> None:
    """It is placed like an element; an attribute can also be renamed."""
    image = image_of(
        "r(course(@nr, @x, info))",
        "<r><course nr='7' x='1'><info/></course></r>",
        ToElement("r/course/@nr", name("code")),
        Downgrade("r/course", ("r/course/@nr",), "r/course/info"),
        Rename("r/course/@x", name("y")),
    )
    assert shown(image) == '<r><course y="1"><info><code>7</code></info></course></r>'


def test_trap_15_a_path_below_the_root_takes_its_role() -> None:
    """The root is renamed and its content moves down; its attributes stay on top."""
    image = image_of(
        "Course(@nr, title)",
        "<Course nr='7'><title/></Course>",
        Rename("Course", name("catalogue")),
        InsertAll("Course", (name("course"),)),
    )
    assert shown(image) == '<catalogue nr="7"><course><title/></course></catalogue>'


def test_trap_16_an_unmatched_element_stays_unless_it_is_hidden() -> None:
    """A course's own name is found by ``//name``."""
    schema, body = "course(name)", "<course><name/></course>"
    assert holds("//name", image_of(schema, body))
    assert not holds("//name", image_of(schema, body, Hide("course/name")))


def test_trap_17_string_values_are_those_of_the_image() -> None:
    """The author contains the title now."""
    body = "<r><article><title>XML</title><author>John</author></article></r>"
    image = image_of(ARTICLE, body, EXCHANGE)
    assert not holds("//author[. = 'John']", image)
    assert holds("//author[. = 'XMLJohn']", image)
    assert holds("//author[text() = 'John']", image)


def test_trap_18_positions_are_those_of_the_image() -> None:
    """An inserted path is the last child."""
    insert = Insert("course", (name("p"),), ("course/a",))
    image = image_of("course(a, b)", "<course><a/><b/></course>", insert)
    assert holds("/course/*[1][self::b]", image)
    assert holds("/course/*[2]/a", image)


def test_trap_19_copies_count_and_are_one_part() -> None:
    """Two instructors have the TAs, which the publisher wrote once."""
    body = "<course><TAs>T</TAs><instructor/><instructor/></course>"
    image = image_of(
        "course(TAs, instructor*)", body, Downgrade("course", ("course/TAs",), "course/instructor")
    )
    assert holds("/course[count(.//TAs) = 2]", image)
    parts = {source for node in select(parse("//TAs"), image) for source in image.sources(node)}
    assert [body[part.start : part.end] for part in parts] == ["<TAs>T</TAs>"]


def test_trap_22_values_are_those_of_the_parser() -> None:
    """Defaults count, white space is normalised, and an empty value has no text node."""
    document = read(
        b"<!DOCTYPE c [<!ATTLIST c d CDATA 'given'>]><c nr=' a\n b' code=''/>",
    )
    mapping = Mapping(
        "test",
        tree_of("c(@d, @nr, @code)"),
        tuple(ToElement(f"c/@{each}", name(each)) for each in ("d", "nr", "code")),
    )
    image = mapping.apply(document)
    assert shown(image) == "<c><d>given</d><nr> a  b</nr><code/></c>"
    assert holds("c[code = '']", image)
    assert not holds("c[code[text()]]", image)


def test_trap_23_the_attribute_is_gone() -> None:
    """A pattern that was written for the source does not match the image."""
    image = image_of("c(@code)", "<c code='7'/>", ToElement("c/@code", name("code")))
    assert not holds("c[@code]", image)
    assert holds("c[code = 7]", image)


def test_trap_24_names_have_namespaces() -> None:
    """A renamed element has the namespace of its new name; strangers keep theirs."""
    image = image_of(
        "p:Invoice(p:ID)",
        "<i:Invoice xmlns:i='urn:p'><i:ID/><ID/><ID xmlns='urn:x'/></i:Invoice>",
        Rename("Q{urn:p}Invoice/Q{urn:p}ID", name("number")),
        Rename("Q{urn:p}Invoice", QName("urn:p", "invoice")),
    )
    assert shown(image) == "<{urn:p}invoice><number/><ID/><{urn:x}ID/></{urn:p}invoice>"
    assert holds("/p:invoice/number", image)
    assert image.root.prefix == "i"
    assert image.root.children[0].prefix == ""  # type: ignore[union-attr]


def test_trap_25_documents_need_not_be_valid() -> None:
    """An element where the schema has none is a stranger; too many members all move."""
    insert = Insert("course", (name("schedule"),), ("course/time",))
    image = image_of(
        "course(time?)", "<course><x><time>0</time></x><time>1</time><time>2</time></course>", insert
    )
    assert shown(image) == (
        "<course><x><time>0</time></x><schedule><time>1</time><time>2</time></schedule></course>"
    )
    assert image.strangers == 1


def test_trap_26_an_element_in_itself_is_renamed_everywhere() -> None:
    """Each block is the same node, however deep."""
    image = image_of(
        "nitf(block(@id, media(block)))",
        "<nitf><block id='1'><media><block id='2'>x</block></media></block></nitf>",
        Rename("nitf/block", name("part")),
        ToElement("nitf/block/@id", name("nr")),
        InsertAll("nitf/block", (name("body"),)),
    )
    assert shown(image) == (
        "<nitf><part><body><nr>1</nr><media><part><body><nr>2</nr>x</body></part></media></body></part></nitf>"
    )


def test_trap_27_copies_are_bounded() -> None:
    """A large author in many articles is refused before it is copied."""
    body = f"<r><article>{'x' * 500_000}{'<author/>' * 10_000}</article></r>"
    with pytest.raises(DocumentError, match="more than") as caught:
        image_of(ARTICLE, body, EXCHANGE)
    assert caught.value.code == "rewriting-expansion"


def test_trap_28_an_image_may_be_deeper_than_its_source() -> None:
    """The limit on depth is one of the source."""
    depth = DocumentLimits().depth
    schema = "a(a)"
    body = "<a>" * depth + "x" + "</a>" * depth
    image = image_of(schema, body, InsertAll("a", (name("p"), name("q"))))
    steps = sum(isinstance(event, StartEvent) for event in events(image))
    assert steps == 3 * depth
    assert matches(parse("//q[text() = 'x']"), image)


def test_trap_30_an_image_knows_the_ranges_of_the_source() -> None:
    """A part is cut out of the publisher's bytes."""
    body = "<r><article><title>XML</title><author>John</author></article></r>"
    image = image_of(ARTICLE, body, EXCHANGE, Rename("r/article", name("paper")))
    (paper,) = select(parse("//author/paper"), image)
    (source,) = image.sources(paper)
    assert body[source.start : source.end] == body[3:-4]


def test_trap_37_insert_gathers_and_insert_each_does_not() -> None:
    """Two instructors with one name each, or one with two."""
    schema, body = "c(i*)", "<c><i>A</i><i>B</i></c>"
    together = image_of(schema, body, Insert("c", (name("instructor"),), ("c/i",)))
    each = image_of(schema, body, InsertEach("c", (name("instructor"),), ("c/i",)))
    for image, both, number in ((together, True, 1), (each, False, 2)):
        assert holds("c/instructor[i='A'][i='B']", image) is both
        assert holds(f"c[count(instructor) = {number}]", image)


def test_trap_38_pairs_get_lost_where_a_repeated_node_is_dissolved() -> None:
    """Time and room of two sections are found together: by definition."""
    image = image_of(
        "course(section*(time, room))",
        "<course><section><time>9</time><room>B</room></section>"
        "<section><time>8</time><room>A</room></section></course>",
        UpgradeAll("course/section"),
    )
    assert holds("course[time='9'][room='A']", image)
