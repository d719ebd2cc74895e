"""What a router concludes from claims: nothing that is not so, whatever claims it is given."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.routing.overlay import any_document, subscription
from tests.routing.piggyback.link import FIGURES, Link, patterns
from tests.routing.piggyback.running_example import binding, chain
from twigcast.analysis import covers
from twigcast.document import read
from twigcast.pattern import matches, parse
from twigcast.routing.messages import Subscribe, Unsubscribe
from twigcast.routing.piggyback import AnnotationKind, AnnotationPlan, Annotations, ToldSet, Wish
from twigcast.routing.piggyback.payloads import decode_bits, encode_bindings, encode_bits, encode_positions
from twigcast.routing.piggyback.questions import last_positions
from twigcast.routing.piggyback.verdict import MOST_PLANS, Relation

SETTINGS = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", ["L+sd-sd", "L+a", "L+sda-sdr", "L-r"])
@SETTINGS
@given(st.randoms(use_true_random=False))
def test_each_claim_is_true_and_so_is_what_follows(name: str, random: Random) -> None:
    """Each claim holds by ``matches``; proven rows match, refuted ones do not, also by some claims."""
    rows = {f"s{at}": subscription(random) for at in range(6)}
    aggregated = {id: [other for other in rows if covers(rows[id], rows[other])] for id in rows}
    link = Link(name, rows, rows, aggregated)
    body = any_document(random)
    document = read(body)
    matching = {id for id, row in rows.items() if matches(row, document)}
    said = link.annotations(body)
    for claim in link.reader.claims(said):
        if claim.text.startswith("matches "):
            assert matches(parse(claim.text.removeprefix("matches ")), document)
        elif claim.text.startswith("does not match "):
            assert not matches(parse(claim.text.removeprefix("does not match ")), document)
    ends = link.reader.positions(said)
    assert {link.plan.positions[at]: end for at, end in ends.items()} == last_positions(
        document, link.plan.positions
    )
    for _ in range(3):
        kinds = [kind for kind in said.sections if random.random() < 0.7]
        fewer = Annotations(
            said.figures, {kind: said.sections[kind] for kind in kinds}, said.epoch, said.told, said.whole
        )
        proven, refuted = link.verdict(fewer)
        assert proven <= matching
        assert not refuted & matching
    if name == "L+a":
        assert link.verdict(said) == (matching, rows.keys() - matching)


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_any_set_of_negative_claims_is_sound(random: Random) -> None:
    """A bit that is not set says nothing, unless the whole document was read."""
    rows = {f"s{at}": subscription(random) for at in range(8)}
    link = Link("L-sd", rows)
    body = any_document(random)
    document = read(body)
    said = link.annotations(body)
    sections = {}
    for kind, count in ((1, len(rows)), (2, len(link.plan.absences))):
        if kind in said.sections:
            no = decode_bits(said.sections[kind], count)
            sections[kind] = encode_bits(no & np.array([random.random() < 0.5 for _ in range(count)], bool))
    proven, refuted = link.verdict(Annotations(said.figures, sections, said.epoch, said.told))
    assert not proven
    assert all(not matches(rows[id], document) for id in refuted)


def test_unknown_kinds_and_epochs_are_ignored() -> None:
    """A router of another release, or of another plan, says nothing that is taken for something else."""
    link = Link("L+a-sd", patterns(s="//a", t="//b"))
    said = link.annotations(b"<a/>")
    assert link.verdict(said) == ({"s"}, {"t"})
    more = Annotations(said.figures, {**said.sections, 99: b"?"}, said.epoch, said.told, said.whole)
    assert link.verdict(more) == ({"s"}, {"t"})
    other = Annotations(said.figures, said.sections, said.epoch + 1, said.told + 1, said.whole)
    assert link.verdict(other) == (set(), set())
    assert list(link.reader.claims(other)) == []


def test_trap_13_a_set_bit_means_no() -> None:
    """With the papers' examples as a rule (on = holds), the row that matches would be refuted."""
    link = Link("L-s", patterns(s="//a", t="//b"))
    said = link.annotations(b"<a/>")
    assert said.sections[AnnotationKind.NEGATIVE_SUBSCRIPTIONS] == bytes([0, 0b01_000000])
    assert link.verdict(said) == ({"s"}, {"t"})
    turned = {int(AnnotationKind.NEGATIVE_SUBSCRIPTIONS): bytes([0, 0b10_000000])}
    as_printed = Annotations(said.figures, turned, said.epoch, said.told, said.whole)
    assert link.verdict(as_printed) == ({"t"}, {"s"})


def test_trap_13_a_missing_bit_means_unknown() -> None:
    """Only a maker that has read the whole document says by an unset bit that a pattern matches."""
    link = Link("L-s", patterns(s="//a", t="//b"))
    nothing = {int(AnnotationKind.NEGATIVE_SUBSCRIPTIONS): bytes([0, 0])}
    told = link.reader.told.fingerprint
    assert link.verdict(Annotations(FIGURES, nothing, 0, told)) == (set(), set())
    assert link.verdict(Annotations(FIGURES, nothing, 0, told, whole=True)) == ({"s", "t"}, set())


def test_trap_15_an_id_that_is_issued_again_is_another_question() -> None:
    """The annotation under way speaks of the old pattern; by id alone it would refute the new row."""
    link = Link("L-s", patterns(s="//a"))
    said = link.annotations(b"<b/>")
    assert link.verdict(said) == (set(), {"s"})
    fresh = Link("L-s", patterns(s="//b"))
    assert fresh.verdict(said) == (set(), set())
    by_id = Annotations(
        said.figures, said.sections, fresh.plan.epoch, fresh.reader.told.fingerprint, said.whole
    )
    assert fresh.verdict(by_id) == (set(), {"s"})
    assert matches(parse("//b"), read(b"<b/>"))


def test_trap_15_a_reused_number_keeps_no_conclusions() -> None:
    """The pool gives the number of a withdrawn pattern to the next one, while the annotation is under way."""
    link = Link("L+a-d", patterns(s="//a", t="//b"))
    said = link.annotations(b"<a/>")
    link.below.release(link.numbers["s"])
    assert link.below.hold(parse("//c")) == link.numbers["s"]
    known = link.known(said)
    assert not known.yes[link.numbers["s"]]
    assert known.no[link.numbers["t"]]
    assert link.table.answers[0] == link.numbers["s"]  # which the printed rule would call proven


def test_an_older_plan_is_read_until_the_newest_is_followed() -> None:
    """Links are first in, first out."""
    link = Link("L-d", patterns(s="//a"))
    said = link.annotations(b"<b/>")
    newer = Link("L-d", patterns(s="//a", t="//c"))
    link.reader.add(newer.table)
    assert link.verdict(said)[1] == {"s"}
    link.reader.drop_older()
    assert link.verdict(said)[1] == set()


def test_plans_that_nobody_follows_do_not_pile_up() -> None:
    """A neighbour may never send a document."""
    link = Link("L-d", patterns(s="//a"))
    epochs = [link.plan.epoch]
    for at in range(2 * MOST_PLANS):
        table = Link("L-d", patterns(s="//a", t=f"//b{at}")).table
        epochs.append(table.plan.epoch)
        link.reader.add(table)
    known = [epoch for epoch in epochs if link.reader.table(Annotations(FIGURES, epoch=epoch)) is not None]
    assert known == epochs[-MOST_PLANS:]


def test_the_same_content_told_again_is_the_same_question() -> None:
    """A fingerprint names a content, so a subscription that is withdrawn and told again changes nothing."""
    link = Link("L-s", patterns(s="//a"))
    said = link.annotations(b"<b/>")
    link.reader.told.apply([Unsubscribe("s")])
    assert link.verdict(said)[1] == set()
    link.reader.told.apply([Subscribe("s", parse("//a"))])
    assert link.verdict(said)[1] == {"s"}


def test_a_row_that_came_after_the_plan_is_open() -> None:
    """Nothing is known of it, also if it is covered by a forwarded pattern."""
    link = Link("L-sd", patterns(s="//a"))
    link.numbers["t"] = link.below.hold(parse("//a/b"))
    assert link.verdict(link.annotations(b"<c/>")) == (set(), {"s"})


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (AnnotationKind.NEGATIVE_SUBSCRIPTIONS, b""),
        (AnnotationKind.NEGATIVE_DATA, b"\0" * 90),
        (AnnotationKind.POSITIVE_SUBSCRIPTIONS, b"\x80"),
        (AnnotationKind.POSITIVE_DATA, b"\x7f\1"),
        (AnnotationKind.ANSWERS, b"\7"),
        (AnnotationKind.RANGES, b"\xfe"),
    ],
)
def test_a_malformed_section_is_a_value_error(kind: AnnotationKind, payload: bytes) -> None:
    """Each kind is checked, also that which decides nothing."""
    link = Link("L+sda-sdr", patterns(s="//a/*", t="//a/b[@x < 3]"))
    told = link.reader.told.fingerprint
    with pytest.raises(ValueError, match=r".+"):
        link.verdict(Annotations(FIGURES, {kind: payload}, link.plan.epoch, told))


def test_a_binding_that_does_not_fit_is_a_value_error() -> None:
    """A wildcard for one name cannot stand for two."""
    plan = AnnotationPlan(wishes=(Wish(parse("//a/*"), (2,), 1),), names=chain("b/c"))
    link = Link("L+s", patterns(s="//a/b"), patterns(x="//a/*"), {"x": ("s",)}, plan)
    fits = {int(AnnotationKind.POSITIVE_SUBSCRIPTIONS): encode_bindings([(0, [binding(_2="b")])], plan)}
    assert link.verdict(Annotations(FIGURES, fits, plan.epoch)) == ({"s"}, set())
    two = {int(AnnotationKind.POSITIVE_SUBSCRIPTIONS): encode_bindings([(0, [binding(_2="b/c")])], plan)}
    with pytest.raises(ValueError, match="cannot stand for"):
        link.verdict(Annotations(FIGURES, two, plan.epoch))


def test_trap_1_positive_data_switches_off_only_rows_that_it_closes() -> None:
    """``/r[a/b]/c`` contains a/b, which is last at end tag 2 of 4, and yet matches at the end."""
    rows = patterns(twig="/r[a/b]/c", path="//a/b")
    body = b"<r><a><b/></a><c/></r>"
    assert matches(rows["twig"], read(body))
    plan = AnnotationPlan(positions=(chain("a/b"),))
    link = Link("L+d", rows, plan=plan)
    assert link.annotations(body).sections[AnnotationKind.POSITIVE_DATA] == encode_positions({0: 2})
    assert link.table.switched_off({0: 2}, 4) == 0.5  # of the path alone; as printed, of both rows


@SETTINGS
@given(st.integers(0, 40), st.integers(1, 60), st.randoms(use_true_random=False))
def test_relations_are_the_same_as_matrix_and_as_list(claims: int, numbers: int, random: Random) -> None:
    """A dense relation is stored as bits; what it gives is that of its pairs."""
    share = random.choice([0.01, 0.2, 0.9])
    pairs = [(at, number) for at in range(claims) for number in range(numbers) if random.random() < share]
    holds = np.array([random.random() < 0.5 for _ in range(claims)], dtype=np.bool_)
    found = set(Relation(pairs, claims).numbers(holds).tolist())
    assert found == {number for at, number in pairs if holds[at]}


def test_known_of_an_empty_told_set() -> None:
    """A router that has forwarded nothing reads nothing."""
    assert ToldSet().ids == ()
    link = Link("L-s", {})
    assert AnnotationKind.NEGATIVE_SUBSCRIPTIONS not in link.annotations(b"<a/>").sections
