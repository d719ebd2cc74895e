"""Value ranges: what patterns demand, what documents have, and that a refuted demand means no match."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, document, pattern
from twigcast.document import Element, Text, descendants, read, string_value
from twigcast.errors import PatternError
from twigcast.pattern import Comparison, Onward, Path, Pattern, matches, number, parse
from twigcast.routing.piggyback.questions.ranges import (
    MOST_TEXT_BYTES,
    MOST_TEXTS,
    NumberBounds,
    RangeDemand,
    RangeQuestion,
    Ranges,
    ValueSet,
    demanded_ranges,
    measure,
    refutes,
)

PRICE = RangeQuestion(("", "item"), ("", "price"))
NOTE = RangeQuestion(("", "note"))


def refuted(text: str, body: str) -> bool:
    """Whether the ranges of a document refute a pattern; then it must not match."""
    subscription, document = parse(text), read(body.encode())
    demands = demanded_ranges(subscription)
    ranges = measure(document, [demand.question for demand in demands])
    found = any(refutes(ranges, demand) for demand in demands)
    assert not (found and matches(subscription, document))
    return found


def shop(*prices: object) -> str:
    return "<r>" + "".join(f'<item price="{price}"/>' for price in prices) + "</r>"


# Demands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//item[@price < 3]/name", [(PRICE, "<", 3.0)]),
        ("//item[3 >= @price]", [(PRICE, "<=", 3.0)]),
        ("//item[@price = 3 and @price = '3']", [(PRICE, "=", "3"), (PRICE, "=", 3.0)]),
        ("//item[@price > '3']", [(PRICE, ">", 3.0)]),
        ("/r[.//item/@price > 3]", [(PRICE, ">", 3.0)]),
        ("/r[item[@price > 3]/name]", [(PRICE, ">", 3.0)]),
        ("/r[contains(item[@price > 3], 'x')]", [(PRICE, ">", 3.0)]),
        ("/r[count(item[@price > 3]) > 1]", [(PRICE, ">", 3.0)]),
        ("//note[. = 'new']", [(NOTE, "=", "new")]),
        ("//item[note < 5]", [(NOTE, "<", 5.0)]),
        ("//item[note/text() < 5]", [(NOTE, "<", 5.0)]),
        ("//item[@price < 3]/.. | /r/item[@price < 3][note]", [(PRICE, "<", 3.0)]),
        ("//item[@price < 3][note < 5] | //note[. < 5]", [(NOTE, "<", 5.0)]),
    ],
)
def test_a_comparison_in_a_conjunction_is_demanded(
    text: str, expected: list[tuple[RangeQuestion, str, object]]
) -> None:
    """At any depth, on paths that must select a node; in a union if every alternative has it."""
    found = {(demand.question, demand.operator, demand.value) for demand in demanded_ranges(parse(text))}
    assert found == set(expected)


@pytest.mark.parametrize(
    "text",
    [
        "//item[@price != 3]",
        "//item[not(@price < 3)]",
        "//item[@price < 3 or note]",
        "//item[@price < 3] | //note",
        "/r[count(item[@price < 3]) < 2]",
        "/r[string-length(item[@price < 3]) = 0]",
        "//*[@price < 3]",
        "//*:item[@price < 3]",
        "//item[@* < 3]",
        "//item[@price < '2024-01-01']",
        "//item[../@price < 3]/..[note]/*[. < 2]",
        "/self::node()[. < 3]",
    ],
)
def test_any_other_comparison_is_not_demanded(text: str) -> None:
    """Not below ``not`` and ``or``, not for one alternative of a union, not with wildcards or dates."""
    assert demanded_ranges(parse(text)) == ()


def test_nodes_that_general_steps_select_are_not_asked_for() -> None:
    """A comparison of nodes on other axes demands only what the path before them does."""
    inner = parse("//item[@price < 3]/following::*").alternatives[0]
    assert isinstance(inner.tail, Onward)
    whole = Pattern((Path((), filters=(Comparison((inner,), "<", 9.0),)),))
    assert demanded_ranges(whole) == (RangeDemand(PRICE, "<", 3.0),)


def test_trap_23_a_value_that_is_no_number_satisfies_other_comparisons() -> None:
    """``@p != 3`` and ``not(@p < 3)`` hold for ``p="x"``, though no number in the document satisfies them."""
    body = '<r><item price="x"/></r>'
    demand = RangeDemand(PRICE, "<", 3.0)
    assert refutes(measure(read(body.encode()), [PRICE]), demand)
    for text in ("//item[@price != 3]", "//item[not(@price < 3)]"):
        assert matches(parse(text), read(body.encode()))
        assert not refuted(text, body)


# Refutations


def test_the_example_of_the_thesis() -> None:
    """T 7.3: if every price is above 4, ``[@price < 3]`` is refuted; also with many different prices."""
    for prices in ((4.5, 7, 70), range(5, 50)):
        assert refuted("//item[@price < 3]/name", shop(*prices))
        assert refuted("//item[@price <= 3]", shop(*prices))
        assert refuted("//item[@price > 70]", shop(*prices))
        assert refuted("//item[@price = 4]", shop(*prices))
        assert refuted("//item[@price = '4']", shop(*prices))
        assert not refuted("//item[@price < 8]", shop(*prices))


@pytest.mark.parametrize("prices", [(1, 3), range(1, 40, 2)])
def test_bounds_are_exact(prices: range | tuple[int, ...]) -> None:
    """``<`` is refuted at the least number, ``<=`` is not; so with ``>`` at the greatest."""
    least, greatest = prices[0], prices[-1]
    assert refuted(f"//item[@price < {least}]", shop(*prices))
    assert not refuted(f"//item[@price <= {least}]", shop(*prices))
    assert refuted(f"//item[@price > {greatest}]", shop(*prices))
    assert not refuted(f"//item[@price >= {greatest}]", shop(*prices))
    for bound in (least, greatest):
        assert not refuted(f"//item[@price = {bound}]", shop(*prices))
        assert not refuted(f"//item[@price = '{bound}']", shop(*prices))


def test_a_string_is_refuted_by_the_set_of_values_or_by_what_it_spells() -> None:
    """In many values a string is refuted if all are numbers and it is none, or if its number is outside."""
    assert refuted("//item[@price = '5']", shop("5.0", " 5"))
    assert not refuted("//item[@price = 5]", shop("5.0", " 5"))
    many = shop(*range(40))
    assert refuted("//item[@price = 'x']", many)
    assert refuted("//item[@price = '-1']", many)
    assert not refuted("//item[@price = '5.0']", many)  # the range does not say how the numbers are written
    assert not refuted("//item[@price = 'x']", shop("y", *range(40)))
    assert refuted("//item[@price = '-1']", shop("y", *range(40)))
    assert refuted("//item[@price < 3]", shop(*"abcdefghijklm"))


def test_what_does_not_occur_is_refuted() -> None:
    """Without such an element or attribute every demand on it is refuted."""
    assert refuted("//item[@price < 3]", '<r><item/><other price="1"/></r>')
    assert refuted("//item[note = 'new']", "<r><item/></r>")
    assert not refuted("//item[note = '']", "<r><item/><note/></r>")


def test_elements_with_element_content_are_unknown() -> None:
    """The string-value of an element is that of all text in it; ranges do not speak of such elements."""
    body = "<r><note>7</note><note><b>1</b>2</note></r>"
    assert measure(read(body.encode()), [NOTE]).values == (None,)
    assert not refuted("//note[. = 12]", body)
    assert not refuted("//note[. = 99]", body)


def test_text_nodes_are_values_too() -> None:
    """A comment divides a text into two nodes, which ``text()`` selects one by one."""
    body = "<r><note>1<!-- -->2</note></r>"
    assert measure(read(body.encode()), [NOTE]).values == (ValueSet(("1", "12", "2")),)
    assert not refuted("//note[text() = 1]", body)
    assert not refuted("//note[. = 12]", body)
    assert refuted("//note[. = 3]", body)


def test_sets_are_small() -> None:
    """More than 8 values, or longer ones, are summed up by their numbers."""
    longest = "y" * MOST_TEXT_BYTES
    for values, expected in [
        (list("abcdefgh"), ValueSet(tuple("abcdefgh"))),
        (list("abcdefghi"), NumberBounds(math.inf, -math.inf, 9)),
        ([longest], ValueSet((longest,))),
        ([longest, "x", "-0", "2", "2"], NumberBounds(0.0, 2.0, 2)),
        ([], ValueSet()),
    ]:
        assert measure(read(shop(*values).encode()), [PRICE]).values == (expected,)
    assert len(set("abcdefgh")) == MOST_TEXTS


def test_what_is_not_asked_is_unknown() -> None:
    """A demand about a question that is not in the plan is not refuted; another plan gets its own order."""
    ranges = measure(read(shop(5).encode()), [PRICE])
    assert not refutes(ranges, RangeDemand(NOTE, "=", "new"))
    assert ranges.answering([NOTE, PRICE]) == Ranges((NOTE, PRICE), (None, ValueSet(("5",))))


_VALUES = ("", "x", "5", "5.0", " 5", "-1", "0", "12.5", "3", "3.00", "100000", "é")
_NUMBERS = ("5", "-1", "0", "12.5", "3", "4", "99", "-7")


def valued_document(random: Random) -> bytes:
    """Items with prices and notes, few or many, some of which have element content or divided texts."""
    values = random.sample(_VALUES, random.randint(1, 4))
    if random.randint(0, 2) == 0:
        values += [str(random.randint(-20, 20) / 2) for _ in range(12)]
    items = []
    for _ in range(random.choice([0, 1, 2, 3, 14])):
        price = random.choice([f' price="{random.choice(values)}"', ""])
        note = random.choice(["", "<!---->", "<b>5</b>" if random.randint(0, 3) == 0 else ""])
        name = random.choice(["item", "item", "note"])
        text = "".join([random.choice(values), note, random.choice(["", random.choice(values)])])
        items.append(f"<{name}{price}>{random.choice(['', text, f'<note>{text}</note>'])}</{name}>")
    return f"<r>{''.join(items)}</r>".encode()


def valued_pattern(random: Random) -> str:
    """A subscription to items by comparisons of prices and notes, under and beside all connectives."""
    paths = [f"//{random.choice(['item', 'item', 'note', '*'])}{_condition(random)}" for _ in range(2)]
    return paths[0] if random.randint(0, 2) else " | ".join(paths)


def _condition(random: Random, depth: int = 2) -> str:
    kind = random.randint(0, 7) if depth else 0
    if kind <= 2:
        node = random.choice(
            ["@price", "@price", "note", ".", "text()", "note/@price", ".//note", "@price|note"]
        )
        literal = random.choice([random.choice(_NUMBERS), f"'{random.choice(_VALUES)}'"])
        return f"[{node} {random.choice(['<', '<=', '>', '>=', '=', '=', '!='])} {literal}]"
    inner = _condition(random, depth - 1)
    other = _condition(random, depth - 1)
    return [
        inner + other,
        f"[not({inner[1:-1]})]" if inner.count("[") == 1 else f"[not(self::item{inner})]",
        f"[self::item{inner} or self::item{other}]",
        f"[note{inner}]",
        f"[count(note{inner}) {random.choice(['>', '<'])} 1]",
    ][kind - 3]


def checked_demands(text: str, body: bytes) -> int:
    """Count the refuted demands of a pattern that must not match then; 0 if it cannot be parsed."""
    try:
        subscription = parse(text, NAMESPACES)
    except PatternError:  # as ``never-matches``
        return 0
    document = read(body)
    demands = demanded_ranges(subscription)
    ranges = measure(document, list(dict.fromkeys(demand.question for demand in demands)))
    assert Ranges.decode(ranges.encode(), ranges.questions) == ranges
    found = [demand for demand in demands if refutes(ranges, demand)]
    if found:
        assert not matches(subscription, document)
    return len(found)


@given(st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_a_refuted_demand_means_no_match(random: Random) -> None:
    """For random shops, and for random patterns and documents of the whole language."""
    body = valued_document(random)
    for _ in range(5):
        checked_demands(valued_pattern(random), body)
    body = document(random)
    for _ in range(3):
        checked_demands(pattern(random).ours, body)


def test_random_demands_are_often_refuted() -> None:
    """The generators of the property above reach refutations, and patterns that match with demands."""
    random = Random(5)
    refutations = sum(checked_demands(valued_pattern(random), valued_document(random)) for _ in range(300))
    assert refutations > 60


@given(st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_ranges_say_what_is_in_the_tree(random: Random) -> None:
    """Each range is that of the values which a walk over the tree finds."""
    document = read(valued_document(random))
    questions = [PRICE, NOTE, RangeQuestion(("", "item")), RangeQuestion(("", "note"), ("", "price"))]
    ranges = measure(document, questions)
    for question in questions:
        owners = [each for each in descendants(document) if (each.namespace, each.local) == question.element]
        known = ranges.of(question)
        if question.attribute is None:
            leaves = not any(isinstance(child, Element) for each in owners for child in each.children)
            assert (known is not None) is leaves
            values = [string_value(each) for each in owners]
            values += [child.value for each in owners for child in each.children if isinstance(child, Text)]
        else:
            values = [each.value for owner in owners for each in owner.attributes if each.local == "price"]
        if isinstance(known, ValueSet):
            assert set(known.texts) == set(values)
        elif isinstance(known, NumberBounds):
            numbers = [each for value in values if not math.isnan(each := number(value))]
            assert (known.least, known.greatest) == (
                min(numbers, default=math.inf),
                max(numbers, default=-math.inf),
            )
            assert bool(known.not_numbers) is (len(numbers) < len(values))


# Bytes

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
_FINITE = st.one_of(st.floats(allow_nan=False), st.integers(-(10**6), 10**6).map(lambda cents: cents / 100))


def _bounds(numbers: tuple[float, float], not_numbers: int) -> NumberBounds:
    return NumberBounds(min(numbers), max(numbers), not_numbers)


_RANGES = st.one_of(
    st.none(),
    st.sets(_TEXTS, max_size=2).map(lambda texts: ValueSet(tuple(sorted(texts)))),
    st.integers(1, 10**6).map(lambda count: NumberBounds(math.inf, -math.inf, count)),
    st.builds(_bounds, st.tuples(_FINITE, _FINITE), st.integers(0, 10**6)),
)


@given(st.lists(_RANGES, max_size=4), st.data())
@settings(max_examples=100, deadline=None)
def test_ranges_survive_their_bytes(
    values: list[ValueSet | NumberBounds | None], data: st.DataObject
) -> None:
    """Decoding gives what was encoded; altered or shortened bytes are refused or give some ranges."""
    questions = tuple(RangeQuestion(("", f"e{number}")) for number in range(len(values)))
    ranges = Ranges(questions, tuple(values))
    encoded = ranges.encode()
    assert Ranges.decode(encoded, questions) == ranges
    if encoded:
        with pytest.raises(ValueError, match="early"):
            Ranges.decode(encoded[:-1], questions)
        at, byte = data.draw(st.integers(0, len(encoded) - 1)), data.draw(st.integers(0, 255))
        altered = encoded[:at] + bytes([byte]) + encoded[at + 1 :]
        try:
            decoded = Ranges.decode(altered, questions)
        except ValueError:
            return
        assert Ranges.decode(decoded.encode(), questions) == decoded


def test_typical_ranges_are_short() -> None:
    """A question takes a byte if it is unknown, some 6 for prices, and its texts for a small set."""
    questions = tuple(RangeQuestion(("", f"e{number}")) for number in range(4))
    values = (None, NumberBounds(0.99, 1299.0), ValueSet(("de", "en")), NumberBounds(1996, 2024, 1))
    assert len(Ranges(questions, values).encode()) == 1 + 8 + 7 + 8


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        b"\x0c",
        b"\x02\x05ab",
        b"\x02\x01\xff",
        b"\x03\x01b\x01a",
        b"\x03\x01a\x01a",
        b"\x02\x41" + b"x" * 65,
        b"\x0b" + b"\xff" * 9 + b"\x01",
        b"\x0a\0\0\x04\0\x02",
        b"\x0a\0\x17\x02\0\x04",
        b"\x0a\0\xff" + b"\xff" * 8 + b"\0\x02",
    ],
    ids=[
        *("nothing", "too much", "no such kind", "cut text", "not UTF-8", "not sorted", "twice", "too long"),
        *("endless integer", "least above greatest", "too many digits", "not a number"),
    ],
)
def test_malformed_bytes_are_refused(data: bytes) -> None:
    """Bytes that ``encode`` does not write about one question raise ``ValueError``."""
    with pytest.raises(ValueError, match=r"."):
        Ranges.decode(data, [PRICE])
