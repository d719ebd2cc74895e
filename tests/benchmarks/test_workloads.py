"""The workloads: the same on every day, and clear about what they lack."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from benchmarks.workloads import WARM, data, feed, label_paths, new_label_paths, subscriptions, workload
from twigcast.errors import SourceError


@pytest.fixture
def _no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TWIGCAST_DATA", str(tmp_path))


def test_label_paths_are_distinct_paths_of_names() -> None:
    """Each path of element names is counted once, comments and instructions not at all."""
    assert label_paths(b"<a><b/><b><!-- c --><?d?><a/></b></a>") == {"/a", "/a/b", "/a/b/a"}


def test_new_label_paths_are_those_that_no_earlier_document_had() -> None:
    """A path that an unseen document brings is not new in the one after it."""
    assert new_label_paths([b"<a/>"], [b"<a><b/></a>", b"<a><b/><c/></a>"]) == 1.0


@pytest.mark.usefixtures("_no_data")
def test_missing_data_is_named() -> None:
    """Where the folder of data lacks something, the error says what, where, and what to do."""
    with pytest.raises(SourceError, match=r"no medline .*TWIGCAST_DATA") as caught:
        data("medline")
    assert caught.value.path.endswith("medline")


@pytest.mark.usefixtures("_no_data")
def test_news_needs_no_data() -> None:
    """The workloads of the schema that ships with the package run anywhere."""
    assert len(workload("news-linear-1k").subscriptions) == 1000
    assert len(feed("news").warm) == WARM


def test_a_workload_never_changes() -> None:
    """Subscriptions are those of the first day: a changed generator needs a new name."""
    text = "\n".join(subscriptions("news", "values", 100))
    assert sha256(text.encode()).hexdigest()[:16] == "ff96e28820b06316"
