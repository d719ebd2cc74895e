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
    (tmp_path / "feed").mkdir()
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


def test_a_source_that_is_missing_is_reported(run: RunCommand, tmp_path: Path, write: Write) -> None:
    """So is the folder of a glob pattern; a path with a scheme is left to Spark."""
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("ada", "/a")
    for path, missing in (("feed", "feed"), ("feed/*/x.xml", "feed"), (f"file:///{tmp_path}/a.xml", "a.xml")):
        file = write("p.toml", f"source.path = '{path}'")
        done = run("check", file)
        problem = (
            f"{file}: source.path: there is no such source of documents: {tmp_path / missing} (not-found)"
        )
        assert (done.exit_code, done.lines) == (1, [problem])
    for path in ("s3a://bucket/feed", "p.toml", "*.xml"):
        assert run("check", write("p.toml", f"source.path = '{path}'")).exit_code == 0
    site = "source.path = 'border/south'\n[network]\nrouters = ['south']\nplan = 'border/south.json'"
    assert run("check", write("p.toml", site)).exit_code == 0


def test_formats_that_spark_does_not_have_are_reported(
    run: RunCommand, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the key, and all of them at once; if the pipeline names jars, these may bring any format."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("ada", "/a")
    text = "source = { kind = 'format', format = 'kafkaa' }\nsink = { path = 'sink', format = 'excel' }"
    done = run("check", write("p.toml", text))
    assert done.exit_code == 1
    assert [line.split(": ", 1)[1].split(";")[0].split(":")[0] for line in done.lines] == [
        "source.format", "sink.format"
    ]  # fmt: skip
    assert "'kafkaa'; did you mean kafka? (format)" in done.lines[0]
    jars = "\nspark.conf = { 'spark.jars' = 'excel.jar' }"
    assert run("check", write("p.toml", text + jars)).exit_code == 0
