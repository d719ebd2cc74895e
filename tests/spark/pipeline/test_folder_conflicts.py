"""Folders of a pipeline that must not contain one another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from twigcast.errors import PipelineError
from twigcast.spark.pipeline import Pipeline


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [
        ({"sink": {"path": "work"}}, "sink[0].path", "but work.path is the same"),
        ({"sink": {"kind": "jsonl", "path": "work"}}, "sink[0].path", "but work.path is the same"),
        ({"sink": {"path": "work/checkpoint"}}, "sink[0].path", "but work.checkpoint is the same"),
        ({"sink": {"path": "feed"}}, "sink[0].path", "expected a path outside of source.path"),
        ({"sink": {"kind": "jsonl", "path": "feed/x"}}, "sink[0].path", "outside of source.path"),
        ({"sink": {"path": "out"}}, "sink[0].path", "but dead_letters.path is in it"),
        (
            {"sink": {"path": "out"}, "dead_letters": {"path": "bad"}},
            "sink[0].path",
            "but metrics.path is in it",
        ),
        ({"sink": {"path": "x"}, "work": "x/work"}, "sink[0].path", "but work.path is in it"),
        (
            {"sink": {"path": "x"}, "work": {"checkpoint": "x/c"}},
            "sink[0].path",
            "but work.checkpoint is in it",
        ),
        (
            {"sink": {"kind": "files", "path": "x"}, "subscriptions": {"path": "x/s.db"}},
            "sink[0].path",
            "but subscriptions.path is in it",
        ),
        (
            {"sink": {"path": "s3a://b/x/"}, "work": {"checkpoint": "s3a://b/x/c"}},
            "sink[0].path",
            "but work.checkpoint is in it",
        ),
        ({"sink": [{"path": "a"}, {"path": "a/b"}]}, "sink[0].path", "but sink[1].path is in it"),
        ({"dead_letters": {"path": "out"}}, "dead_letters.path", "but sink[0].path is in it"),
        ({"dead_letters": {"path": "feed/bad"}}, "dead_letters.path", "outside of source.path"),
        ({"work": "feed/work"}, "work.path", "outside of source.path"),
        ({"work": "feed"}, "work.path", "outside of source.path"),
        ({"subscriptions": {"path": "feed/s.db"}}, "subscriptions.path", "outside of source.path"),
        ({"source": {"path": "."}}, "sink[0].path", "outside of source.path"),
    ],
)
def test_a_place_that_is_not_its_own_is_refused(
    tmp_path: Path, table: dict[str, Any], key: str, words: str
) -> None:
    """The error names the key to change and the key that it conflicts with."""
    with pytest.raises(PipelineError) as caught:
        Pipeline.of(table, folder=tmp_path)
    assert caught.value.key == key
    assert words in caught.value.message


@pytest.mark.parametrize(
    "table",
    [
        {"sink": {"path": "work/deliveries"}},
        {"work": "mail", "dead_letters": {"path": "mail/letters"}, "metrics": {"path": "mail/metrics"}},
        {"sink": {"path": "feeds"}},
        {"sink": {"kind": "jsonl", "path": "out"}},
        {"sink": {"kind": "files", "path": "."}, "subscriptions": {"format": "jdbc"}}
        | {name: {"path": f"../{name}"} for name in ("dead_letters", "metrics", "work")},
        {"work": "feed/.work"},
        {"source": {"path": "*.xml"}},
        {"source": {"path": ".", "options": {"pathGlobFilter": "*.xml"}}},
        {"source": {"path": "dump.xml"}},
        {"source": {"kind": "format", "format": "kafka"}},
    ],
)
def test_places_that_do_not_disturb_each_other_are_fine(tmp_path: Path, table: dict[str, Any]) -> None:
    """Folders do not conflict beside each other, in the work folder, or outside of a source's pattern."""
    assert Pipeline.of(table, folder=tmp_path)
