"""What a site concludes from annotations at its border is what it finds by parsing."""

from __future__ import annotations

import pickle
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.piggyback.protocols import PIGGYBACK
from tests.routing.overlay import any_document, subscription
from twigcast.document import DocumentLimits, read
from twigcast.errors import RoutingError
from twigcast.filtering import Index
from twigcast.pattern import Pattern, matches, parse
from twigcast.routing import (
    AnnotationKind,
    Envelope,
    SiteAnnotator,
    SiteBorder,
    SitePlan,
    SiteReader,
    Strategy,
    accepted,
)

LAZY = [name for name in PIGGYBACK if name.startswith("L") and name != "L"]


def concluded(index: Index, reader: SiteReader, envelope: Envelope) -> list[int] | None:
    """The positions that annotations decide; None if the document must be parsed."""
    said = accepted(envelope, DocumentLimits())
    if said is None:
        return None
    structure, found = said.sections.get(AnnotationKind.STRUCTURE), None
    if structure is not None:
        answer = index.match_structure(structure)
        found = np.array(answer.positions, np.int32), np.array(answer.open, np.int32)
    decided = reader.matches(said, found)
    return None if decided is None else sorted(decided.tolist())


@pytest.mark.parametrize("name", LAZY)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1 << 32))
def test_conclusions_are_answers(name: str, seed: int) -> None:
    """Also after subscriptions have changed, by the newest plan, an older one, or one of another process."""
    random = Random(seed)
    border, index = SiteBorder(Strategy(piggyback=name)), Index()
    there: dict[str, Pattern] = {}
    plans: list[SitePlan] = []
    for _ in range(3):
        gone = random.sample(sorted(there), len(there) // 3)
        came = {f"s{random.randrange(12)}": subscription(random) for _ in range(4)}
        for id in [*gone, *(id for id in came if id in there)]:
            if id in there:
                index.remove(id)
                del there[id]
        index.add_all(came.items())
        there |= came
        border.change(gone, came)
        plans.append(SitePlan.decode(border.plan().encode()))
        reader = pickle.loads(pickle.dumps(border.reader(index.position, (), index.position_count)))
        for plan in plans:
            annotator = SiteAnnotator(plan)
            for _ in range(4):
                body = b"<a>" + any_document(random) * 3 + b" " * 2000 + b"</a>"
                envelope = Envelope("d", body, annotations=annotator.annotations("d", body))
                found = concluded(index, reader, envelope)
                right = {id for id, each in there.items() if matches(each, read(body))}
                assert found in (None, sorted(index.position(id) or 0 for id in right))


def test_everything_that_a_site_wants_is_told() -> None:
    """The told subscriptions cover all subscriptions, and one that is covered is not told."""
    border = SiteBorder(Strategy(piggyback="L+t"))
    border.change((), {"all": parse("//p"), "one": parse("//p[person='Ada']"), "other": parse("//q")})
    assert {str(each) for each in border.plan().told.values()} == {"//p", "//q"}
    border.change(["all"], {})
    assert {str(each) for each in border.plan().told.values()} == {"//p[person='Ada']", "//q"}


def test_an_unknown_epoch_decides_nothing() -> None:
    """A site that does not know the plan of an annotation parses the document."""
    border, body = SiteBorder(Strategy(piggyback="L+a")), b"<a><b/></a>"
    border.change((), {"b": parse("//b")})
    said = SiteAnnotator(border.plan()).annotations("1", body)
    index = Index([("b", "//b")])
    envelope = Envelope("1", body, annotations=said)
    assert concluded(index, border.reader(index.position, (), 1), envelope) == [0]
    assert concluded(index, SiteReader(), envelope) is None
    fresh = SiteBorder(Strategy(piggyback="L+a"))
    fresh.change((), {"b": parse("//b"), "c": parse("//c")})
    fresh.plan()
    assert concluded(index, fresh.reader(index.position, (), 1), envelope) is None


def test_an_entry_that_the_border_does_not_know_is_open() -> None:
    """Patterns that routers have made are entries of the index, of which no plan asks."""
    border, body = SiteBorder(Strategy(piggyback="L+a")), b"<a><b/></a>"
    border.change((), {"b": parse("//b")})
    said = SiteAnnotator(border.plan()).annotations("1", body)
    index = Index([("b", "//b"), ("made", "//c")])
    envelope = Envelope("1", body, annotations=said)
    assert concluded(index, border.reader(index.position, [1], 2), envelope) is None


@pytest.mark.parametrize("body", [b"<a>", b"<a><b/></a>"])
def test_a_plan_without_kinds_says_nothing(body: bytes) -> None:
    """With ``L`` a site only tells its subscriptions; and an unreadable document has no annotations."""
    assert SiteAnnotator(SitePlan("L", {"": parse("/*")})).annotations("1", body) == b""
    assert bool(SiteAnnotator(SitePlan("L-s", {"": parse("/*")})).annotations("1", body)) == (len(body) > 3)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda data: data[:-5], "the plan of a site cannot be used"),
        (lambda data: data.replace(b"//b", b"//c"), "altered"),
        (lambda data: data.replace(b'"format": 1', b'"format": 2'), "format 2"),
        (lambda data: b"[]", "cannot be used"),
        (lambda data: b"{}", "epoch"),
    ],
    ids=["truncated", "altered", "format", "list", "empty"],
)
def test_a_damaged_plan_is_refused(change: object, why: str) -> None:
    """A plan has a hash of its content."""
    assert callable(change)
    plan = SitePlan("L+t", {"b": parse("//b")})
    assert SitePlan.decode(plan.encode()) == plan
    with pytest.raises(RoutingError, match=why):
        SitePlan.decode(change(plan.encode()))
