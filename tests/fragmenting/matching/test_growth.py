"""The work of receivers grows with the fragments and the bytes of headers, whatever the headers say."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.fragmenting.forged_headers import fields_of
from twigcast import Index
from twigcast.errors import FragmentError
from twigcast.filtering import Partial, PartialMatcher
from twigcast.fragmenting import (
    DocumentJoin,
    Fragment,
    FragmentIndex,
    FragmentLimits,
    HeaderKind,
    Outcome,
    Spans,
    Subtrees,
    assemble,
    decode,
    encode,
    evaluate_fragment,
    fragment,
)
from twigcast.fragmenting.fragments import LONGEST_ID, MOST_FRAGMENTS, LabelPaths
from twigcast.fragmenting.header_fields import BadField, header_fields, read_header
from twigcast.fragmenting.headers import PathDictionary
from twigcast.fragmenting.matching.path_answers import PathAnswers, linear_subscriptions
from twigcast.fragmenting.scheduling import POLICIES


def calls(work: Callable[[], object]) -> int:
    """The calls of functions, of Python and of C."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def grows_linearly(make: Callable[[int], Callable[[], object]], sizes: tuple[int, int, int]) -> None:
    """Twice the input makes at most 2.3 times the calls."""
    one, two, four = (calls(make(size)) for size in sizes)
    assert two < 2.3 * one, (one, two, four)
    assert four < 2.3 * two, (one, two, four)


def spans(count: int, kind: HeaderKind) -> list[Fragment]:
    body = b"<r>" + b"<a>1</a>" * count + b"</r>"
    return list(fragment(body, doc_id="d", cut=Spans(elements=1), header=kind))


def fed(query: str, parts: list[Fragment], **options: Any) -> Callable[[], object]:
    feed = FragmentIndex(Index([("q", query)]), **options)
    return lambda: [feed.add(part) for part in parts]


def joined(parts: list[Fragment]) -> Callable[[], object]:
    index = Index([("q", "//a")])
    matcher, join = index.partials(), DocumentJoin("d", index)
    values = [evaluate_fragment(index, matcher, part) for part in parts]

    def work() -> None:
        for value in values:
            join.add(value)
        assert join.status() == "complete"

    return work


@pytest.mark.parametrize(
    "make",
    [
        lambda count: fed("//a[.='1']", spans(count, "prefix")[::2]),  # with gaps
        lambda count: fed("/r/a[7]", spans(count, "prefix")),  # all bodies are kept
        lambda count: fed("//a", spans(count, "edge")[::-1]),  # each waits for the one before it
        lambda count: joined(spans(count, "edge")[::-1]),
    ],
)
def test_the_work_for_a_fragment_does_not_depend_on_those_before(
    make: Callable[[int], Callable[[], object]],
) -> None:
    """With gaps, with bodies that are kept, and with fragments that wait."""
    grows_linearly(make, (300, 600, 1200))


def test_elements_are_closed_less_often_if_many_stay_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing visits all that are open; with gaps these are as many as the fragments."""
    visited = 0
    derive = PartialMatcher.derive

    def counted(self: PartialMatcher, partial: Partial, *, early: bool = False) -> None:
        nonlocal visited
        visited += partial.unfinished
        derive(self, partial, early=early)

    monkeypatch.setattr(PartialMatcher, "derive", counted)

    def open_after(count: int) -> int:
        nonlocal visited
        visited = 0
        body = b"<r>" + b"<a><b/></a>" * count + b"</r>"
        parts = list(fragment(body, doc_id="d", cut=Spans(elements=1), header="prefix"))
        fed("//a[not(b)]", parts[::2])()
        return visited

    one, two, four = (open_after(size) for size in (300, 600, 1200))
    assert 0 < two < 3 * one
    assert four < 3 * two


# What a header names


def last_with_number(number: int) -> Fragment:
    (part,) = fragment(b"<r/>", doc_id="d")
    return Fragment(replace(part.header, number=number), part.body)


def test_nothing_is_allocated_for_a_number_that_a_header_names() -> None:
    """Missing fragments are ranges, and a fragment of a header with a large number is small."""
    part = decode(encode(last_with_number(MOST_FRAGMENTS)))
    feed, join = FragmentIndex(Index([("r", "/r")])), DocumentJoin("d", Index([("r", "/r")]))
    tracemalloc.start()
    feed.add(part)
    join.add(evaluate_fragment(join._index, join._index.partials(), part))
    found = feed.finish("d")
    with pytest.raises(FragmentError) as lacking:
        assemble([part])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    gap = (range(1, MOST_FRAGMENTS),)
    assert (found.status, found.missing, join.missing, lacking.value.missing) == ("incomplete", gap, gap, gap)
    assert join.status() == "open"
    assert peak < 1 << 20
    assert "1-2147483646" in lacking.value.message


def test_a_number_beyond_all_fragments_is_refused() -> None:
    """It would not fit a column of 32 bits."""
    with pytest.raises(FragmentError) as refused:
        decode(encode(last_with_number(MOST_FRAGMENTS + 1)))
    assert (refused.value.code, "number" in refused.value.message) == ("fragment-file", True)


def test_ids_of_documents_have_a_limit() -> None:
    """Receivers remember thousands of them."""
    (part,) = fragment(b"<r/>", doc_id="x" * LONGEST_ID)
    assert decode(encode(part)) == part
    with pytest.raises(FragmentError, match="16,384"):
        list(fragment(b"<r/>", doc_id="x" * (LONGEST_ID + 1)))
    with pytest.raises(BadField, match="16,384"):
        read_header(fields_of(part.header) | {"doc": "x" * (LONGEST_ID + 1)})


def test_ended_documents_are_remembered_within_bytes() -> None:
    """Long ids are forgotten sooner."""
    feed = FragmentIndex(Index([("r", "/r")]), limits=FragmentLimits(ended_bytes=200_000))
    for number in range(20):
        (part,) = fragment(b"<r/>", doc_id=f"{number:016000}")
        (news,) = feed.add(part)
        assert isinstance(news, Outcome)
    remembered = [number for number in range(20) if feed.status(f"{number:016000}") is not None]
    assert remembered == [17, 18, 19]


def test_the_digest_comes_before_the_header() -> None:
    """An altered header is refused without a look at what it says."""
    data = encode(spans(3, "prefix+paths")[1])
    with pytest.raises(FragmentError) as refused:
        decode(data.replace(b'"kind":"prefix+paths"', b'"kind":"prefix+pathz"'))
    assert (refused.value.code, refused.value.doc_id, refused.value.number) == ("fragment-corrupt", "d", 2)


def test_label_paths_are_written_without_numbers_as_long_as_the_bitmap() -> None:
    """A bitmap that grows by shifts of one would be copied for each label path."""
    shifted = 0

    class Counted(int):
        def __rlshift__(self, other: int) -> int:
            nonlocal shifted
            shifted += int(self)
            return other << int(self)

    header = spans(1, "prefix+paths")[1].header
    for count in (100, 200, 400):
        shifted = 0
        paths = LabelPaths(frozenset(map(Counted, range(1, count))))
        written = header_fields(replace(header, paths=paths))
        assert shifted <= 8 * count
        assert read_header(json.loads(json.dumps(written))).paths == paths


def test_a_long_chain_of_label_paths_is_read_in_linear_time() -> None:
    """Each path is one step from the one that it continues, for answers from headers and for schedules."""

    def part(count: int) -> Fragment:
        first = spans(1, "prefix+paths")[1]
        entries = [[number, number - 1, "a"] for number in range(1, count)]
        digits = f"{(1 << count) - 2:x}"
        fields = fields_of(first.header) | {"paths": digits, "entries": entries}
        return Fragment(read_header(fields), first.body)

    def answers(count: int) -> Callable[[], object]:
        known, header = PathAnswers(linear_subscriptions(Index([("a", "//a")]))), part(count).header
        return lambda: known.learn([header])

    grows_linearly(answers, (200, 400, 800))
    for schedule in POLICIES:
        grows_linearly(
            lambda count, schedule=schedule: fed(  # type: ignore[misc]
                "//a", [part(count)], schedule=schedule, checked=False
            ),
            (200, 400, 800),
        )


def test_label_paths_that_wait_for_others_are_not_asked_for_again() -> None:
    """Each is looked at when the one that it lacks comes."""
    asked = 0

    class Counted(PathDictionary):
        def unknown(self, number: int) -> int | None:
            nonlocal asked
            asked += 1
            return super().unknown(number)

    answers = PathAnswers(linear_subscriptions(Index([("a", "//a")])))
    answers._paths = Counted()
    header = spans(1, "prefix+paths")[1].header
    for number in range(1, 200):
        fields = fields_of(header) | {"paths": f"{1 << 10_000 + number:x}", "entries": []}
        answers.learn([read_header(fields)])
    assert asked == 199


def test_contexts_are_bounded_together() -> None:
    """A header that repeats a long context for each of its runs is refused, with what to do."""
    first, *_ = fragment(b"<r>" + b"<a/>" * 4 + b"</r>", doc_id="d", cut=Subtrees(2))
    fields = fields_of(first.header)
    (run,) = fields["runs"]
    deep = [[f"9.{number}", "a"] for number in range(1, 2001)]
    runs = [
        run | {"end": 1 + at, "fills": f"9.{1 + at}", "context": [1999, [f"9.{5000 + at}", "a"]], "roots": []}
        for at in range(1000)
    ]
    runs[0]["context"] = [0, *deep]
    forged = fields | {"runs": runs, "size": 1000, "holes": []}
    with pytest.raises(BadField, match="cut into spans"):
        read_header({name: value for name, value in forged.items() if value != []})
    shared = [each | {"context": [2000]} for each in runs[1:500]]
    header = read_header(fields | {"runs": [runs[0], *shared], "size": 500})
    assert len({id(each.context) for each in header.runs}) == 1
