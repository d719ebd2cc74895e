"""The worked examples of the two papers, on the reconstruction of their running example.

P is the paper on piggybacking, T the thesis; s1 … s6 are rows, s'1 … s'3 what they are aggregated to.
"""

from __future__ import annotations

import pytest

from tests.routing.piggyback.link import FIGURES, Line, Link, annotated, patterns
from tests.routing.piggyback.running_example import AGGREGATED, DOCUMENT, ROWS, TOLD, binding, chain
from twigcast.analysis import covers
from twigcast.errors import RoutingError
from twigcast.pattern import matches
from twigcast.routing.messages import Envelope
from twigcast.routing.piggyback import AnnotationKind, AnnotationPlan, Annotations, Timing, Wish, protocol
from twigcast.routing.piggyback.payloads import OTHER, decode_positions, encode_bindings
from twigcast.routing.piggyback.questions import last_positions, pieces

BODY = b"<b><d><e><g/></e><f/></d><a><x><c/></x><y><c/></y></a></b>"
POSITIONS = (chain("h/m"), chain("d/m"), chain("d/e"))
"""The data patterns p1, p2 and p3 of Fig. 4.3."""


def figure_4_3(name: str, plan: AnnotationPlan | None = None) -> Link:
    """The link of Fig. 4.3."""
    return Link(name, ROWS, TOLD, AGGREGATED, plan)


def wish(id: str, *numbers: int) -> Wish:
    """Asks for wildcards of a forwarded pattern."""
    return Wish(TOLD[id], numbers, 1)


PLAN = AnnotationPlan(
    (chain("h/m"), chain("d/m"), chain("d/e")),
    (wish("s'1", 2), wish("s'3", 1, 2)),
    POSITIONS,
    names=tuple(chain("a/b/c/d/e/g/y/z")),
)


def test_p_1_1_a_bound_gap_proves_a_row_unread() -> None:
    """P 1.1, T 4.1: ``/a//d`` with b/c in its gap proves ``/a/b/c/d``."""
    line = Line("L+s", {"k": {"s": "/a/b/c/d"}, "l": {"t": "/a//d"}})
    decided, work = line.arrive(line.annotated(b"<a><b><c><d/></c></b></a>"))
    assert decided == {"k": (), "l": ()}
    assert not work.parsed


def test_p_1_2_a_negative_subscription_refutes_the_rows_below_it() -> None:
    """P 1.2, T 4.2: the document does not match s, so it matches no row that s covers."""
    line = Line("L-s", {"k": {"s": "//a/b/c", "t": "//b"}})
    assert line.told.ids == ("t",)
    no = Annotations(FIGURES, {AnnotationKind.NEGATIVE_SUBSCRIPTIONS: b"\0\x80"}, told=line.told.fingerprint)
    decided, work = line.arrive(annotated(Envelope("d", b"<r><a/></r>"), no))
    assert decided == {}
    assert not work.parsed
    assert (work.proven, work.refuted) == (0, 2)


def test_p_1_2_an_absent_chain_refutes_at_once_what_its_last_place_would_refute_later() -> None:
    """P 1.2: no(a/b/c) is positive data with the place 0: nothing of the document has to be matched."""
    line = Line("L-d", {"k": {"s": "//x[a/b/c]/y"}, "l": {"t": "//x"}})
    decided, work = line.arrive(line.annotated(b"<x><y/><a><b/></a></x>"))
    assert decided == {"l": ()}
    assert not work.parsed


def test_figure_2_has_the_four_kinds() -> None:
    """P Fig. 2, T Fig. 4.1: one document has annotations of all four kinds, each for its own section."""
    said = figure_4_3("L+sd-sd", PLAN).annotations(BODY)
    assert set(said.sections) == {
        AnnotationKind.POSITIVE_SUBSCRIPTIONS,
        AnnotationKind.POSITIVE_DATA,
        AnnotationKind.NEGATIVE_SUBSCRIPTIONS,
        AnnotationKind.NEGATIVE_DATA,
    }


def test_p_2_1_simple_aggregated_subscriptions() -> None:
    """P 2.1, T 2.3: s6 is a simple aggregated subscription of s3, with b and e, but not of s4."""
    s = patterns(s1="/b/a/y/c", s2="/b/a/z/c", s3="/b/d/e/g", s4="/q/d[m]/k/j/g", s5="/b/a/*/c", s6="/*/d//g")
    assert covers(s["s5"], s["s1"])
    assert covers(s["s5"], s["s2"])
    assert covers(s["s6"], s["s3"])
    assert covers(s["s6"], s["s4"])
    found = pieces(s["s6"], s["s3"])
    assert found is not None
    assert found.paths == ((1, "b"), (2, "e"))
    assert pieces(s["s6"], s["s4"]) is None


def test_p_3_1_r3_forwards_to_r6_unread() -> None:
    """P 3.1, T 4.3: A_13 is (s6, {(1, b), (2, e)}), which proves s3.

    Here s6 is a row of R3, too, so that it is forwarded without aggregation.
    """
    line = Line("L+s", {"r6": {"s3": "/b/d/e/g", "s4": "/q/d[m]/k/j/g"}, "r7": {"s6": "/*/d//g"}})
    sent = line.annotated(BODY)
    explained = line.j.explain(sent, "i")
    assert [each.text for each in explained.statements] == ["matches /b/d/e/g"]
    decided, work = line.arrive(sent)
    assert decided == {"r6": (), "r7": ()}
    assert not work.parsed


def test_p_3_1_r2_parses_if_the_first_binding_is_the_wrong_one() -> None:
    """P 3.1, T 4.3: with (1, x) alone R2 parses, and s1 matches; with (1, y) too, it does not parse."""
    line = Line("L+s", {"k": {"s1": "/b/a/y/c", "s2": "/b/a/z/c"}, "l": {"s5": "/b/a/*/c"}})
    document = Envelope("d", BODY)
    both = line.annotated(BODY)
    (wished,) = line.plan.wishes
    assert wished.numbers == (1,)
    payload = encode_bindings([(0, [binding(_1="x")])], line.plan)
    sections = {int(AnnotationKind.POSITIVE_SUBSCRIPTIONS): payload}
    first = annotated(document, Annotations(FIGURES, sections, line.plan.epoch))
    decided, work = line.arrive(first)
    assert decided == {"k": (), "l": ()}
    assert work.parsed
    decided, work = line.arrive(both)
    assert decided == {"k": (), "l": ()}
    assert not work.parsed


def test_p_4_1_wishes() -> None:
    """P 4.1, T 4.4: (s'1, 2, {2}) and (s'3, 1, {1, 2}).

    The papers have no wish for s'2, but by their own definition (T 4.3.1) both its rows are simple: ``//h/m``
    comes from ``//h//m`` by an empty gap and ``//h/k/m`` by k, so there is a wish (s'2, 2, {2}).
    """
    plan = figure_4_3("L+s").plan
    assert {(each.pattern, each.rows, each.numbers) for each in plan.wishes} == {
        (TOLD["s'1"], 2, (2,)),
        (TOLD["s'2"], 2, (2,)),
        (TOLD["s'3"], 1, (1, 2)),
    }


def test_p_4_2_bindings() -> None:
    """P 4.2, T 4.5: (s'1, {(2, x)}) and (s'3, {(1, b), (2, e)}).

    Our router adds (s'1, {(2, y)}), which proves s1.
    """
    link = figure_4_3("L+s", PLAN)
    found = list(link.reader.bindings(link.annotations(BODY)))
    assert found == [
        (0, ((2, (OTHER,)),)),  # x, which no row mentions
        (0, binding(_2="y")),
        (1, binding(_1="b", _2="e")),
    ]


def test_p_4_3_positions() -> None:
    """P 4.3, T 4.6: (p3, 4); p1 and p2 do not occur."""
    assert last_positions(DOCUMENT, POSITIONS) == {chain("d/e"): 4}
    link = figure_4_3("L+d", PLAN)
    said = link.annotations(BODY)
    assert decode_positions(said.sections[AnnotationKind.POSITIVE_DATA], PLAN) == {2: 4}


def test_p_4_4_negatives() -> None:
    """P 4.4, T 4.7: s'2, p1 and p2 are no.  The papers print NS 101 and ND 001, where 1 means yes."""
    link = figure_4_3("L-sd", PLAN)
    said = link.annotations(BODY)
    assert said.sections[AnnotationKind.NEGATIVE_SUBSCRIPTIONS] == bytes([0, 0b010_00000])
    assert said.sections[AnnotationKind.NEGATIVE_DATA] == bytes([0, 0b110_00000])
    texts = [claim.text for claim in link.reader.claims(said)]
    assert texts == [
        "matches //a/*/c",
        "does not match //h//m",
        "matches /*/d//g",
        "does not match //h/m",
        "does not match //d/m",
        "matches //d/e",
    ]


def test_p_5_1_verdicts() -> None:
    """P 5.1, T 4.8: s5 is proven; s3, s4 (NS) and s3, s6 (ND) are refuted; s1 and s2 are open.

    That is so with the one binding of s'1 that the papers send; ours sends y as well, which proves s1.
    """
    link = figure_4_3("L+s-sd", PLAN)
    said = link.annotations(BODY)
    payload = encode_bindings([(0, [binding(_2="x")]), (1, [binding(_1="b", _2="e")])], PLAN)
    sections = {**said.sections, int(AnnotationKind.POSITIVE_SUBSCRIPTIONS): payload}
    as_printed = Annotations(said.figures, sections, said.epoch, said.told, whole=said.whole)
    assert link.verdict(as_printed) == ({"s5"}, {"s3", "s4", "s6"})
    refuted_by = {
        claim.text: {id for id, number in link.numbers.items() if number in claim.refuted}
        for claim in link.reader.claims(as_printed)
        if len(claim.refuted)
    }
    assert refuted_by == {
        "does not match //h//m": {"s3", "s4"},
        "does not match //h/m": {"s3"},
        "does not match //d/m": {"s6"},
    }
    assert link.verdict(said) == ({"s1", "s5"}, {"s3", "s4", "s6"})


def test_p_5_1_the_open_rows_are_decided_by_parsing() -> None:
    """After that, s1 is found to match and s2 not to."""
    assert matches(ROWS["s1"], DOCUMENT)
    assert not matches(ROWS["s2"], DOCUMENT)


def test_p_3_3_names_of_protocols() -> None:
    """P 3.3: ``L+sd-d`` is a name; ``ES-s`` is none: a router that sends early has not read the rest."""
    found = protocol("L+sd-d")
    assert (found.timing, found.positive, found.negative) == (Timing.LAZY, "sd", "d")
    assert found.name == "L+sd-d"
    with pytest.raises(RoutingError, match="ES has no negative kinds"):
        protocol("ES-s")


def test_t_7_3_ranges_refute() -> None:
    """T 7.3: every @price is above 4, so ``[@price < 3]`` is refuted."""
    line = Line("L-r", {"k": {"s": "//item[@price < 3]"}, "l": {"t": "//item"}})
    many = b"".join(b'<item price="%d"/>' % price for price in range(5, 40))
    sent = line.annotated(b"<shop>" + many + b"</shop>")
    explained = line.j.explain(sent, "i")
    assert explained.rows["k"] == {"s": "refuted"}
    assert line.arrive(sent)[0] == {"l": ()}
    cheap = line.annotated(b'<shop><item price="2"/>' + many + b"</shop>", "cheap")
    assert line.j.explain(cheap, "i").rows["k"] == {"s": "open"}
    assert line.arrive(cheap)[0] == {"k": (), "l": ()}
