"""Headers that say what is not so: an error, or the answers of the whole document; never other ones."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fragmenting.forged_headers import altered
from tests.fragmenting.matching.test_fragment_index import CASES, cut, load, outcome
from twigcast import Index
from twigcast.errors import DocumentError, FragmentError
from twigcast.fragmenting import (
    DocumentJoin,
    Fragment,
    FragmentIndex,
    HeaderKind,
    Manifest,
    Outcome,
    Spans,
    Subtrees,
    evaluate_fragment,
    fragment,
)
from twigcast.fragmenting.fragments import HEADER_KINDS, OpenElement, PathEntry, node_id
from twigcast.fragmenting.scheduling import POLICIES

TRUSTED = {"roots", "paths", "entries"}
"""What a trusted header says about its own body, and no other header repeats."""


@pytest.mark.parametrize("kind", HEADER_KINDS)
@settings(max_examples=CASES, deadline=None, suppress_health_check=list(HealthCheck))
@given(random=st.randoms(use_true_random=False))
def test_an_altered_field_never_changes_an_answer(kind: HeaderKind, random: Random) -> None:
    """For every field, cut, schedule and order, in one process and joined from several."""
    index, body = load(random)
    expected = index.match(body).ids
    parts = cut(random, body, kind)
    manifest = Manifest.of(parts)
    at = random.randrange(len(parts))
    forgery = altered(random, parts[at])
    if forgery is None:
        return
    place, parts[at] = forgery
    order = random.sample(parts, len(parts))
    for checked in (True, False) if TRUSTED.isdisjoint(place) else (True,):
        for schedule in (None, random.choice(list(POLICIES))):
            window, early = random.choice([1, 2, 5, inf]), random.random() < 0.5
            feed = FragmentIndex(index, schedule=schedule, window=window, early=early, checked=checked)
            if random.random() < 0.2:
                feed.expect(manifest)
            found, _ = outcome(feed, order)
            assert found.match is None or found.match.ids == expected, (place, checked)
    matcher = index.partials()
    join = DocumentJoin("d", index)
    for part in order:
        try:
            join.add(evaluate_fragment(index, matcher, part))
        except (DocumentError, FragmentError) as error:
            join.fail(error)
    if join.status() == "complete":
        assert matcher.match(join.partial, body).ids == expected, place


def broken(feed: FragmentIndex, parts: list[Fragment]) -> str:
    """The code of the error that a document ends with."""
    found, _ = outcome(feed, parts)
    assert isinstance(found, Outcome)
    assert found.error is not None, found
    assert found.status == "broken"
    return found.error.code


def with_run(part: Fragment, **fields: object) -> Fragment:
    """A fragment of one run, of which the header says something else."""
    (run,) = part.runs
    return Fragment(replace(part.header, runs=(replace(run, **fields),)), part.body)  # type: ignore[arg-type]


def test_namespaces_in_a_context_are_those_of_the_start_tag() -> None:
    """A context with another namespace for a prefix would move the elements below it."""
    body = b'<r xmlns:p="u"><a/><p:b/></r>'
    first, second = fragment(body, doc_id="d", cut=Spans(elements=2))
    forged = OpenElement(node_id(1, 1), "r", (("p", "v"),))
    feed = FragmentIndex(Index([("b", "//Q{u}b")]))
    assert broken(feed, [first, with_run(second, context=(forged,))]) == "fragment-inconsistent"


def test_open_elements_are_those_of_the_body() -> None:
    """An element that the body does not leave open cannot be one around the next span."""
    parts = list(fragment(b"<r><a/><a><b/></a></r>", doc_id="d", cut=Spans(nodes=(4,)), header="edge"))
    opens = (*parts[0].runs[0].opens[:-1], OpenElement(node_id(1, 2), "a"))
    feed = FragmentIndex(Index([("b", "//a/b")]))
    assert broken(feed, [with_run(parts[0], opens=opens), *parts[1:]]) == "fragment-inconsistent"


@pytest.mark.parametrize("field", ["parent", "depth"])
def test_the_place_in_an_edge_header_is_that_of_the_hole(field: str) -> None:
    """An element has one parent."""
    body = b"<r><a><b/><b/></a><c><b/><b/></c></r>"
    parts = list(fragment(body, doc_id="d", cut=Subtrees(2), header="edge"))
    forged = with_run(parts[0], **{field: getattr(parts[0].runs[0], field) + 1})
    feed = FragmentIndex(Index([("b", "//c/b")]))
    assert broken(feed, [*parts[1:], forged]) == "fragment-inconsistent"


def test_a_hole_is_where_its_content_was() -> None:
    """Its offset and the place of its run agree."""
    body = b"<r><a/>xy<b/></r>"
    parts = list(fragment(body, doc_id="d", cut=Subtrees(1)))
    last = parts[-1]
    hole = last.holes[-1]
    moved = replace(last.header, holes=(*last.holes[:-1], replace(hole, offset=hole.offset + 1)))
    feed = FragmentIndex(Index([("xy", "/r[text()='xy']")]))
    assert broken(feed, [*parts[:-1], Fragment(moved, last.body)]) == "fragment-inconsistent"


def test_a_manifest_is_compared_with_the_headers() -> None:
    """Whether it comes before a fragment or after it."""
    parts = list(fragment(b"<r><a/><b/></r>", doc_id="d", cut=Spans(elements=1)))
    other = replace(parts[1].header, opening=replace(parts[1].opening, codec="latin_1"))
    manifest = Manifest((parts[0].header, other, *(part.header for part in parts[2:])))
    before, after = (FragmentIndex(Index([("a", "//a")])) for _ in range(2))
    before.expect(manifest)
    assert broken(before, parts) == "fragment-inconsistent"
    after.add(parts[1])
    after.expect(manifest)
    assert broken(after, parts[:1]) == "fragment-inconsistent"


@pytest.mark.parametrize("schedule", [None, *POLICIES])
def test_label_paths_of_one_number_are_one(schedule: str) -> None:
    """Two headers cannot give different names to it, whatever reads them."""
    parts = list(fragment(b"<r><a/><b/></r>", doc_id="d", cut=Spans(elements=1), header="prefix+paths"))
    paths = parts[1].paths
    assert paths is not None
    forged = replace(paths, entries=(*paths.entries, PathEntry(1, 0, "x")))
    second = Fragment(replace(parts[1].header, paths=forged), parts[1].body)
    feed = FragmentIndex(Index([("a", "//a")]), schedule=schedule, early=True, checked=False)  # type: ignore[arg-type]
    assert broken(feed, [parts[0], second, *parts[2:]]) == "fragment-inconsistent"


def test_a_run_outside_of_the_document_is_an_error() -> None:
    """The other fragments are whole without it, in any order."""
    parts = list(fragment(b"<r><a/><b/></r>", doc_id="d", cut=Subtrees(1)))
    last = Fragment(replace(parts[-1].header, holes=()), parts[-1].body)
    for order in ([*parts[:-1], last], [last, *parts[:-1]]):
        assert broken(FragmentIndex(Index([("a", "//a")])), order) == "fragment-inconsistent"


def test_places_rise_in_a_run() -> None:
    """What is after a hole comes later in the document than what is before it."""
    body = b"<r>x<a/>y<b/>z<c/></r>"
    parts = list(fragment(body, doc_id="d", cut=Subtrees(1)))
    last = parts[-1]
    holes = tuple(replace(hole, place=0) for hole in last.holes)
    forged = Fragment(replace(last.header, holes=holes), last.body)
    index = Index([("xyz", "/r[.='xyz']")])
    assert broken(FragmentIndex(index), [*parts[:-1], forged]) == "fragment-inconsistent"
    with pytest.raises(FragmentError, match="place"):
        evaluate_fragment(index, index.partials(), forged)
