"""A subscription's text is parsed once between ``twigcast subscribe`` and a running batch."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from twigcast.filtering.program_cache import ProgramCache
from twigcast.pattern.syntax import parsing
from twigcast.spark import Pipeline, SubscriptionStore, run

XPATH = "/news[x1]//x3[@kind='lead']"
PARTS = "/news//x1[2]"
NETWORK = {
    "routers": ["north", "hub", "south"],
    "links": [["north", "hub"], ["hub", "south"]],
    "subscribers": {"ada": "south"},
}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts how often the parser or the program cache of this process has read each text."""
    texts: Counter[str] = Counter()

    def counted(read: Any, where: int) -> Any:
        def reading(*arguments: Any) -> Any:
            texts[arguments[where]] += 1
            return read(*arguments)

        return reading

    monkeypatch.setattr(parsing, "assembled", counted(parsing.assembled, 0))
    monkeypatch.setattr(ProgramCache, "assembled", counted(ProgramCache.assembled, 1))
    return texts


def pipeline_in(folder: Path) -> Pipeline:
    feed = folder / "feed"
    feed.mkdir()
    (feed / "1.xml").write_bytes(b"<news><x1/><x1/><x2><x3 kind='lead'/></x2></news>")
    return Pipeline.of({"network": NETWORK}, folder=folder)


def test_one_process_parses_once(spark: Any, tmp_path: Path, parsed: Counter[str]) -> None:
    """In the process that subscribed, routers, index and deliveries of parts do not parse the text again."""
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("a", XPATH, subscriber="ada")
    store.subscribe("b", PARTS, subscriber="ada", deliver="part")
    assert (parsed[XPATH], parsed[PARTS]) == (1, 1)
    (metrics,) = run(spark, pipeline_in(tmp_path))
    assert metrics.deliveries == 2
    assert (parsed[XPATH], parsed[PARTS]) == (1, 1)


def test_another_process_parses_once(spark: Any, tmp_path: Path, parsed: Counter[str]) -> None:
    """A pipeline parses the text of a subscription that another process has stored exactly once."""
    for id, xpath, deliver in (("a", XPATH, "document"), ("b", PARTS, "part")):
        command = [sys.executable, "-m", "twigcast", "subscribe", "--store", tmp_path / "subscriptions.db"]
        options = ["--id", id, "--subscriber", "ada", "--deliver", deliver, xpath]
        subprocess.run([*command, *options], check=True, capture_output=True)
    (metrics,) = run(spark, pipeline_in(tmp_path))
    assert metrics.deliveries == 2
    assert (parsed[XPATH], parsed[PARTS]) == (1, 1)
