"""A collection that is changed, written as segments and opened again answers like a newly built index."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.filtering import Index, collection, levels, read_segment
from twigcast.pattern import Subscription

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


def test_an_add_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """An unhashable id makes ``add_all`` raise before anything is added."""
    index = Index([("a", "//a")])
    with pytest.raises(TypeError):
        index.add_all([("b", "//b"), (["no id"], "//c")])
    assert index.ids == ["a"]
    index.add("b", "//b")
    assert index.match(b"<a><b/></a>").ids == ["a", "b"]


def test_a_parsed_subscription_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the parser nor the program cache reads the text of a subscription whose pattern is known."""
    given = Subscription("a", "//a[1]")
    assert given.pattern
    monkeypatch.setattr(collection, "parse", None)
    monkeypatch.setattr(collection.ProgramCache, "assembled", None)
    index = Index([given])
    assert index.match(b"<a/>").ids == ["a"]
