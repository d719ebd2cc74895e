"""A whole document at a router: what leaves before it is parsed, and what is never parsed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.routing.piggyback.link import Line, annotated
from twigcast.errors import DocumentError
from twigcast.pattern import parse
from twigcast.routing.messages import Deliver, Envelope, Publish, Subscribe
from twigcast.routing.piggyback import Annotations, Work
from twigcast.simulator.cost import EVEN
from twigcast.simulator.processing import RouterProcess

BODY = b'<r><a><y n="7"/></a></r>' + b" " * 2000
ROWS = {"k": {"s": "//a/y"}, "l": {"t": "//y[@n > 5]"}, "c": {"v": "//y[@n = 7]"}, "d": {"w": "//a"}}


def line(name: str = "L+t") -> Line:
    """Router j knows the structure of a document: k and d are proven, l and c depend on a value."""
    return Line(name, ROWS, clients=("c", "d"))


def test_a_proven_link_is_sent_the_document_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else is open; the others are sent it after the parse, and nobody twice."""
    at = line()
    sent = at.annotated(BODY)
    parses: list[str] = []
    read = at.j.pool.read_with_structure

    def counted(*given: Any) -> Any:
        parses.append("parse")
        return read(*given)

    monkeypatch.setattr(at.j.pool, "read_with_structure", counted)
    steps = at.j.exchange_in_steps([Publish(sent)], "i")
    early = next(steps)
    assert parses == []
    assert set(early) == {"k", "d"}
    assert isinstance(early["d"][0], Deliver)
    (late,) = steps
    assert parses == ["parse"]
    assert set(late) - {"i"} == {"l", "c"}


@pytest.mark.parametrize("name", ["L+t", "L+s", "L+a", "L+s-sd"])
def test_steps_together_are_an_exchange(name: str) -> None:
    """With every kind of annotation."""
    at, other = line(name), line(name)
    steps = list(at.j.exchange_in_steps([Publish(at.annotated(BODY))], "i"))
    together = other.j.exchange([Publish(other.annotated(BODY))], "i")
    assert {link for step in steps for link in step} == set(together)


def test_by_the_clock_of_the_simulator_a_proven_link_does_not_wait_for_the_parse() -> None:
    """The model charges the annotations before it is sent, and the parse after."""
    at = line()
    sent = at.annotated(BODY)
    process = RouterProcess(at.j, EVEN, has_subscribers=True)
    done = process.handle([Publish(sent)], "i", controls=0, publications=1)
    times = {sending.link: sending.at for sending in done.sendings}
    (document,) = done.documents
    assert document.work.parsed
    assert times["k"] < EVEN.matching(len(BODY), document.work) <= times["l"] == done.end
    assert not next(each for each in done.sendings if each.link == "k").needs_body


def test_a_document_that_cannot_be_read_after_it_has_left_refuses_the_batch() -> None:
    """Only a router that claims what it has not read lets that happen; tables stay as they are."""
    at = line()
    said = Annotations.decode(at.annotated(BODY).annotations, at.annotated(BODY))
    broken = annotated(Envelope("d", BODY.replace(b"</a>", b"<!a>")), said)
    steps = at.j.exchange_in_steps([Publish(broken), Subscribe("new", parse("//new"))], "i")
    assert set(next(steps)) == {"k", "d"}
    with pytest.raises(DocumentError):
        next(steps)
    assert "new" not in at.j.subscriptions("i")


def test_a_clients_document_never_leaves_before_it_is_read() -> None:
    """What a client says about it is not taken for true, and a malformed document never travels."""
    at = line()
    said = Annotations.decode(at.annotated(BODY).annotations, at.annotated(BODY))
    steps = at.j.exchange_in_steps([Publish(annotated(Envelope("d", b"<r>"), said))], "c")
    with pytest.raises(DocumentError):
        next(steps)


def test_what_was_proven_early_is_recorded() -> None:
    """So that a model of costs knows which links did not wait."""
    at = line()
    work = Work()
    at.j.exchange([Publish(at.annotated(BODY))], "i", work)
    assert work.documents[0].eager == {"k": 0.0, "d": 0.0}
