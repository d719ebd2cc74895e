"""Why a pattern matches, or where it stops."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.pattern.strategies import NAMESPACES, document, general_pattern, pattern
from twigcast.document import Document, read
from twigcast.errors import EvaluationError, PatternError
from twigcast.pattern import explain, matches, parse
from twigcast.pattern.explaining.explanation import PredicateExplanation

BODY = b"<nitf><body><p lang='de'>x<em/></p><p>y</p></body></nitf>"


def test_the_example_of_the_module() -> None:
    """Counts for each step and predicate, an example of each, and where it stopped."""
    assert str(explain(parse("/nitf/body//p[@lang='en'][em]/person"), read(BODY))).splitlines() == [
        "✗ /nitf/body//p[@lang='en'][em]/person",
        "  ✓ /nitf            1 of 1   /nitf",
        "  ✓ /body            1 of 1   /nitf/body",
        "  ✗ //p              0 of 2   /nitf/body/p[1]   ← stopped here",
        "      ✗ @lang='en'   0 of 2   found 'de'",
        "      ✓ em           1 of 2",
        "  · /person",
    ]


def test_a_match_has_an_example() -> None:
    """A pattern that matches shows where."""
    found = explain(parse("//p[em]/@lang"), read(BODY))
    assert found.matched
    assert [step.example for step in found.alternatives[0].steps] == [
        "/nitf/body/p[1]",
        "/nitf/body/p[1]/@lang",
    ]
    assert found.alternatives[0].stopped is None


def test_a_filter_of_the_document_is_a_step() -> None:
    """A condition on the document itself stands before the steps."""
    found = explain(parse("/a/../nitf"), read(BODY))
    assert not found.matched
    assert found.alternatives[0].stopped == "/"
    assert [step.reached for step in found.alternatives[0].steps] == [True, False]


def test_a_name_that_is_not_there() -> None:
    """A step that leads nowhere says so."""
    assert "✗ //b   none   ← stopped here" in str(explain(parse("//b"), read(BODY)))


def test_a_union_is_explained_one_by_one() -> None:
    """Each alternative stops for itself."""
    found = explain(parse("//p | //q"), read(BODY))
    assert [(each.path, each.selected, each.stopped) for each in found.alternatives] == [
        ("//p", 2, None),
        ("//q", 0, "//q"),
    ]


def test_a_dictionary_is_json() -> None:
    """Machines get the same as people."""
    found = explain(parse("//p[em]"), read(BODY))
    assert json.loads(json.dumps(found.to_dict()))["alternatives"][0]["steps"][0] == {
        "step": "//p",
        "reached": True,
        "found": 2,
        "kept": 1,
        "example": "/nitf/body/p[1]",
        "predicates": [
            {
                "predicate": "em",
                "held": 1,
                "asked": 2,
                "note": None,
                "values": [],
                "more": 0,
                "hint": None,
                "parts": [],
            }
        ],
        "hint": None,
    }


def test_explains_what_the_evaluator_finds() -> None:
    """On random cases, the outcome is the evaluator's, and a failure has a place."""
    random = Random(11)
    for _ in range(40):
        tree = read(document(random))
        for _ in range(4):
            try:
                each = parse(random.choice([pattern, general_pattern])(random).ours, NAMESPACES)
            except PatternError:
                continue
            found = explain(each, tree)
            assert found.matched == matches(each, tree)
            assert all((part.stopped is None) == bool(part.selected) for part in found.alternatives)
            assert str(found)


LINES = read(
    b"<order lang='fr'><id>abc</id><line><price>45.5</price><quantity>two</quantity></line>"
    b"<line><price>7</price></line><note xml:lang='de'> Some\n text </note></order>"
)
INVOICE = read(b"<u:Invoice xmlns:u='urn:u'><u:ID>7</u:ID></u:Invoice>")


def predicate(text: str, document: Document = LINES) -> PredicateExplanation:
    """The explanation of the last predicate of the only path of a pattern that does not match."""
    found = explain(parse(text), document)
    assert not found.matched
    [alternative] = found.alternatives
    return [each for step in alternative.steps for each in step.predicates][-1]


def step_hint(text: str, document: Document = LINES, namespaces: dict[str, str] | None = None) -> str | None:
    """The hint of the step at which the only path of a pattern stops."""
    [alternative] = explain(parse(text, namespaces), document, namespaces=namespaces).alternatives
    return next(step.hint for step in alternative.steps if step.step == alternative.stopped)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("/order[@lang='en']", "found 'fr'"),
        ("//price[. > 100]", "found 45.5, 7"),
        ("//line[price > 100]", "found 45.5, 7"),
        ("/order[count(line) > 3]", "there are 2"),
        ("//line[count(price) > 3]", "there is 1"),
        ("/order[count(lines) > 3]", "there are none"),
        ("/order[contains(id, 'x')]", "the id is 'abc'"),
        ("/order[starts-with(id, 'x')]", "the id is 'abc'"),
        ("/order[string-length(id) > 5]", "the length is 3"),
        ("//line[cost > 5]", "no cost here"),
        ("/order[line/cost]", "there is line, but no cost in it"),
        ("/order[line/@cost]", "there is line, but no @cost in it"),
        ("/order[line[price > 50]/quantity]", "no line with price>50: found 45.5, 7"),
        ("/order[not(id)]", "there is one at /order/id"),
        ("/order[not(id = 'abc')]", "found 'abc'"),
        ("//line[3]", "there are only 2"),
        ("//line[last() = 3]", "there are 2"),
        ("//line[price * 2 > 100]", "found 91, 14"),
        ("//line[price * quantity > 100]", "found NaN: quantity is 'two'"),
        ("//line[price * cost > 100]", "found NaN: no cost here"),
        ("//line[price > /order/id]", "price is 45.5, 7, /order/id is 'abc'"),
        ("//line[@date > '2024-01-01']", "no @date here"),
        ("//id[. > '2024-01-01']", "found 'abc' (no date)"),
        ("//price[. > '20240101']", "found 45.5, 7"),
        ("/order[ends-with(id, 'x')]", "the id is 'abc'"),
        ("//id[ends-with(., 'x')]", "the text is 'abc'"),
        ("/order[floor(id) = 3]", "found NaN: id is 'abc'"),
        ("//note[lang('en')]", "the language is 'de'"),
        ("//id[lang('en')]", "no xml:lang here"),
        ("//line[/order/cost]", "there is order, but no cost in it"),
        ("//line[preceding-sibling::id = 'x']", "found 'abc'"),
        ("//line/following-sibling::note[. = 'x']", "found ' Some\\n text '"),
        ("//note[. = 'x']", "found ' Some\\n text '"),
        ("count(//line) > 3", "there are 2"),
        ("sum(//price) > 100", "found 52.5"),
    ],
)
def test_a_predicate_that_never_holds_shows_what_was_found(text: str, note: str) -> None:
    """Values, counts or the name that is not there."""
    assert predicate(text).note == note


def test_many_values_are_shortened() -> None:
    """Three different values are shown, and how many there are besides; a long value is cut."""
    body = "".join(f"<b>{'x' * 60}{at}</b><c>{at}</c>" for at in range(7))
    found = predicate("//c[. > 100]", read(f"<a>{body}</a>".encode()))
    assert (found.note, found.values, found.more) == ("found 0, 1, 2 (and 4 more)", ("0", "1", "2"), 4)
    long = predicate("//b[. = 'y']", read(f"<a>{body}</a>".encode()))
    assert all(len(value) == 43 for value in long.values)


def test_a_value_that_differs_in_case_or_white_space_is_named() -> None:
    """The hint names the function that removes the difference."""
    assert "lower-case()" in (predicate("//id[. = 'ABC']").hint or "")
    assert "normalize-space()" in (predicate("//note[. = 'Some text']").hint or "")


@pytest.mark.parametrize("literal", ["2024-01-01", "20240101"])
def test_dates_are_shown_as_they_are_read(literal: str) -> None:
    """A value in another form than the extended one with its date; what is none with that."""
    dated = read(b"<a><d>20120806</d><d>201208060915-0500</d><d>soon</d></a>")
    found = predicate(f"//d[. > '{literal}']", dated)
    assert found.note == (
        "found '20120806' (2012-08-06), '201208060915-0500' (2012-08-06T09:15-05:00), 'soon' (no date)"
    )


def test_a_literal_of_digits_that_is_read_as_a_date_is_named() -> None:
    """With how to compare numbers instead."""
    assert "'20240101' is the date 2024-01-01" in (predicate("//price[. > '20240101']").hint or "")


def test_a_date_that_is_compared_as_text_or_number_is_named() -> None:
    """``=`` compares texts, and a number without quotes compares numbers."""
    dated = read(b"<a><d>20120806</d><e>2012-08-06</e></a>")
    assert "the same date" in (predicate("//d[. = '2012-08-06']", dated).hint or "")
    assert "quotes" in (predicate("//e[. >= 20120806]", dated).hint or "")


def test_operands_are_explained_one_by_one() -> None:
    """Each operand of ``or`` and ``and`` has its own counts and values, in both kinds of expressions."""
    for text in ("//line[price > 50 or cost]", "//line[price * 1 > 50 or cost]"):
        parts = predicate(text).parts
        assert sorted(part.note or "" for part in parts) == ["found 45.5, 7", "no cost here"]


def test_an_operand_of_not_that_does_not_hold_needs_no_reason() -> None:
    """Only those that hold make the negation fail."""
    found = predicate("/order[not(id or @cost)]")
    assert sorted((part.predicate, part.held, part.note, part.hint) for part in found.parts) == [
        ("@cost", 0, None, None),
        ("id", 1, None, None),
    ]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("/Order", "there is an order, did you mean that? (names are case-sensitive)"),
        ("/order/lin", "there is a line, did you mean that?"),
        ("/order/niote", "there is a note, did you mean that?"),
        ("/order/price", "there is a price at /order/line[1]/price, deeper: //price would reach it"),
        ("//line/note", "there is a note at /order/note, but not below this"),
        ("/order/lang", "there is an attribute of this name: write @lang"),
        ("/order/@id", "there is an element of this name: write id"),
        ("/order/@lnag", "there is an @lang, did you mean that?"),
        ("/order/zzz", "what is here: id, line, note"),
        ("/order/ancestor-or-self::zzz", None),
        ("(//line)[1]/prize", "there is a price, did you mean that?"),
    ],
)
def test_a_name_that_is_missed_narrowly_is_named(text: str, hint: str | None) -> None:
    """Another spelling, another depth, an attribute instead of an element; or what is there."""
    assert step_hint(text) == hint


def test_a_name_in_another_namespace_is_named() -> None:
    """The hint has the namespace, and the way to write the name."""
    assert step_hint("/Invoice", INVOICE) == (
        "there is an Invoice in namespace urn:u, you asked for one in no namespace: "
        "bind a prefix to it, or write *:Invoice"
    )
    assert (step_hint("/Invoice", INVOICE, {"i": "urn:u"}) or "").endswith(": write i:Invoice")
    assert step_hint("/i:order", LINES, {"i": "urn:u"}) == (
        "there is an order in no namespace, you asked for one in namespace urn:u: write order or *:order"
    )


def test_names_have_the_prefixes_of_the_user_or_of_the_document() -> None:
    """A URI is written only if nobody has a prefix for it; a literal stays as it is."""
    text = "/Q{urn:u}Invoice[Q{urn:u}ID='Q{urn:u}'][@Q{urn:u}a]/Q{urn:v}b"

    def title(namespaces: dict[str, str]) -> str:
        return explain(parse(text), INVOICE, namespaces=namespaces).alternatives[0].path

    assert title({}) == "/u:Invoice[@u:a][u:ID='Q{urn:u}']/Q{urn:v}b"
    assert title({"i": "urn:u"}) == "/i:Invoice[@i:a][i:ID='Q{urn:u}']/Q{urn:v}b"
    assert title({"": "urn:u"}) == "/Invoice[@u:a][ID='Q{urn:u}']/Q{urn:v}b"
    assert title({"u": "urn:v"}) == "/Q{urn:u}Invoice[@Q{urn:u}a][Q{urn:u}ID='Q{urn:u}']/u:b"


def test_the_users_text_is_the_title() -> None:
    """What the user wrote stands first; its meaning follows if it is not the same."""
    text = "order/line[cost]/.."
    assert explain(parse(text), LINES, text=text).lines()[:2] == [
        "✗ order/line[cost]/..",
        "  which means //order[line[cost]]",
    ]
    same = '/order[ @lang = "en" ][id]'
    assert explain(parse(same), LINES, text=same).lines()[1].startswith("  ✗ /order")


def test_lines_fit_into_80_columns() -> None:
    """Paths, notes and hints that are too long for their line stand below it."""
    deep = "".join(f"<element-with-a-long-name-{at}>" for at in range(2))
    ends = "".join(f"</element-with-a-long-name-{at}>" for at in reversed(range(2)))
    tree = read(f"<a>{deep}<b c='{'word ' * 30}'/>{ends}</a>".encode())
    lines = explain(parse("//b[@c='x']/d"), tree).lines()
    assert all(len(line) <= 80 for line in lines if "/element" not in line)
    assert any(line.strip().startswith("at /a/element") for line in lines)


def test_reasons_are_left_out_where_the_limit_is_used_up() -> None:
    """The limit is that of counting; reasons need more, and are not a new way to fail."""
    tree = read(b"<a>" + b"<b><c>x</c></b>" * 100 + b"</a>")
    pattern_ = parse("//b[c='y'][d]")

    def explained(steps: int) -> bool | None:
        try:
            found = explain(pattern_, tree, steps)
        except EvaluationError:
            return None
        return all(each.note for each in found.alternatives[0].steps[0].predicates)

    outcomes = [explained(steps) for steps in range(200, 4000, 50)]
    assert outcomes == sorted(outcomes, key=[None, False, True].index)
    assert set(outcomes) == {None, False, True}
