"""A mistake of the user, a damaged file or a bad folder ends a run with one sentence, not with a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import PipelineError, RunError, TwigcastError
from twigcast.spark.jvm.session import _LOGGING
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.journal import Journal
from twigcast.subscriptions.store import SubscriptionStore


def pipeline_in(folder: Path, **tables: Any) -> Pipeline:
    (folder / "feed").mkdir(exist_ok=True)
    (folder / "feed" / "1.xml").write_bytes(b"<x/>")
    (folder / "file").touch()
    SubscriptionStore(folder / "subscriptions.db").subscribe("s", "/x")
    return Pipeline.of(tables, folder=folder)


def sentence_of(spark: SparkSession, pipeline: Pipeline) -> str:
    """The message of the error of a run."""
    with pytest.raises(TwigcastError) as caught:
        run(spark, pipeline)
    message = f"{getattr(caught.value, 'path', '')}: {caught.value}"
    assert caught.value.code
    for trace in ("\n", "\tat ", "Traceback", "py4j", "java.lang", "StreamingQueryException"):
        assert trace not in message
    return message


@pytest.mark.parametrize(
    ("tables", "named"),
    [
        ({"sink": {"kind": "files", "path": "/proc/nowhere"}}, "/proc/nowhere"),
        ({"sink": {"kind": "jsonl", "path": "/proc/nowhere"}}, "/proc/nowhere"),
        ({"sink": {"path": "/proc/nowhere"}}, "/proc/nowhere"),
        ({"sink": {"path": "file"}}, "/file"),
        ({"sink": {"kind": "files", "path": "file"}}, "/file/"),
        ({"metrics": {"path": "file"}}, "/file"),
        ({"work": "file"}, "/file"),
        ({"source": {"path": "missing"}}, "no such source of documents"),
        ({"source": {"path": "feed", "kind": "table"}}, "1.xml"),
        ({"source": {"kind": "format", "format": "kafkaa"}}, "no format 'kafkaa'; did you mean kafka?"),
        ({"source": {"kind": "format", "format": "kafka"}}, "needs its jar, in [spark] as conf"),
        (
            {"sink": {"path": "out/x", "format": "excel"}},
            "no format 'excel': that of a connector needs its jar",
        ),
        ({"subscriptions": {"format": "csv", "options": {"path": "/no/such"}}}, "/no/such"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mistake_is_a_sentence(
    spark: SparkSession, tmp_path: Path, tables: dict[str, Any], named: str
) -> None:
    """It names what is wrong."""
    assert named in sentence_of(spark, pipeline_in(tmp_path, **tables))


@pytest.mark.parametrize(
    "content", [b"", b"{broken", b"\xff", b"[]", b'{"batch": 0}', b'{"batch": 0, "time": 1}']
)
def test_a_damaged_journal_is_a_sentence(spark: SparkSession, tmp_path: Path, content: bytes) -> None:
    """It names the file; another file in the folder is no entry."""
    journal = Journal(tmp_path)
    journal.begin(0, "1")
    (tmp_path / "0.json").write_bytes(content)
    (tmp_path / "notes.json").write_bytes(content)
    assert journal.batches() == [0]
    with pytest.raises(RunError, match=r"0\.json: the journal entry of batch 0 cannot be read"):
        journal.find(0)


def test_damaged_state_is_a_sentence(spark: SparkSession, tmp_path: Path) -> None:
    """The files of the work folder are named."""
    pipeline = pipeline_in(tmp_path)
    run(spark, pipeline)
    (tmp_path / "feed" / "2.xml").write_bytes(b"<x/>")
    kept = (tmp_path / "work" / "feed" / ".0.json").read_bytes()
    (tmp_path / "work" / "feed" / ".0.json").write_bytes(b"[1")
    assert "work/feed/.0.json" in sentence_of(spark, pipeline)
    (tmp_path / "work" / "feed" / ".0.json").write_bytes(kept)
    (tmp_path / "work" / "checkpoint" / "commits" / "0").unlink()
    (tmp_path / "work" / "journal" / "0.json").write_bytes(b"{")
    assert "work/journal/0.json" in sentence_of(spark, pipeline)
    for file in (tmp_path / "work" / "checkpoint" / "offsets").iterdir():
        file.write_bytes(b"garbage")
    assert sentence_of(spark, pipeline)


@pytest.mark.parametrize("master", ["nonsense", "local[x]", "http://host", ""])
def test_a_wrong_master_is_refused_before_spark_starts(master: str) -> None:
    """Spark would print a trace, and only then end."""
    with pytest.raises(PipelineError, match=r"^spark\.(master|conf): expected .* as the master of Spark"):
        Pipeline.of({"spark": {"master": master}})
    with pytest.raises(PipelineError, match=r"^spark\.(master|conf): expected .* as the master of Spark"):
        Pipeline.of({"spark": {"conf": {"spark.master": master}}})
    for fine in (
        "local",
        "local[*]",
        "local[2, 3]",
        "local-cluster[2,1,1024]",
        "spark://h:7077",
        "yarn",
        "k8s://h",
    ):
        assert Pipeline.of({"spark": {"master": fine}}).spark.master == fine


def test_the_log_of_a_session_has_no_traces() -> None:
    """What is logged is one line each."""
    assert "%ex{none}" in _LOGGING
