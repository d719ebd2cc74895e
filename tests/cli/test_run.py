"""``twigcast run`` and ``twigcast dead-letters``, tested on one small pipeline that is really run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from twigcast.cli.stores import check_store, load_pipeline
from twigcast.subscriptions.store import SubscriptionStore

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]
pytestmark = pytest.mark.xdist_group("pipeline_run")  # one process, so that the pipeline runs once
TWIGCAST = [sys.executable, "-c", "from twigcast.cli import main; main()"]
PIPELINE = """
[sink]
kind = "files"
path = "subscribers"
[spark]
master = "local[1]"
[limits]
depth = 3
"""


@dataclass(frozen=True, slots=True)
class Ran:
    """A pipeline that was run once, and the output of the command."""

    pipeline: Path
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def pipeline_run(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Two good documents, a malformed one, one that is too deep, and a subscriber to one of the good ones."""
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "feed").mkdir()
    bodies = {
        "a": b"<a><p>1</p></a>",
        "b": b"<b/>",
        "bad": b"<a><p></a>",
        "deep": b"<a><a><a><a><p/></a></a></a></a>",
    }
    for name, body in bodies.items():
        (folder / "feed" / f"{name}.xml").write_bytes(body)
    SubscriptionStore(folder / "subscriptions.db").subscribe("ada", "//p", subscriber="desk")
    pipeline = folder / "pipeline.toml"
    pipeline.write_text(PIPELINE)
    return Ran(pipeline, twigcast("run", pipeline, "--json"))


def twigcast(*arguments: object, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in a new process, because a process has one Spark session; ``path`` is importable."""
    command = [*TWIGCAST, *map(str, arguments)]
    paths = [*([str(path)] if path else []), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=env)


@pytest.fixture
def run_here(run: RunCommand, spark: Any, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Run the command in this process, with its Spark session."""

    @contextmanager
    def session_for(pipeline: object) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr("twigcast.spark.session_for", session_for)
    return run


def test_a_run_says_what_each_batch_did(pipeline_run: Ran) -> None:
    """With ``--json``, stdout has one object for each batch and nothing else."""
    assert pipeline_run.done.returncode == 0, pipeline_run.done.stderr
    (batch,) = map(json.loads, pipeline_run.done.stdout.splitlines())
    figures = {name: batch[name] for name in ("batch", "documents", "matches", "deliveries", "dead_letters")}
    assert figures == {"batch": 0, "documents": 4, "matches": 1, "deliveries": 1, "dead_letters": 2}
    assert batch["index_version"] == "1"


def test_a_run_says_where_things_are(pipeline_run: Ran) -> None:
    """The summary on stderr has the totals, and the paths of the outputs."""
    assert "4 documents (" in pipeline_run.done.stderr
    assert str(pipeline_run.pipeline.parent / "subscribers") in pipeline_run.done.stderr
    assert f"twigcast dead-letters {pipeline_run.pipeline}" in pipeline_run.done.stderr


def test_deliveries_are_where_the_sink_says(pipeline_run: Ran) -> None:
    """The delivered file has the bytes of the document."""
    files = list((pipeline_run.pipeline.parent / "subscribers" / "desk").iterdir())
    assert [file.read_bytes() for file in files] == [b"<a><p>1</p></a>"]


def test_dead_letters_are_listed(pipeline_run: Ran, run: RunCommand) -> None:
    """The list has id, code, line, column, batch and message, and Spark is not started for it."""
    rows = sorted(line.split("\t") for line in run("dead-letters", pipeline_run.pipeline).lines)
    assert [(Path(row[0]).name, *row[1:5]) for row in rows] == [
        ("bad.xml", "malformed", "1", "9", "0"),
        ("deep.xml", "too-deep", "1", "10", "0"),
    ]


def test_dead_letters_are_chosen_by_code(pipeline_run: Ran, run: RunCommand) -> None:
    """``--code`` selects dead letters, and in JSON they have their bodies."""
    (letter,) = map(
        json.loads, run("dead-letters", pipeline_run.pipeline, "--code", "malformed", "--json").lines
    )
    assert (letter["code"], letter["body"], letter["batch"]) == ("malformed", "<a><p></a>", 0)


def test_the_bytes_of_a_dead_letter_come_back(pipeline_run: Ran, run: RunCommand) -> None:
    """``--body`` writes exactly the bytes that were published."""
    (letter,) = map(
        json.loads, run("dead-letters", pipeline_run.pipeline, "--code", "malformed", "--json").lines
    )
    assert run("dead-letters", pipeline_run.pipeline, "--body", letter["doc_id"]).stdout == "<a><p></a>"
    assert run("dead-letters", pipeline_run.pipeline, "--body", "feed/bad.xml").stdout == "<a><p></a>"
    assert run("dead-letters", pipeline_run.pipeline, "--body", "none").exit_code == 2
    assert run("dead-letters", pipeline_run.pipeline, "--replace", "none", __file__).exit_code == 2


def test_dead_letters_are_tried_again(pipeline_run: Ran, run_here: RunCommand) -> None:
    """With a higher limit the selected letter is delivered and leaves the list; the other stays."""
    pipeline = pipeline_run.pipeline.with_name("higher.toml")
    pipeline.write_text(PIPELINE.replace("depth = 3", "depth = 30"))
    done = run_here("dead-letters", pipeline, "--retry", "--code", "too-deep")
    assert (done.exit_code, done.stdout) == (0, f"{pipeline.parent / 'feed' / 'deep.xml'}\tsource\n"), (
        done.stderr
    )
    assert "1 dead letter retried: 1 can be read now (1 delivery), 0 cannot" in done.stderr
    assert "1 read again from the source" in done.stderr
    listed = run_here("dead-letters", pipeline)
    assert ([line.split("\t")[1] for line in listed.lines], listed.stderr) == (["malformed"], "")
    finished = pipeline.parent / "work" / "journal" / "-1.done"
    finished.unlink()
    assert (
        f"twigcast dead-letters {pipeline} --retry finishes it" in run_here("dead-letters", pipeline).stderr
    )
    finished.touch()


def test_without_new_documents_a_run_names_replay(pipeline_run: Ran, run_here: RunCommand) -> None:
    """A new subscriber gets past documents by a replay."""
    done = run_here("run", pipeline_run.pipeline)
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    assert "nothing new since batch 0" in done.stderr
    assert f"twigcast replay {pipeline_run.pipeline}" in done.stderr
    SubscriptionStore(pipeline_run.pipeline.parent / "subscriptions.db").subscribe("bob", "/b")
    done = run_here("replay", pipeline_run.pipeline, "--subscriber", "bob", "--json")
    assert done.exit_code == 0, done.stderr
    assert " replayed: 1 delivery, 0 new dead letters" in done.stderr
    (batch,) = map(json.loads, done.stdout.splitlines())
    assert (batch["documents"], batch["deliveries"]) == (4, 1)
    (file,) = (pipeline_run.pipeline.parent / "subscribers" / "bob").iterdir()
    assert file.read_bytes() == b"<b/>"


def test_a_function_that_fails_is_one_line(pipeline_run: Ran) -> None:
    """The error is one line with the function, the batch and the cause, without messages of Spark."""
    folder = pipeline_run.pipeline.parent
    (folder / "mail.py").write_text("def send(table):\n    raise ValueError('no server')\n")
    pipeline = folder / "mail.toml"
    pipeline.write_text(
        'work = "mail"\n[sink]\nkind = "callable"\nfunction = "mail:send"\n[spark]\nmaster = "local[1]"\n'
        '[dead_letters]\npath = "mail/letters"\n[metrics]\npath = "mail/metrics"\n'
    )
    done = twigcast("run", pipeline, path=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: the function mail:send failed in batch 0: ValueError: no server (mail.py, line 2)"
        " (run-failed)"
    ]


def test_a_bad_pipeline_file_is_one_line(run: RunCommand, write: Write) -> None:
    """The error names the file, the key and what was expected."""
    path = write("p.toml", "[source]\nknd = 'directory'\n")
    done = run("run", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {path}: source.knd: unknown key; did you mean kind? (pipeline-file)\n"


def test_a_source_that_is_not_there_is_said_before_spark_starts(
    run: RunCommand, write: Write, tmp_path: Path
) -> None:
    """The error is one line, with exit code 2."""
    done = run("run", write("p.toml", ""))
    message = f"error: {tmp_path / 'feed'}: there is no such source of documents (not-found)\n"
    assert (done.exit_code, done.stderr) == (2, message)


def test_a_site_without_documents_says_where_its_plan_is(
    run_here: RunCommand, write: Write, tmp_path: Path
) -> None:
    """A pipeline whose documents another one sends ends well before that one has run."""
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("ada", "//p")
    site = "[network]\nrouters = ['south']\nplan = 'south.json'"
    done = run_here("run", write("p.toml", f"source = {{ kind = 'table', path = 'border' }}\n{site}"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == (
        f"no document has come yet to {tmp_path / 'border'}\n"
        f"  subscriptions  {tmp_path / 'south.json'} (for the pipeline that sends documents)\n"
    )
    assert "//p" in (tmp_path / "south.json").read_text()


@pytest.mark.parametrize(
    "command",
    [["run"], ["run", "--stream"], ["dead-letters", "--retry"], ["replay"]],
    ids=lambda words: " ".join(words),
)
def test_a_subscription_table_that_is_not_there_is_said_before_spark_starts(
    run: RunCommand, write: Write, tmp_path: Path, command: list[str]
) -> None:
    """A misspelt path is reported in one line, exit code 2; no file is created and no document lost."""
    write("feed/a.xml", "<a/>")
    pipeline = write("p.toml", "subscriptions.path = 'subscribers.db'")
    done = run(*command, pipeline)
    said = f"there is no such subscription store: create it with twigcast subscribe {pipeline} --id ID XPATH"
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path / 'subscribers.db'}: {said} (not-found)\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["feed", "p.toml"]


def test_an_empty_subscription_table_is_a_remark(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store without subscriptions is reported, and the run continues."""
    SubscriptionStore(tmp_path / "subscriptions.db")
    pipeline = write("p.toml", "")
    check_store(load_pipeline(pipeline), pipeline)
    remark = "no subscriptions yet (twigcast subscribe), so nothing is delivered"
    assert capsys.readouterr().err == f"{tmp_path / 'subscriptions.db'}: {remark}\n"


def test_without_the_extra_there_is_a_command_to_install_it(
    run: RunCommand, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the extra to install, with exit code 2."""
    monkeypatch.setattr("twigcast.cli.stores.find_spec", lambda name: None if name == "pyspark" else name)
    done = run("run", write("p.toml", ""))
    message = "error: pyspark is not installed: pip install 'twigcast[spark]' (missing-extra)\n"
    assert (done.exit_code, done.stderr) == (2, message)


def test_no_dead_letters_are_no_lines(run: RunCommand, write: Write) -> None:
    """The list is empty if there are no dead letters, also if the pipeline never ran."""
    done = run("dead-letters", write("p.toml", ""))
    assert (done.exit_code, done.stdout) == (0, "")


@pytest.mark.parametrize("options", [["--code", "x' or 1"], ["--retry", "--body", "d"]])
def test_dead_letters_refuse_what_makes_no_sense(run: RunCommand, write: Write, options: list[str]) -> None:
    """Bad codes and contradictory options are usage errors."""
    assert run("dead-letters", write("p.toml", ""), *options).exit_code == 2
