"""Mediation in a network: every approach delivers what flooding would, in the publisher's own bytes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.mapping.approaches import NETWORKS
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.strategies import (
    random_mapping,
    random_pattern,
    random_schema,
    random_source_document,
)
from tests.routing.mediation.networks import MediatedNetwork
from twigcast.document import read
from twigcast.errors import DocumentError, MappingError, PatternError
from twigcast.pattern import matches, parse
from twigcast.rewriting import Mapping, Rename, SchemaTree
from twigcast.rewriting.labels import QName
from twigcast.routing import (
    MAPPING,
    RULES,
    Advertise,
    Announce,
    Envelope,
    NetworkMediation,
    Pool,
    Publish,
    Router,
    Strategy,
    Subscribe,
    image_advertisement,
)
from twigcast.schema import read_dtd

CMU = SchemaTree.of(read_dtd(b"<!ELEMENT cmu (Course*)> <!ELEMENT Course (#PCDATA)>"))
ONE = Mapping("cmu", CMU, (Rename("cmu", QName("", "catalogue")), Rename("cmu/Course", QName("", "course"))))
TWO = replace(ONE, operators=(*ONE.operators, Rename("cmu/Course", QName("", "lecture"))), version=2)
BODY = b"<cmu><Course>XML</Course></cmu>"


def network(approach: str, *mappings: Mapping) -> MediatedNetwork:
    """A network in which ada, at the publisher's router, and eve, two links away, want courses."""
    made = MediatedNetwork(NETWORKS[approach])
    for mapping in mappings:
        made.send("cmu", Announce(mapping))
    made.send("cmu", Advertise(image_advertisement("cmu", ONE)))
    made.send("ada", Subscribe("ada-1", parse("//course[.='XML']")))
    made.send("eve", Subscribe("eve-1", parse("/catalogue/course")))
    return made


@pytest.mark.parametrize("approach", NETWORKS)
def test_a_subscriber_receives_the_publishers_bytes(approach: str) -> None:
    """The image is matched; the document is delivered byte for byte, with the name of its mapping."""
    delivered = network(approach, ONE).send("cmu", Publish(Envelope("d1", BODY)))
    assert {(client, ids) for client, _, ids in delivered} == {("ada", ("ada-1",)), ("eve", ("eve-1",))}
    for _, envelope, _ in delivered:
        assert envelope.body == BODY
        assert envelope.headers == ((MAPPING, ONE.reference),)
        assert envelope.image is None


def test_without_mediation_nothing_matches() -> None:
    """A plain network matches the publisher's own names."""
    plain = MediatedNetwork(None)
    plain.send("ada", Subscribe("ada-1", parse("//course")))
    assert plain.send("cmu", Publish(Envelope("d1", BODY))) == []


@pytest.mark.parametrize(
    ("approach", "rules", "image"),
    [
        ("NDDR_router", False, False),
        ("NDDR_data", True, False),
        ("SDR", False, True),
        ("IDDR", False, False),
        ("QRA", False, False),
    ],
)
def test_what_travels_with_a_document(approach: str, rules: bool, image: bool) -> None:
    """The rules in a header or the image beside the document, as the approach says."""
    made = network(approach, ONE)
    made.send("cmu", Publish(Envelope("d1", BODY)))
    travelling = [message.envelope for *_, message in made.sent if isinstance(message, Publish)]
    assert len(travelling) == 2
    for envelope in travelling:
        assert (RULES in dict(envelope.headers)) is rules
        assert (envelope.image == b"<catalogue><course>XML</course></catalogue>") is image


def test_rules_in_the_header_need_no_announcement() -> None:
    """A router that has never heard of a mapping uses the one that the document brings."""
    made = network("NDDR_data")
    headers = ((MAPPING, ONE.reference), (RULES, ONE.canonical))
    delivered = made.send("cmu", Publish(Envelope("d1", BODY, headers=headers)))
    assert {client for client, *_ in delivered} == {"ada", "eve"}


def test_rules_must_have_the_hash_that_they_are_sent_under() -> None:
    """Altered rules are refused."""
    made = network("NDDR_data")
    headers = ((MAPPING, ONE.reference), (RULES, TWO.canonical))
    with pytest.raises(MappingError, match="have the hash") as caught:
        made.send("cmu", Publish(Envelope("d1", BODY, headers=headers)))
    assert caught.value.code == "mapping-rules"


def test_announcements_are_flooded_once() -> None:
    """Each router learns a mapping, and says it to the others only if it is new."""
    made = network("NDDR_router", ONE)
    made.send("eve", Announce(ONE))
    announced = [ends for *ends, message in made.sent if isinstance(message, Announce)]
    assert announced == [["r1", "r2"], ["r2", "r3"]]
    assert all(list(router.mappings or ()) == [ONE] for router in made.routers.values())


def test_a_document_keeps_its_version() -> None:
    """A router that has a newer mapping rewrites an old document by the old one: trap 34."""
    made = network("NDDR_router", ONE, TWO)
    old = Envelope("d1", BODY, headers=((MAPPING, ONE.reference),))
    assert {client for client, *_ in made.send("cmu", Publish(old))} == {"ada", "eve"}
    assert made.send("cmu", Publish(Envelope("d2", BODY))) == []  # lectures, by version 2


def test_an_unknown_version_is_never_replaced() -> None:
    """A hash that no router knows is an error, though another version of the name is known."""
    made = network("NDDR_router", ONE)
    with pytest.raises(MappingError, match="is not known here") as caught:
        made.send("cmu", Publish(Envelope("d1", BODY, headers=((MAPPING, TWO.reference),))))
    assert caught.value.code == "unknown-mapping"


def test_a_document_without_mapping_is_refused_or_as_it_is() -> None:
    """The policy of the network decides."""
    made = network("NDDR_router", ONE)
    with pytest.raises(MappingError, match="no mapping for the root element 'syllabus'") as caught:
        made.send("cmu", Publish(Envelope("d1", b"<syllabus/>")))
    assert caught.value.code == "no-mapping"
    lenient = MediatedNetwork(NetworkMediation(unknown="as-is"))
    lenient.send("ada", Subscribe("ada-1", parse("/syllabus")))
    assert len(lenient.send("cmu", Publish(Envelope("d1", b"<syllabus/>")))) == 1


def test_answers_are_kept_by_mapping_and_bytes() -> None:
    """The same bytes under two mappings have two answers: trap 31."""
    pool = Pool(answers=8)
    course, lecture = pool.hold(parse("//course")), pool.hold(parse("//lecture"))
    assert pool.match(BODY, ONE).tolist() == [course]
    assert pool.match(BODY, TWO).tolist() == [lecture]
    assert pool.match(BODY).tolist() == []


def test_the_source_schema_leads_no_subscription_to_the_publisher() -> None:
    """Subscriptions overlap the schema of the images, which is advertised: trap 32."""
    made = network("NDDR_router", ONE)
    assert set(made.routers["r2"].told("r1")) == {"eve-1"}


def test_a_refused_batch_leaves_no_mapping() -> None:
    """What a batch announces is taken back if the batch is refused."""
    made = network("NDDR_router", ONE)
    with pytest.raises(DocumentError):
        made.send("cmu", Announce(TWO), Publish(Envelope("d1", b"<cmu>")))
    assert list(made.routers["r1"].mappings or ()) == [ONE]
    assert made.send("cmu", Publish(Envelope("d2", BODY)))


def test_a_restored_router_knows_its_mappings() -> None:
    """The saved state has the canonical text of each mapping."""
    made = network("NDDR_router", ONE)
    before = made.routers["r1"]
    after = Router.restore(before.save(), mediation=NetworkMediation())
    assert [each.reference for each in after.mappings or ()] == [ONE.reference]
    assert after.receive(Envelope("d1", BODY), "cmu") == before.receive(Envelope("d1", BODY), "cmu")


def test_a_new_neighbour_learns_all_mappings() -> None:
    """A router that connects is told what is known."""
    made = network("NDDR_router", ONE)
    assert Announce(ONE) in [send.message for send in made.routers["r3"].connect("r4")]


@given(st.randoms(use_true_random=False), st.sampled_from(sorted(NETWORKS)))
@settings(deadline=None, max_examples=60)
def test_every_strategy_and_approach_delivers_what_matches_the_image(random: Random, approach: str) -> None:
    """Deliveries are those of the evaluator on the images, and the bytes are the publisher's."""
    strategies = [each for each in Strategy.all_combinations() if each.publication == "documents"]
    graph = random_schema(random).graph
    made = MediatedNetwork(NETWORKS[approach], random.choice(strategies), graph)
    mappings = {}
    for publisher in ("cmu", "brown"):
        tree = random_schema(random)
        mappings[publisher] = replace(random_mapping(random, tree, 4), name=publisher)
        made.send(publisher, Announce(mappings[publisher]))
        made.send(publisher, Advertise(image_advertisement(publisher, mappings[publisher])))
    wanted = {}
    for client in ("ada", "bob", "eve"):
        for number in range(6):
            try:
                wanted[f"{client}-{number}"] = parse(random_pattern(random).ours, NAMESPACES)
            except PatternError:
                continue
            made.send(client, Subscribe(f"{client}-{number}", wanted[f"{client}-{number}"]))
    for publisher, mapping in mappings.items():
        for number in range(2):
            body = random_source_document(random, mapping.source)
            try:
                image = mapping.apply(read(body))
            except DocumentError:
                continue
            found = {
                client: [id for id, each in wanted.items() if id.startswith(client) and matches(each, image)]
                for client in ("ada", "bob", "eve")
            }
            delivered = made.send(publisher, Publish(Envelope(f"{publisher}-{number}", body, publisher)))
            assert {client: sorted(ids) for client, _, ids in delivered} == {
                client: sorted(ids) for client, ids in found.items() if ids
            }
            assert all(envelope.body == body for _, envelope, _ in delivered)
