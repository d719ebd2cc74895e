"""The pipeline file: its defaults, its paths, and its error messages."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from twigcast import Index
from twigcast.document import DocumentLimits
from twigcast.errors import PipelineError
from twigcast.spark.pipeline import Pipeline


def load(folder: Path, text: str) -> Pipeline:
    """The pipeline of a file with this text."""
    path = folder / "pipeline.toml"
    path.write_text(text, encoding="utf-8")
    return Pipeline.load(path)


def refusal(table: dict[str, Any]) -> PipelineError:
    """The error of a table that is refused."""
    with pytest.raises(PipelineError) as caught:
        Pipeline.of(table, path="news.toml")
    return caught.value


def test_an_empty_file_is_a_pipeline(tmp_path: Path) -> None:
    """Every key has a default."""
    pipeline = load(tmp_path, "")
    assert (pipeline.source.kind, pipeline.source.path) == ("directory", str(tmp_path / "feed"))
    assert pipeline.subscriptions.path == tmp_path / "subscriptions.db"
    assert [(sink.kind, sink.path) for sink in pipeline.sink] == [
        ("format", str(tmp_path / "out/deliveries"))
    ]
    assert pipeline.work.journal == tmp_path / "work/journal"
    assert pipeline.spark.master is None
    assert pipeline.limits == DocumentLimits()


def test_every_table_is_read(tmp_path: Path) -> None:
    """Every value of a file is in the pipeline."""
    pipeline = load(
        tmp_path,
        """
        work = "state"
        [source]
        kind = "records"
        path = "dump.xml"
        record = "article"
        max_per_batch = 7
        [subscriptions]
        format = "jdbc"
        options = { url = "jdbc:x", fetchsize = 100 }
        shards = 3
        [[sink]]
        kind = "files"
        path = "out"
        [[sink]]
        kind = "callable"
        function = "news.mail:send"
        [dead_letters]
        path = "bad"
        [metrics]
        path = "figures"
        [stream]
        interval_seconds = 5
        [spark]
        master = "local[1]"
        conf = { "spark.ui.enabled" = true }
        [limits]
        depth = 9
        """,
    )
    assert (pipeline.source.record, pipeline.source.max_per_batch) == ("article", 7)
    assert pipeline.subscriptions.options == {"url": "jdbc:x", "fetchsize": "100"}
    assert [sink.kind for sink in pipeline.sink] == ["files", "callable"]
    assert pipeline.work.checkpoint == str(tmp_path / "state/checkpoint")
    assert pipeline.stream.interval_seconds == 5
    assert pipeline.spark.conf == {"spark.ui.enabled": "true"}
    assert pipeline.limits == DocumentLimits(depth=9)


def test_relative_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder does not matter, not even for a file named relative to it."""
    (tmp_path / "below").mkdir()
    load(tmp_path, "")
    monkeypatch.chdir(tmp_path / "below")
    assert Pipeline.load("../pipeline.toml").subscriptions.path.resolve() == tmp_path / "subscriptions.db"


@pytest.mark.parametrize("path", ["/data/feed", "s3a://bucket/feed", "hdfs://names/feed"])
def test_an_absolute_path_and_a_scheme_are_left(tmp_path: Path, path: str) -> None:
    """An absolute path and a URL are not changed."""
    assert load(tmp_path, f'source.path = "{path}"').source.path == path


def test_without_a_file_paths_are_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipeline made in Python has absolute paths too, because the JVM may have another current folder."""
    monkeypatch.chdir(tmp_path)
    assert Pipeline.model_validate({"source": {"path": "feed"}}).source.path == str(tmp_path / "feed")


def test_parts_of_work_can_stand_elsewhere(tmp_path: Path) -> None:
    """A checkpoint may be on another file system than the rest of the work folder."""
    work = load(tmp_path, 'work = { path = "w", checkpoint = "hdfs://names/check" }').work
    assert (work.checkpoint, work.versions) == ("hdfs://names/check", tmp_path / "w/versions")


def test_one_sink_may_be_a_table(tmp_path: Path) -> None:
    """``[sink]`` means one ``[[sink]]``."""
    assert [sink.kind for sink in load(tmp_path, '[sink]\nkind = "jsonl"\npath = "out"').sink] == ["jsonl"]


@pytest.mark.parametrize(
    ("format", "options"), [("kafka", {"topic": "news"}), ("jdbc", {"dbtable": "news"}), ("noop", {})]
)
def test_a_format_that_has_no_folder_needs_no_path(format: str, options: dict[str, str]) -> None:
    """Its options say where it writes."""
    sink = {"format": format, "options": options}
    assert Pipeline.of({"sink": sink}).sink[0].path is None


@pytest.mark.parametrize(
    ("table", "key", "words"),
    [
        ({"sourse": {}}, "sourse", "did you mean source?"),
        ({"sink": [{"path": "a"}, {"pth": "b"}]}, "sink[1].pth", "did you mean path?"),
        ({"limits": {"zzz": 1}}, "limits.zzz", "expected amplification, "),
        ({"source": {"kind": "dir"}}, "source.kind", "expected one of 'directory', "),
        ({"source": {"kind": "records"}}, "source.record", "expected the name of the element"),
        ({"source": {"kind": "format"}}, "source.format", "expected a format of Spark"),
        ({"source": {"max_per_batch": 0}}, "source.max_per_batch", "expected more than 0, got 0"),
        ({"source": {"max_per_batch": True}}, "source.max_per_batch", "expected a whole number, got true"),
        ({"source": {"path": 3}}, "source.path", "expected a string, got 3"),
        ({"source": {"path": ""}}, "source.path", "expected a path, got an empty string"),
        ({"source": {"options": {"a": [1]}}}, "source.options.a", "expected a string, got [1]"),
        ({"source": 3}, "source", "expected a table, got 3"),
        ({"namespaces": 3}, "namespaces", "expected a table of options, got 3"),
        ({"namespaces": {"a": 3}}, "namespaces.a", "expected a string, got 3"),
        ({"namespaces": {"a": ""}}, "namespaces.a", "no URI for the prefix 'a'"),
        ({"namespaces": {"1": "urn:a"}}, "namespaces.1", "expected a prefix"),
        ({"sink": []}, "sink", "expected at least 1"),
        ({"sink": 3}, "sink", "expected one or more tables, got 3"),
        ({"sink": [{}]}, "sink[0].path", 'expected the folder to write to, since format is "parquet"'),
        ({"sink": {"format": "ORC"}}, "sink[0].path", 'since format is "ORC"'),
        ({"sink": {"kind": "jsonl"}}, "sink[0].path", 'since kind is "jsonl"'),
        ({"source": {"table": "t"}}, "source.table", 'expected only with kind "table"'),
        ({"source": {"kind": "table", "table": "t", "path": "p"}}, "source.table", "expected either table"),
        ({"sink": [{"kind": "callable", "function": "f"}]}, "sink[0].function", 'expected "module:function"'),
        (
            {"sink": [{"kind": "files", "path": "s3a://b"}]},
            "sink[0].path",
            "expected a local or mounted folder",
        ),
        ({"sink": [{"path": "a"}, {"path": "./a"}]}, "sink[1].path", "but sink[0].path is the same"),
        ({"sink": {"path": "out/metrics"}}, "metrics.path", "but sink[0].path is the same"),
        ({"match": {"structure": "s"}}, "match.structure", 'of kind "table" or "format", not "directory"'),
        ({"match": {"structures": "s"}}, "match.structures", "did you mean structure?"),
        (
            {"match": {"structure": "body"}, "source": {"kind": "table"}},
            "match.structure",
            "expected a column of its own",
        ),
        (
            {"match": {"structure": "s"}, "source": {"kind": "table"}, "mediation": {}},
            "match.structure",
            "expected no structures, since there is mediation",
        ),
        ({"work": "s3a://bucket"}, "work.path", "expected a local or mounted path"),
        ({"work": 3}, "work", "expected a table or a path"),
        ({"spark": {"conf": "x"}}, "spark.conf", "expected a table of options, got 'x'"),
        ({"limits": {"depth": "deep"}}, "limits.depth", "expected a whole number, got 'deep'"),
        ({"limits": {"bytes": 2**62 + 1}}, "limits.bytes", "expected at most 4611686018427387904, got "),
        ({"limits": {"depth": 2**32}}, "limits.depth", "expected at most 2147483648, got "),
        ({"limits": {"amplification": 0.5}}, "limits.amplification", "expected at least 1, got 0.5"),
        ({"limits": {"amplification": 1e30}}, "limits.amplification", "expected at most 4611686018427387904"),
        ({"stream": {"interval_seconds": math.inf}}, "stream.interval_seconds", "expected a finite number"),
        ({"stream": {"interval_seconds": math.nan}}, "stream.interval_seconds", "expected a finite number"),
        ({"source": {"kind": "table", "format": ""}}, "source.format", "expected at least one character"),
        ({"source": {"kind": "table", "body": ""}}, "source.body", "expected at least one character"),
        ({"source": {"kind": "table", "doc_id": ""}}, "source.doc_id", "expected at least one character"),
        ({"source": {"kind": "table", "table": ""}}, "source.table", "expected at least one character"),
        (
            {"source": {"format": "kafka"}},
            "source.format",
            'with kind "table" or "format" or "fragments", not "directory"',
        ),
        ({"source": {"record": "r"}}, "source.record", 'expected only with kind "records", not "directory"'),
        (
            {"source": {"doc_id": "id"}},
            "source.doc_id",
            'with kind "table" or "format" or "fragments", not "directory"',
        ),
        ({"source": {"kind": "archives", "body": "b"}}, "source.body", 'not "archives"'),
        (
            {"source": {"kind": "format", "format": "x", "table": "t"}},
            "source.table",
            'with kind "table" or "fragments", not',
        ),
        (
            {"sink": {"kind": "jsonl", "path": "a", "format": "csv"}},
            "sink[0].format",
            'with kind "format", not',
        ),
        (
            {"sink": {"kind": "files", "path": "a", "options": {"b": 1}}},
            "sink[0].options",
            'kind "format", not',
        ),
        (
            {"sink": {"path": "a", "function": "m:f"}},
            "sink[0].function",
            'with kind "callable", not "format"',
        ),
        (
            {"sink": {"kind": "callable", "function": "m:f", "path": "a"}},
            "sink[0].path",
            'expected only with kind "format" or "files" or "jsonl", not "callable"',
        ),
        (
            {"subscriptions": {"path": "s", "format": "csv"}},
            "subscriptions.path",
            "expected either path, or format with its options",
        ),
        (
            {"subscriptions": {"options": {"a": "b"}}},
            "subscriptions.options",
            "expected a format to which the options belong",
        ),
        ({"network": {"routers": ["a"], "links": [["a", "b"]]}}, "network.links", "there is no router 'b'"),
        ({"network": {"routers": ["a", "a"]}}, "network.routers", "the name 'a' is given twice"),
    ],
)
def test_an_error_names_the_key_and_what_was_expected(table: dict[str, Any], key: str, words: str) -> None:
    """A mistake can be found in the file and corrected without a manual."""
    error = refusal(table)
    assert (error.code, error.path, error.key) == ("pipeline-file", "news.toml", key)
    assert str(error).startswith(f"news.toml: {key}: ")
    assert words in str(error)


@pytest.mark.parametrize("path", [1, ["a"], True])
def test_a_wrong_work_folder_is_one_mistake(path: object) -> None:
    """An error of ``work`` does not also report its parts, which the file does not have."""
    error = refusal({"work": {"path": path}})
    assert error.message.startswith("work.path: expected a path, got ")
    assert "checkpoint" not in error.message


def test_the_largest_limits_are_limits() -> None:
    """An index accepts the largest limits that a file may have."""
    limits = {"bytes": 2**62, "depth": 2**31, "attributes": 2**31, "amplification": 2.0**62}
    largest = Pipeline.of({"limits": limits | {"amplification_threshold": 2**62}}).limits
    assert Index([("a", "/a/b")], limits=largest).match(b"<a><b/></a>").ids == ["a"]


def test_all_that_is_wrong_is_said_at_once() -> None:
    """Two mistakes are reported in one error."""
    error = refusal({"source": {"kind": "dir"}, "limits": {"bytes": -1}})
    assert "source.kind: " in error.message
    assert "limits.bytes: " in error.message


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"source = ", "not TOML: "), (b"\xff", "not UTF-8 at byte 1"), (None, "there is no such file")],
)
def test_a_file_that_cannot_be_read_is_an_error_with_its_path(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    """A missing file, another encoding, and a syntax error of TOML raise ``PipelineError``."""
    path = tmp_path / "pipeline.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PipelineError, match=words) as caught:
        Pipeline.load(path)
    assert (caught.value.path, caught.value.key) == (str(path), "")


def test_a_folder_is_not_a_pipeline_file(tmp_path: Path) -> None:
    """The reason is that of the operating system."""
    with pytest.raises(PipelineError, match="cannot be read: "):
        Pipeline.load(tmp_path)


def test_a_pipeline_does_not_change() -> None:
    """A pipeline is immutable."""
    with pytest.raises(ValidationError):
        Pipeline.model_validate({}).source.path = "elsewhere"  # type: ignore[misc]


def test_checking_a_file_needs_no_spark() -> None:
    """A file is checked before Spark, which takes seconds, is imported."""
    script = "import sys, twigcast.spark.pipeline; print('pyspark' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
