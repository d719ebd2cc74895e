"""A collection that is changed, written as segments and opened again answers like a newly built index."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.errors import PatternError, SubscriptionError
from twigcast.filtering import Index, collection, levels, read_segment
from twigcast.pattern import Axis, NameTest, Pattern, PatternLimits, Step, Subscription
from twigcast.pattern import Path as PatternPath

NAMES = "abcd"
DOCUMENTS = [b"<a><b/><c><d/></c></a>", b"<b><a/></b>", b"<c><c><d/><a x='1'/></c></c>", b"<d>t</d>", b"<a/>"]


def random_subscription(random: Random, id: str) -> Subscription:
    """A small path, sometimes with a condition that makes its program inexact."""
    steps = [random.choice(["/", "//"]) + random.choice(NAMES) for _ in range(random.randint(1, 3))]
    steps[-1] += random.choice(["", "", "[1]", "[@x='1']", f"[{random.choice(NAMES)}]", "[count(*) > 1]"])
    return Subscription(id, "".join(steps), random.choice(["", "desk"]), random.choice(["document", "part"]))


@given(st.integers(0, 1 << 32))
@settings(max_examples=60, deadline=None)
def test_a_version_answers_as_an_index_built_anew(seed: int) -> None:
    """Answers are right whatever is added, removed or merged between versions, in whichever process."""
    random = Random(seed)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(levels, "TAIL", 4)
        patch.setattr(levels, "RATIO", 2)
        patch.setattr(collection, "SMALL", random.choice([0, 1 << 20]))
        root = Path(folder)
        index, there, number = Index(), dict[str, Subscription](), 0
        for _ in range(random.randint(1, 8)):
            for _ in range(random.randint(0, 6)):
                if there and random.random() < 0.4:
                    id = random.choice(sorted(there))
                    index.remove(id)
                    del there[id]
                else:
                    some = [
                        random_subscription(random, f"s{number + n}") for n in range(random.randint(1, 7))
                    ]
                    number += len(some)
                    assert index.add_all(some) == []
                    there.update((str(each.id), each) for each in some)
            names = index.save_segments(root)
            opened = Index.of_segments([read_segment(root / name) for name in names])
            anew = Index(there.values())
            check_alike(opened, anew)
            if random.random() < 0.4:
                index = opened
        settle(index)
        check_alike(index, Index(there.values()))


def settle(index: Index) -> None:
    """Wait until no background merge is running."""
    while True:
        with index._collection.lock:
            merging = index._collection._merging
        if merging is None:
            return
        merging.join()


def check_alike(index: Index, anew: Index) -> None:
    assert index.ids == anew.ids
    for body in DOCUMENTS:
        assert index.match(body).ids == anew.match(body).ids
    rows = {row["subscription"]: row for row in index.rows().to_pylist()}
    assert [rows[id] for id in index.ids] == anew.rows().to_pylist()


@pytest.mark.slow
def test_many_changes_leave_few_segments(tmp_path: Path) -> None:
    """After a thousand changes, each with a version, a version names a few files, one for each level."""
    index = Index((f"s{number}", f"//x{number}") for number in range(2000))
    for number in range(1000):
        index.add(f"n{number}", f"//y{number}")
        if number % 3 == 0:
            index.remove(f"s{number}")
        names = index.save_segments(tmp_path)
    assert len(names) <= 4
    settle(index)
    written = sum(file.stat().st_size for file in tmp_path.iterdir())
    assert written < 1000 * 6000


def test_segments_can_be_written_to_another_folder(tmp_path: Path) -> None:
    """Files that the folder does not have are written, also those of an index that was opened."""
    index = Index([("a", "//a"), ("b", "//b")])
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    names = index.save_segments(one)
    assert index.save_segments(other) == names
    opened = Index.of_segments([read_segment(one / name) for name in names])
    opened.remove("a")
    again = [read_segment(other / name) for name in opened.save_segments(other)]
    assert Index.of_segments(again).match(b"<a><b/></a>").ids == ["b"]


def unchanged(index: Index) -> None:
    """The index is as ``Index([("a", "//a")])`` makes it, and can be changed as if nothing had happened."""
    assert (index.ids, len(index), index.position_count) == (["a"], 1, 1)
    index.add("b", "//b")
    assert (index.ids, len(index)) == (["a", "b"], 2)
    assert index.match(b"<a><b/><c/></a>").ids == ["a", "b"]
    assert index.add_all([("b", "//c")])[0].error.code == "duplicate-id"


def test_subscriptions_of_a_mapping_are_its_keys_and_values() -> None:
    """Also with ids of two characters, in a new index and in one that grows; text alone adds nothing."""
    index = Index({"ab": "//x", "cd": "//y"})
    index.add_all({"ef": ("//p:z", {"p": "urn:p"})})
    assert index.match(b"<x><y/><z xmlns='urn:p'/></x>").ids == ["ab", "cd", "ef"]
    for wrong in ("//x", ["//x"]):
        with pytest.raises(TypeError, match="expected subscriptions"):
            index.add_all(wrong)  # type: ignore[arg-type]
    assert len(index) == 3


def test_an_id_that_cannot_be_hashed_is_refused_alone() -> None:
    """The others of the call are added."""
    index = Index([("a", "//a")])
    (refused,) = index.add_all([("b", "//b"), (["no id"], "//c")])
    assert refused.error.code == "unsavable-id"
    assert index.ids == ["a", "b"]
    with pytest.raises(SubscriptionError, match="cannot be used"):
        index.add(["no id"], "//c")  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_generator_that_raises_adds_nothing(error: type[BaseException]) -> None:
    """Subscriptions that came before the error are not added either."""

    def some() -> Iterator[tuple[str, str]]:
        yield "b", "//b"
        raise error

    index = Index([("a", "//a")])
    with pytest.raises(error):
        index.add_all(some())
    unchanged(index)


@pytest.mark.parametrize(
    "add", [lambda i: i.add("b", "//b"), lambda i: i.add_all([("b", "//b"), ("c", "//c[1]")])]
)
@pytest.mark.parametrize("where", ["with_added", "set_bit", "replace"])
def test_an_interrupt_adds_nothing(add: Any, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it comes: the roster does not keep rows that no snapshot has."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    index = Index([("a", "//a")])
    with monkeypatch.context() as patch:
        patch.setattr(collection, where, interrupted)
        try:
            add(index)
        except KeyboardInterrupt:
            pass
        else:  # an exact subscription sets no bit
            assert where == "set_bit"
            index.remove("b")
            return
    unchanged(index)


def test_a_generator_may_change_the_index_itself() -> None:
    """What it adds is not lost."""
    index = Index([("a", "//a")])

    def some() -> Iterator[tuple[str, str]]:
        index.add("b", "//b")
        yield "c", "//c"

    assert index.add_all(some()) == []
    assert index.match(b"<a><b/><c/></a>").ids == ["a", "b", "c"]


def test_of_an_id_that_comes_twice_the_first_is_added() -> None:
    """Also if the second is the same expression."""
    index = Index()
    (refused,) = index.add_all([("a", "//a"), ("a", "//b"), ("b", "//b")])
    assert (refused.id, refused.error.code) == ("a", "duplicate-id")
    assert index.match(b"<b/>").ids == ["b"]


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (("bad\0", "//a"), "character"),
        (("bad", "//a[b='\ud800']"), "character"),
        (("bad", "//a[b='\0']"), "character"),
        (("bad", "//p:a", {"p": "u\0"}), "character"),
        (("bad", Pattern((PatternPath((Step(Axis.CHILD, NameTest("", "a\0")),)),))), "character"),
        (("bad", Pattern((PatternPath((Step(Axis.CHILD, NameTest("\ud800", "a")),)),))), "character"),
        (("bad", "//a", {"p": "u" * 100_000}), "too-complex"),
        (("b" * 100_000, "//a"), "too-complex"),
        (("b" * 20_000, "//a"), "too-complex"),
        ((("tuple", "b" * 100_000), "//a"), "too-complex"),
        ((10**5000, "//a"), "unsavable-id"),
        (("bad", None), "syntax"),
    ],
)
def test_a_bad_subscription_is_refused_alone(item: tuple[Any, ...], code: str) -> None:
    """Text that XML does not allow, or too much of it, does not keep the others."""
    index = Index()
    (refused,) = index.add_all([("a", "//a"), item, ("c", "//c")])
    assert refused.error.code == code
    assert index.ids == ["a", "c"]
    with pytest.raises(type(refused.error)):
        index.add(*item)


@pytest.mark.parametrize("parsed", [False, True])
def test_an_opened_index_obeys_its_own_limits(tmp_path: Path, parsed: bool) -> None:
    """Later additions are held to the limits given to ``open``, whether they were parsed before or not."""
    Index([("a", "//a")]).save(tmp_path / "i")
    index = Index.open(tmp_path / "i", pattern_limits=PatternLimits(steps=2))
    long = Subscription("b", "/a/b/c")
    if parsed:
        assert long.pattern
    assert [each.error.code for each in index.add_all([long, ("c", "/a/b/c"), ("d", "/a/b")])] == [
        "too-complex"
    ] * 2
    with pytest.raises(PatternError, match="more than 2 steps"):
        index.add("e", "/a/b/c")
    assert index.ids == ["a", "d"]
    wide = Index.open(tmp_path / "i", pattern_limits=PatternLimits(steps=500))
    wide.add("b", "/a" * 400)
    assert wide.ids == ["a", "b"]


def test_a_parsed_subscription_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the parser nor the program cache reads the text of a subscription whose pattern is known."""
    given = Subscription("a", "//a[1]")
    assert given.pattern
    monkeypatch.setattr(collection, "parse", None)
    monkeypatch.setattr(collection.ProgramCache, "assembled", None)
    index = Index([given])
    assert index.match(b"<a/>").ids == ["a"]
