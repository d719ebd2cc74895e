"""Every kind of source in a pipeline: as a stream if it can be one, else as one batch."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from twigcast.errors import PipelineError, RunError, StageError
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.stream import stream
from twigcast.subscriptions.store import SubscriptionStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a pipeline with one subscriber to every ``r``."""
    (tmp_path / "feed").mkdir()
    SubscriptionStore(tmp_path / "subscriptions.db").subscribe("s", "/r")
    return tmp_path


def pipeline_of(folder: Path, **source: Any) -> Pipeline:
    """A pipeline from this source, with deliveries in ``out/lines``."""
    sink = {"kind": "jsonl", "path": "out/lines"}
    return Pipeline.of({"source": source, "sink": sink, "stream": {"interval_seconds": 0.1}}, folder=folder)


def delivered(spark: SparkSession, folder: Path) -> list[tuple[int, str, str]]:
    """Batch, document and content of each delivery."""
    rows = spark.read.json(str(folder / "out" / "lines")).select("*", "_metadata.file_name").collect()
    return sorted(
        (
            int(row.file_name.removeprefix("batch=").removesuffix(".jsonl")),
            row.doc_id.removeprefix(f"{folder}/feed/"),
            row.content,
        )
        for row in rows
    )


def zipped(*bodies: bytes) -> bytes:
    """A zip archive of these, named 0, 1, …"""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, body in enumerate(bodies):
            archive.writestr(str(number), body)
    return file.getvalue()


def tarred(*bodies: bytes) -> bytes:
    """A compressed tar archive of these, named 0, 1, …"""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for number, body in enumerate(bodies):
            info = tarfile.TarInfo(str(number))
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return file.getvalue()


@pytest.mark.parametrize(
    ("source", "first", "second", "expected"),
    [
        (
            {"kind": "archives"},
            {"a.zip": zipped(b"<r>1</r>", b"<q/>", b"<r>2</r>")},
            {"b.tar.gz": tarred(b"<r>3</r>"), "c.gz": gzip.compress(b"<r>4</r>")},
            [
                (0, "a.zip!0", "<r>1</r>"),
                (0, "a.zip!2", "<r>2</r>"),
                (1, "b.tar.gz!0", "<r>3</r>"),
                (1, "c.gz!c", "<r>4</r>"),
            ],
        ),
        (
            {"kind": "records", "record": "r"},
            {"a.xml": b"<f><r>1</r><q/><r>2</r></f>"},
            {"b.xml": b"<f><r>3</r></f>", "c.xml.gz": gzip.compress(b"<f><r>4</r></f>")},
            [
                (0, "a.xml#15", "<r>2</r>"),
                (0, "a.xml#3", "<r>1</r>"),
                (1, "b.xml#3", "<r>3</r>"),
                (1, "c.xml.gz#3", "<r>4</r>"),
            ],
        ),
    ],
    ids=["archives", "records"],
)
def test_files_of_many_documents_are_dropped_in_over_time(
    spark: SparkSession,
    folder: Path,
    source: dict[str, Any],
    first: dict[str, bytes],
    second: dict[str, bytes],
    expected: list[tuple[int, str, str]],
    until: Callable[..., None],
) -> None:
    """Files that arrive while the stream runs are taken in the next batch."""
    done: list[BatchMetrics] = []
    query = stream(spark, pipeline_of(folder, **source), on_batch=done.append)
    try:
        for number, files in enumerate((first, second), 1):
            (folder / "coming").mkdir()
            for name, content in files.items():
                (folder / "coming" / name).write_bytes(content)
            (folder / "coming").rename(folder / "feed" / str(number))
            until(lambda number=number: len(done) == number)
    finally:
        query.stop()
    assert [(batch, id.partition("/")[2], body) for batch, id, body in delivered(spark, folder)] == expected


@pytest.mark.parametrize(
    ("source", "file", "content"),
    [
        ({"kind": "records", "path": "one.xml", "record": "r"}, "one.xml", b"<f><r>1</r><r>2</r></f>"),
        ({"kind": "format", "format": "text", "path": "one.txt"}, "one.txt", b"<r>1</r>\n<r>2</r>\n"),
    ],
    ids=["records", "text"],
)
def test_a_source_may_be_one_file(
    spark: SparkSession, folder: Path, source: dict[str, Any], file: str, content: bytes
) -> None:
    """The documents of a single file are processed once."""
    (folder / file).write_bytes(content)
    (figures,) = run(spark, pipeline_of(folder, **source))
    assert (figures.documents, figures.deliveries, figures.dead_letters) == (2, 2, 0)
    assert run(spark, pipeline_of(folder, **source)) == []


def test_rows_are_appended_to_a_table(spark: SparkSession, folder: Path) -> None:
    """Each run takes the new rows; the table must exist, or the file must name its columns."""
    source = {"kind": "table", "path": "table", "doc_id": "key", "body": "xml"}
    (folder / "table").mkdir()
    with pytest.raises(StageError, match=r'no parquet file yet .* set the option "schema"'):
        run(spark, pipeline_of(folder, **source))
    for number in (1, 2):
        rows = spark.createDataFrame([(f"k{number}", f"<r>{number}</r>")], "key string, xml string")
        rows.coalesce(1).write.mode("append").parquet(str(folder / "table"))
        (figures,) = run(spark, pipeline_of(folder, **source))
        assert figures.documents == 1
    assert delivered(spark, folder) == [(0, "k1", "<r>1</r>"), (1, "k2", "<r>2</r>")]


def test_a_source_that_is_no_stream_is_run_whole(
    spark: SparkSession, folder: Path, derby: Callable[[str], dict[str, str]]
) -> None:
    """Each run takes all of it as the next batch; ``stream`` refuses it and names the key."""
    options = derby("docs")
    spark.createDataFrame([("k", "<r/>")], "doc_id string, body string").write.format("jdbc").options(
        **options
    ).save()
    pipeline = pipeline_of(folder, kind="format", format="jdbc", options=options)
    for number in (0, 1):
        (figures,) = run(spark, pipeline)
        assert (figures.batch, figures.documents, figures.deliveries) == (number, 1, 1)
    assert delivered(spark, folder) == [(0, "k", "<r/>"), (1, "k", "<r/>")]
    with pytest.raises(PipelineError, match=r"^source\.format: jdbc can be read as a batch only: ") as caught:
        stream(spark, pipeline)
    assert caught.value.key == "source.format"
    with pytest.raises(RunError, match="of a source that cannot be a stream"):
        run(spark, pipeline_of(folder))


def test_a_whole_run_that_was_cut_off_is_run_again(spark: SparkSession, folder: Path) -> None:
    """An interrupted batch is run again under the same number, with the index version of its first start."""
    spark.sql("select 'k' doc_id, '<r/>' body").createOrReplaceTempView("cut_off")
    pipeline = pipeline_of(folder, kind="table", table="cut_off")
    run(spark, pipeline)
    (folder / "work" / "journal" / "0.done").unlink()
    SubscriptionStore(folder / "subscriptions.db").subscribe("late", "/r")
    (figures,) = run(spark, pipeline)
    assert (figures.batch, figures.deliveries, figures.index_version) == (0, 1, "1")
    with pytest.raises(PipelineError, match=r"^source\.table: the table cut_off can be read as a batch only"):
        stream(spark, pipeline)


def test_a_table_of_the_catalogue_is_a_stream_where_it_can_be(spark: SparkSession, folder: Path) -> None:
    """A table of files is a stream; its work folder is then refused for a source that is none."""
    spark.sql(f"create table wire (doc_id string, body binary) using parquet location '{folder}/wire'")
    try:
        for number in (1, 2):
            spark.sql(f"insert into wire values ('{number}', binary('<r/>'))")
            (figures,) = run(spark, pipeline_of(folder, kind="table", table="wire"))
            assert figures.documents == 1
        spark.sql("select 'k' doc_id, '<r/>' body").createOrReplaceTempView("view")
        with pytest.raises(RunError, match="the work folder of a stream"):
            run(spark, pipeline_of(folder, kind="table", table="view"))
    finally:
        spark.sql("drop table wire")
