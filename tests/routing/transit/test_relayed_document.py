"""A document in fragments at one router: what is sent when, and what is held back."""

from __future__ import annotations

from random import Random

import pytest

from experiments.engines.routing.expression_automaton import advertisement_of
from experiments.engines.routing.path_expression import parse_path_expression
from tests.oracles.reduced_headers import reduced
from twigcast.fragmenting import Fragment, Spans, fragment
from twigcast.pattern import parse
from twigcast.routing import FLOODING, Router, Strategy
from twigcast.routing.messages import (
    Deliver,
    DeliverFragment,
    Message,
    PublishFragment,
    Unpublish,
    is_flooded,
)

BY_FRAGMENTS = Strategy(advertising=False, covering=False, publication="fragments")
BODY = b"<a><b/><c><d/></c><e/></a>"


def parts(body: bytes = BODY, doc_id: str = "d") -> list[Fragment]:
    return list(fragment(body, doc_id=doc_id, cut=Spans(elements=1)))


def router(strategy: Strategy = BY_FRAGMENTS, **subscriptions: str) -> Router:
    """A router with neighbours n, m and o and clients c and x; an id begins with its link."""
    made = Router("r", ["n", "m", "o"], ["c", "x"], strategy=strategy)
    for id, text in subscriptions.items():
        made.subscribe(id, parse(text), id[0])
    return made


def still_open(made: Router) -> list[str]:
    assert made.fragments is not None
    return [each.doc_id for each in made.fragments]


def sent(made: Router, message: Message, link: str = "n") -> list[tuple[str, object]]:
    """The links that a router sends to, each with the number of a fragment or the class of the message."""
    found: list[tuple[str, object]] = []
    for to, each in made.handle([message], link):
        if isinstance(each, PublishFragment | DeliverFragment):
            found.append((to, each.fragment.number))
        else:
            found.append((to, type(each)))
    return found


def test_a_link_gets_everything_once_its_match_is_certain() -> None:
    """Before that it gets nothing, and other links get nothing at any time."""
    made = router(m1="/a/b", o1="/a/f")
    first, second, third, *rest = parts()
    assert sent(made, PublishFragment(first, origin="p")) == []
    assert sent(made, PublishFragment(second, origin="p")) == [("m", 1), ("m", 2)]
    assert sent(made, PublishFragment(third, origin="p")) == [("m", 3)]
    assert [sent(made, PublishFragment(each, origin="p")) for each in rest] == [[("m", 4)], [("m", 5)]]
    assert still_open(made) == []


def test_what_is_known_at_the_end_is_sent_at_the_end() -> None:
    """A condition on what a document lacks is certain only when all of it has come."""
    made = router(m1="/a[not(f)]")
    answers = [sent(made, PublishFragment(each, origin="p")) for each in parts()]
    assert answers == [[], [], [], [], [("m", 1), ("m", 2), ("m", 3), ("m", 4), ("m", 5)]]


def test_a_client_gets_the_whole_document() -> None:
    """It is put together byte for byte, in whatever order the fragments come."""
    made = router(c1="/a/b", c2="/a[not(f)]", c3="/f", x1="/f")
    arriving = parts()
    Random(1).shuffle(arriving)
    answers = [made.handle([PublishFragment(each, "them", (("k", "v"),), "p")], "n") for each in arriving]
    assert answers[:-1] == [[], [], [], []]
    ((link, message),) = answers[-1]
    assert link == "c"
    assert isinstance(message, Deliver)
    assert (message.envelope.body, message.subscriptions) == (BODY, ("c1", "c2"))
    assert (message.envelope.publisher, message.envelope.headers) == ("them", (("k", "v"),))


def test_a_client_may_take_fragments_as_they_come() -> None:
    """Each has the subscriptions that match so far; the one that completes the document has all."""
    made = router(c1="/a/b", c2="/a[not(f)]", x1="/a[not(f)]")
    assert made.fragments is not None
    made.fragments.takers |= {"c", "x"}
    answers = [made.handle([PublishFragment(each, origin="p")], "n") for each in parts()]
    told = [
        [(link, each.fragment.number, each.subscriptions, each.is_complete) for link, each in answer]  # type: ignore[union-attr]
        for answer in answers
    ]
    assert told[:4] == [
        [],
        [("c", 1, ("c1",), False), ("c", 2, ("c1",), False)],
        [("c", 3, ("c1",), False)],
        [("c", 4, ("c1",), False)],
    ]
    assert told[4] == [
        ("c", 5, ("c1", "c2"), True),
        *[("x", number, ("x1",), number == 5) for number in range(1, 6)],
    ]


def test_a_flooded_document_goes_on_at_once() -> None:
    """The mark may come with any fragment; it reaches the other routers with a fragment, too."""
    made = router(m1="/f")
    first, second, *_ = parts()
    assert sent(made, PublishFragment(first, origin="p")) == []
    flooded = PublishFragment(second, headers=(("flooded", "why"),), origin="p")
    answer = made.handle([flooded], "n")
    assert [(link, each.fragment.number) for link, each in answer] == [  # type: ignore[union-attr]
        ("m", 1),
        ("m", 2),
        ("o", 1),
        ("o", 2),
    ]
    assert all(is_flooded(each) for _, each in answer)  # type: ignore[arg-type]


def test_a_clients_document_outside_its_advertisement_is_flooded() -> None:
    """With an advertisement this is known at its end; without any at once."""
    made = router(Strategy(publication="fragments"), m1="/a/b")
    assert sent(made, PublishFragment(parts()[0]), "c") == [("n", 1), ("m", 1), ("o", 1)]
    made = router(Strategy(publication="fragments"), m1="/a/b")
    made.advertise(advertisement_of("y", [parse_path_expression("/a/b")]), "c")
    *before, last = (sent(made, PublishFragment(each), "c") for each in parts())
    assert before == [[], [("m", 1), ("m", 2)], [("m", 3)], [("m", 4)]]
    assert last == [*[("n", each) for each in range(1, 6)], ("m", 5), *[("o", each) for each in range(1, 6)]]
    made.advertise(
        advertisement_of("z", [parse_path_expression(f"/a/{each}") for each in ("b", "c/d", "e")]), "c"
    )
    assert [sent(made, PublishFragment(each), "c") for each in parts()][-1] == [("m", 5)]


def test_a_broken_document_is_taken_back() -> None:
    """Those that were sent fragments are told to drop them, and so is its publisher; then it is forgotten."""
    made = router(m1="/a/b", o1="/a/f", c1="/a")
    good = list(fragment(b"<a><b/><c></c></a>", doc_id="d", cut=Spans(elements=1)))
    bad = Fragment(good[2].header, b"<c>\x01</c></a>"[: len(good[2].body)])
    assert sent(made, PublishFragment(good[0]), "x") == []
    assert sent(made, PublishFragment(good[1]), "x") == [("m", 1), ("m", 2)]
    answer = made.handle([PublishFragment(bad)], "x")
    assert [link for link, _ in answer] == ["m", "x"]
    for _, each in answer:
        assert isinstance(each, Unpublish)
        assert (each.doc_id, each.origin) == ("d", "r/x/1")
        assert each.reason.startswith("malformed: ")
    assert made.handle([PublishFragment(good[2])], "x") == []
    assert still_open(made) == []


def test_a_notice_of_a_neighbour_is_passed_on() -> None:
    """Fragments that come after it are ignored; a document that was held back leaves no trace."""
    made = router(m1="/a/b")
    first, second, third, *_ = parts()
    made.handle([PublishFragment(first, origin="p"), PublishFragment(second, origin="p")], "n")
    made.handle([PublishFragment(first, origin="q")], "n")
    assert sent(made, Unpublish("d", "p", "why")) == [("m", Unpublish)]
    assert sent(made, Unpublish("d", "q", "why")) == []
    assert sent(made, PublishFragment(third, origin="p")) == []
    assert still_open(made) == []


def test_documents_of_one_name_do_not_mix() -> None:
    """Two publishers may use the same name at the same time."""
    made = router(m1="/a/b", m2="/x/y")
    one, other = parts(), parts(b"<x><y/><z/></x>")
    found = []
    for each in zip(one, other, strict=False):
        found += sent(made, PublishFragment(each[0], origin="r/c/1"))
        found += sent(made, PublishFragment(each[1], origin="s/c/1"))
    assert found == [("m", 1), ("m", 2), ("m", 1), ("m", 2), ("m", 3), ("m", 3)]


def test_fragments_that_come_twice_are_sent_once() -> None:
    """One of the same number with another content breaks the document."""
    made = router(m1="/a/b")
    first, second, *_ = parts()
    for each in (first, second):
        made.handle([PublishFragment(each, origin="p")], "n")
    assert sent(made, PublishFragment(second, origin="p")) == []
    made = router(m1="/a/b", o1="/f")
    for each in (first, second):
        made.handle([PublishFragment(each, origin="p")], "n")
    other = parts(b"<a><b x='1'/><c/></a>")[1]
    assert sent(made, PublishFragment(other, origin="p")) == [("m", Unpublish)]


def test_a_document_keeps_the_subscriptions_of_its_first_fragment() -> None:
    """Those that begin or end later count for documents that begin later."""
    made = router(m1="/a/b")
    first, second, *_ = parts()
    made.handle([PublishFragment(first, origin="p")], "n")
    made.unsubscribe("m1", "m")
    made.subscribe("o1", parse("/a"), "o")
    made.subscribe("c1", parse("/a"), "c")
    assert sent(made, PublishFragment(second, origin="p")) == [("m", 1), ("m", 2)]
    assert sent(made, PublishFragment(first, origin="q")) == [("o", 1)]


def test_what_all_links_receive_is_not_evaluated() -> None:
    """A router that has nothing left to decide holds no bytes; the end of the document is still noticed."""
    made = router(m1="/a/b")
    relay = made.fragments
    assert relay is not None
    first, second, *rest = parts()
    made.handle([PublishFragment(first, origin="p")], "n")
    assert relay.held_bytes == len(first.body)
    made.handle([PublishFragment(second, origin="p")], "n")
    assert relay.held_bytes == 0
    for each in reversed(rest):
        assert len(relay) == 1
        made.handle([PublishFragment(each, origin="p")], "n")
    assert len(relay) == 0


@pytest.mark.parametrize("kind", ["edge", "prefix"])
def test_headers_may_say_less(kind: str) -> None:
    """What cannot be evaluated before another fragment is there is forwarded all the same."""
    made = router(m1="/a/c/d")
    arriving = [reduced(each, kind) for each in parts()]  # type: ignore[arg-type]
    found = [sent(made, PublishFragment(each, origin="p")) for each in reversed(arriving)]
    assert sorted(number for answer in found for _, number in answer) == [1, 2, 3, 4, 5]  # type: ignore[type-var]


def test_flooding_takes_no_fragments() -> None:
    """They are refused where documents travel whole."""
    with pytest.raises(Exception, match="does not accept PublishFragment"):
        router(FLOODING).handle([PublishFragment(parts()[0])], "c")
