"""``twigcast check`` on a pipeline file: mappings, and subscriptions beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.subscriptions import SubscriptionStore

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]

MAPPING = """
mapping = "north"
source = "north.dtd"
target = "../global.dtd"
[match]
"paper" = "news"
"paper/head" = "news/title"
"""


@pytest.fixture
def pipeline(write: Write, tmp_path: Path) -> Path:
    """A pipeline with one mapping, and subscriptions of which one is outside of the global schema."""
    write("global.dtd", "<!ELEMENT news (title, body?)><!ELEMENT title (#PCDATA)><!ELEMENT body (#PCDATA)>")
    write("mappings/north.dtd", "<!ELEMENT paper (head)><!ELEMENT head (#PCDATA)>")
    write("mappings/north.toml", MAPPING)
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("ada", "//title[contains(., 'x')]")
    store.subscribe("bob", "/paper/head")
    return write("p.toml", "[mediation]\nschema = 'global.dtd'\n")


def test_a_subscription_outside_of_the_global_schema_is_reported(
    run: RunCommand, pipeline: Path, tmp_path: Path
) -> None:
    """Somebody wrote it against the schema of a publisher, and no image can match it."""
    done = run("check", pipeline)
    store = tmp_path / "subscriptions.db"
    message = "no document of global.dtd can match /paper/head (outside-schema)"
    assert (done.exit_code, done.lines) == (1, [f"{store}: subscription 'bob': {message}"])
    (found,) = map(json.loads, run("check", "--json", pipeline).lines)
    assert (found["id"], found["code"]) == ("bob", "outside-schema")


def test_without_a_schema_the_targets_of_the_mappings_are_global(
    run: RunCommand, pipeline: Path, write: Write
) -> None:
    """The mapping files say what subscribers write against."""
    done = run("check", write("q.toml", "[mediation]\n"))
    assert "subscription 'bob'" in done.stdout


def test_a_mapping_that_cannot_be_used_is_reported(run: RunCommand, pipeline: Path, write: Write) -> None:
    """The line names the file, the place that leads nowhere, and what is near it."""
    file = write("mappings/south.toml", MAPPING.replace("north", "south").replace("paper/head", "paper/haed"))
    write("mappings/south.dtd", "<!ELEMENT paper (head)><!ELEMENT head (#PCDATA)>")
    done = run("check", pipeline)
    assert done.exit_code == 1
    (line,) = [line for line in done.lines if "haed" in line]
    assert line.startswith(f"{file}: match: there is no 'paper/haed'")
    assert "did you mean head?" in line


def test_a_good_pipeline_passes_in_silence(run: RunCommand, pipeline: Path, tmp_path: Path) -> None:
    """If nothing is wrong, the only output is a line on stderr."""
    SubscriptionStore(tmp_path / "subscriptions.db").unsubscribe("bob")
    done = run("check", pipeline)
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", f"{pipeline}: good\n")
