"""``twigcast replay`` on a pipeline that is really run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.subscriptions import SubscriptionStore

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("pipeline_run")]
RunCommand = Callable[..., Any]
TWIGCAST = [sys.executable, "-c", "from twigcast.cli import main; main()"]
PIPELINE = """
[sink]
kind = "files"
path = "subscribers"
[spark]
master = "local[1]"
"""


def twigcast(*words: object) -> subprocess.CompletedProcess[str]:
    command = [*TWIGCAST, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_new_subscriber_gets_the_past_once(tmp_path: Path) -> None:
    """A run that finds nothing new names the replay, which delivers what is missing, and no file twice."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "a.xml").write_bytes(b"<a><p>1</p></a>")
    pipeline = tmp_path / "pipeline.toml"
    pipeline.write_text(PIPELINE)
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("all", "//p", subscriber="ada")
    assert "1 document (15 B) in 1 batch: 1 delivery, 0 dead letters" in twigcast("run", pipeline).stderr

    store.subscribe("late", "/a", subscriber="eve")
    again = twigcast("run", pipeline)
    assert "nothing new since batch 0" in again.stderr
    assert f"twigcast replay {pipeline}" in again.stderr

    done = twigcast("replay", pipeline, "--json")
    assert done.returncode == 0, done.stderr
    assert "1 document (15 B) replayed: 2 deliveries, 0 new dead letters" in done.stderr
    batch = json.loads(done.stdout)
    assert (batch["batch"], batch["deliveries"]) == (-1, 2)
    files = sorted(file.relative_to(tmp_path) for file in tmp_path.glob("subscribers/*/*.xml"))
    assert [file.parent.name for file in files] == ["ada", "eve"]

    one = twigcast("replay", pipeline, "--subscriber", "eve")
    assert "replayed: 1 delivery, " in one.stderr
    assert files == sorted(file.relative_to(tmp_path) for file in tmp_path.glob("subscribers/*/*.xml"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--since", "yesterday"], "expected a time such as 2031-05-06"),
        (["--from-batch", "-1"], "--from-batch"),
    ],
)
def test_bad_options(run: RunCommand, tmp_path: Path, options: list[str], sentence: str) -> None:
    """A bad option is refused before Spark is started."""
    pipeline = tmp_path / "pipeline.toml"
    pipeline.write_text(PIPELINE)
    done = run("replay", pipeline, *options)
    assert done.exit_code == 2
    assert sentence in done.stderr
