"""``twigcast schema coverage``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]

CATALOGUES = Path(__file__).parents[3] / "examples" / "catalogues"
SUBSCRIPTIONS = "//course[place/building]\n//course[instructor/email]\n//course[schedule/time]\n//dean\n"


def test_pairs_of_subscription_and_publisher_are_printed(run: RunCommand, write: Write) -> None:
    """Where the structure fits; a subscription that fits none is counted."""
    done = run("schema", "coverage", CATALOGUES, "--subscriptions", write("s.txt", SUBSCRIPTIONS))
    assert done.lines == ["1\tgatech", "2\ttoronto", "3\tcmu", "3\tgatech", "3\tumd"]
    assert "4 subscriptions, 7 mappings; 1 subscription fits none" in done.stderr
    assert done.exit_code == 0


def test_json_has_an_object_for_each_subscription(run: RunCommand, write: Write) -> None:
    """With the names of the mappings that fit."""
    done = run("schema", "coverage", CATALOGUES, "-s", write("s.txt", SUBSCRIPTIONS), "--json")
    assert [json.loads(line)["mappings"] for line in done.lines] == [
        ["gatech"],
        ["toronto"],
        ["cmu", "gatech", "umd"],
        [],
    ]


def test_a_bad_subscription_is_reported(run: RunCommand, write: Write) -> None:
    """The others are answered."""
    done = run("schema", "coverage", CATALOGUES, "-s", write("s.txt", "//[\n//building\n"))
    assert (done.exit_code, done.lines) == (1, ["2\tgatech"])
