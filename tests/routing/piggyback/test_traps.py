"""Rules of the papers that lose or invent deliveries if they are taken as printed, at real routers.

Each test has the counter-example; where possible, it shows that the printed rule gives another result.
"""

from __future__ import annotations

import pytest

from experiments.engines.piggyback.protocols import PIGGYBACK
from tests.routing.piggyback.link import FIGURES, Line, annotated
from tests.routing.piggyback.running_example import chain
from tests.routing.piggyback.test_deliveries import decisions, parsed_decisions
from twigcast.document import DocumentLimits, read
from twigcast.errors import DocumentError
from twigcast.filtering import Index
from twigcast.pattern import matches, parse
from twigcast.routing import Router, Strategy, advertisement
from twigcast.routing.messages import (
    Envelope,
    Paths,
    Publish,
    RequestAnnotations,
    Subscribe,
    Unsubscribe,
    flooded,
)
from twigcast.routing.piggyback import AnnotationKind, AnnotationPlan, Annotations
from twigcast.routing.piggyback.payloads import decode_bits, encode_bindings
from twigcast.schema import Child, Choice, ContentKind, ElementDeclaration, ElementGraph, element_graph

LONG = b"<!-- a structure travels only with a much larger document -->" * 20


def proves(line: Line, document: Envelope, name: str) -> Envelope:
    """The document with one claim: the wildcard of the only wish stands for a name."""
    (wish,) = line.plan.wishes
    (number,) = wish.numbers
    payload = encode_bindings([(0, [((number, chain(name)),)])], line.plan)
    sections = {int(AnnotationKind.POSITIVE_SUBSCRIPTIONS): payload}
    return annotated(document, Annotations(FIGURES, sections, line.plan.epoch))


def test_trap_14_a_pattern_of_two_links_is_not_done_for_both() -> None:
    """k is decided by //a/y, so its //a/z is not needed any more; l has the same pattern, and no other."""
    line = Line("L+s", {"k": {"p": "//a/z", "q": "//a/y"}, "l": {"p2": "//a/z"}, "m": {"o": "//a/*"}})
    document = Envelope("d", b"<a><y/><z/></a>")
    decided, work = line.arrive(proves(line, document, "y"))
    assert decided == {"k": (), "l": (), "m": ()}
    assert work.parsed  # had //a/z been switched off by its number, l would have got nothing


def test_trap_14_what_is_not_needed_is_not_refuted() -> None:
    """k is sent the document unread, because //a/y is proven; of //a/z, which matches, nothing is said."""
    line = Line("L+s-s", {"k": {"p": "//a/z", "q": "//a/y"}, "m": {"o": "//a/*"}})
    document = Envelope("d", b"<a><y/><z/></a>")
    outgoing = line.j.exchange([Publish(proves(line, document, "y"))], "i")
    (message,) = outgoing["k"]
    assert isinstance(message, Publish)
    said = Annotations.decode(message.envelope.annotations, message.envelope)
    no = decode_bits(said.sections[AnnotationKind.NEGATIVE_SUBSCRIPTIONS], 2)
    assert no.tolist() == [False, False]
    assert not said.whole  # else an unset bit would say that p matches, which is not known either
    as_printed = [True, False]  # done is in A_not, and A_not becomes NS
    assert as_printed[0] == matches(parse("//a/z"), read(document.body))


@pytest.mark.parametrize("name", PIGGYBACK)
def test_trap_15_an_id_is_issued_again_while_a_document_is_under_way(name: str) -> None:
    """The document was annotated for the old pattern of the id, and arrives when it has another."""
    line = Line(name, {"k": {"s": "//a"}, "c": {"t": "//b"}, "l": {"u": "//*"}})
    sent = line.annotated(b"<r><b/>" + LONG + b"</r>")
    line.at_j("k", Unsubscribe("s"), Subscribe("s", parse("//r")))
    line.at_j("c", Unsubscribe("t"), Subscribe("t", parse("//a")))
    decided, _ = line.arrive(sent)
    assert decided == parsed_decisions(line.j, sent, "i", flooded=False) == {"k": (), "l": ()}


@pytest.mark.parametrize("name", PIGGYBACK)
def test_trap_15_a_pool_number_is_reused_while_a_document_is_under_way(name: str) -> None:
    """The number of a withdrawn row or question stands for another pattern when the document arrives."""
    line = Line(name, {"k": {"s": "//a", "s2": "//b/a"}, "c": {"t": "//b"}, "l": {"u": "//*"}})
    sent = line.annotated(b"<r><b/>" + LONG + b"</r>")
    line.at_j("k", Unsubscribe("s"), Unsubscribe("s2"))
    line.at_j("c", Unsubscribe("t"))
    line.at_j("c", *[Subscribe(f"n{at}", parse(text)) for at, text in enumerate(("//r/b", "/r", "//c"))])
    decided, _ = line.arrive(sent)
    assert decided == parsed_decisions(line.j, sent, "i", flooded=False) == {"l": (), "c": ("n0", "n1")}


@pytest.mark.parametrize("name", PIGGYBACK)
def test_trap_16_limits_hold_for_documents_that_need_not_be_parsed(name: str) -> None:
    """A router with lower limits refuses a document by its figures; flooding would have refused it there."""
    line = Line(name, {"k": {"s": "//a"}})
    sent = line.annotated(b"<a><b><c><d/></c></b>" + LONG + b"</a>")
    limited = Router("j", ["i", "k"], strategy=line.j.strategy)
    limited.pool._index = Index(limits=DocumentLimits(depth=3))
    limited.subscribe("s", parse("//a"), "k")
    limited.replan()
    with pytest.raises(DocumentError):
        limited.receive(sent, "i")
    assert decisions(line.j.exchange([Publish(sent)], "i")) == {"k": ()}


def schema(name: str) -> ElementGraph:
    """A schema of one element that contains itself."""
    model = Choice((Child(name),), 0, None)
    return element_graph([ElementDeclaration(name, ContentKind.MIXED, model, ())], name)


def test_trap_17_a_flooded_document_goes_to_a_link_whose_rows_are_refuted() -> None:
    """Subscriptions behind the link were held back, because nobody advertised such a document."""
    router = Router("j", ["i", "k"], ["c"], strategy=Strategy(piggyback="L-d"))
    router.advertise(advertisement("news", schema("a")), "i")
    router.subscribe("s", parse("//a"), "k")
    router.subscribe("t", parse("//a/a"), "c")
    plan = next(message.plan for _, message in router.replan() if isinstance(message, RequestAnnotations))
    assert plan.absences
    no = bytes([0, 0xFF << (8 - len(plan.absences)) & 0xFF])
    said = Annotations(FIGURES, {AnnotationKind.NEGATIVE_DATA: no}, plan.epoch)
    plain = Envelope("d", b"<q/>")
    refuted = annotated(plain, said)
    assert decisions(router.exchange([Publish(refuted)], "i")) == {}  # the rule for other documents
    marked = annotated(flooded(plain, "outside its publisher's advertisements"), said)
    explained = router.explain(marked, "i")
    assert explained.rows == {"k": {"s": "refuted"}, "c": {"t": "refuted"}}
    assert not explained.is_parsed
    assert decisions(router.exchange([Publish(marked)], "i")) == {"k": ()}


def test_trap_17_a_row_that_is_held_back_is_open_for_a_flooded_document() -> None:
    """The advertisements of a link refute a row, unless the document is outside of them."""
    router = Router("j", ["i", "k"], ["c"], strategy=Strategy(piggyback="L+t"))
    router.advertise(advertisement("news", schema("a")), "i")
    router.subscribe("s", parse("//q[. = 1]"), "c")
    maker = Router("i", ["j"], ["source"], strategy=Strategy(piggyback="L+t"))
    maker.handle([Subscribe("s", parse("//q"))], "j")
    document = Envelope("d", b"<q>1" + LONG + b"</q>")
    (message,) = maker.exchange([Publish(document)], "source")["j"]
    assert isinstance(message, Publish)
    assert decisions(router.exchange([message], "i")) == {"k": (), "c": ("s",)}
    unmarked = annotated(
        Envelope("d", document.body), Annotations.decode(message.envelope.annotations, document)
    )
    assert router.explain(unmarked, "i").rows["c"] == {"s": "refuted"}  # the rule for other documents


def test_trap_18_bits_are_answers_to_the_plan_of_one_neighbour() -> None:
    """k asks the same questions as j in another order, so the bits of j would say to k what is not so."""
    line = Line("L-d", {"k": {"s": "//a", "t": "//b", "u": "//r"}})
    names = [each for each in line.plan.absences if each in (chain("a"), chain("b"), chain("r"))]
    other = AnnotationPlan(tuple(names[1:] + names[:1]))
    line.j.handle([RequestAnnotations(other)], "k")
    line.replan()
    sent = line.annotated(b"<r><b/></r>")
    received = Annotations.decode(sent.annotations, sent)
    (message,) = line.j.exchange([Publish(sent)], "i")["k"]
    assert isinstance(message, Publish)
    passed_on = Annotations.decode(message.envelope.annotations, message.envelope)
    assert received.epoch == line.plan.epoch != passed_on.epoch == other.epoch
    bits = decode_bits(passed_on.sections[AnnotationKind.NEGATIVE_DATA], 3)
    document = read(sent.body)
    assert bits.tolist() == [not matches(parse(f"//{local}"), document) for ((_, local),) in other.absences]
    inherited = decode_bits(received.sections[AnnotationKind.NEGATIVE_DATA], len(line.plan.absences))[:3]
    assert inherited.tolist() != bits.tolist()


def test_trap_19_a_client_gets_all_ids() -> None:
    """One proven row decides a neighbour, but a client is owed the ids of all rows that match."""
    line = Line("L+s", {"c": {"v": "//a/y", "w": "//a/z"}, "m": {"o": "//a/*"}})
    document = Envelope("d", b"<a><y/><z/></a>")
    decided, work = line.arrive(proves(line, document, "y"))
    assert decided == {"c": ("v", "w"), "m": ()}
    assert work.parsed
    assert work.proven == 2  # v and o; as printed, c would be decided by v alone


def test_trap_20_paths_carry_no_annotations() -> None:
    """Annotations are about documents, and a router that is sent paths has none."""
    strategy = Strategy(advertising=False, publication="paths", piggyback="L+t")
    router = Router("r", ["n"], ["c"], strategy=strategy)
    router.subscribe("s", parse("//a"), "n")
    (sent,) = router.receive(Envelope("d", b"<r><a/></r>" + b" " * 4000), "c")
    assert isinstance(sent.message, Paths)


def test_trap_21_elements_from_entities_are_in_the_structure() -> None:
    """The bytes of the document have no ``a`` tag where it stands."""
    line = Line("L+t", {"k": {"s": "//r/a"}, "l": {"t": "//r"}})
    body = b'<!DOCTYPE r [<!ENTITY e "<a></a>">]><r>&e;' + LONG + b"</r>"
    assert b"<r><a>" not in body
    decided, work = line.arrive(line.annotated(body))
    assert decided == {"k": (), "l": ()}
    assert not work.parsed


def test_trap_22_a_structure_knows_twigs_and_does_not_count() -> None:
    """Paths alone would say that ``//p[a]/b`` matches; merged siblings say nothing about their number."""
    line = Line("L+t", {"k": {"twig": "//p[a]/b"}, "l": {"pair": "/r[count(p) > 2]"}, "m": {"any": "//r"}})
    sent = line.annotated(b"<r><p><a/></p><p><b/></p>" + LONG + b"</r>")
    document = read(sent.body)
    assert all(matches(parse(path), document) for path in ("/r/p/a", "/r/p/b"))
    assert line.j.explain(sent, "i").rows == {
        "k": {"twig": "refuted"},
        "l": {"pair": "open"},
        "m": {"any": "proven"},
        "c": {},
    }
    assert line.arrive(sent)[0] == {"m": ()}


def test_trap_24_the_router_that_receives_documents_asks() -> None:
    """Read as printed, R_i would name the chains of its own rows, which decide nothing at R_j."""
    strategy = Strategy(advertising=False, piggyback="L+sd-sd")
    sender = Router("i", ["j"], ["source"], strategy=strategy)
    receiver = Router("j", ["i", "k"], strategy=strategy)
    (told,) = [send.message for send in receiver.subscribe("s", parse("//x/y"), "k") if send.link == "i"]
    sender.handle([told], "j")
    (document,) = sender.exchange([Publish(Envelope("d", b"<x><y/></x>"))], "source")["j"]
    answers = receiver.exchange([document], "i")["i"]
    (asked,) = [message for message in answers if isinstance(message, RequestAnnotations)]
    assert chain("x/y") in asked.plan.positions
    assert sender.exchange(answers, "j") == {}


def test_trap_25_one_general_row_makes_negative_subscriptions_useless() -> None:
    """Only ``/r`` is forwarded, and every document that comes matches it; negative data still decides."""
    rows = {"k": {"s": "/r/a/b", "t": "/r/c"}, "l": {"general": "/r"}}
    body = b"<r><d/></r>"
    for name, refuted in (("L-s", 0), ("L-d", 2)):
        line = Line(name, rows)
        assert line.told.ids == ("general",)
        decided, work = line.arrive(line.annotated(body))
        assert decided == {"l": ()}
        assert work.refuted == refuted
        without = {"k": rows["k"], "l": {"general": "/q"}}
        assert Line(name, without).told.ids == ("general", "s", "t")


def test_a_proof_of_a_row_that_was_withdrawn_is_no_proof() -> None:
    """The claim is true; the row is not there any more."""
    line = Line("L+s", {"k": {"p": "//a/z", "q": "//a/y"}, "m": {"o": "//a/*"}})
    sent = proves(line, Envelope("d", b"<a><y/></a>"), "y")
    line.at_j("k", Unsubscribe("q"))
    assert line.arrive(sent)[0] == {"m": ()}
