"""Empty files become dead letters, in a batch and in a stream, in every format."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.spark.jvm import private_api
from twigcast.spark.jvm.empty_files import empty_files
from twigcast.spark.sources.listing.empty_file_log import EmptyFileLog
from twigcast.spark.sources.listing.file_listing import FileListing
from twigcast.spark.sources.reading import source_of

NO_SUCH = "; isDirectory=false; length=0; .xml"  # a name that looks like the description of a file status


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A folder with files, empty files, and names that Spark skips."""
    folder = tmp_path / "a feed"
    (folder / "below%20").mkdir(parents=True)
    (folder / "1.xml").write_bytes(b"<a/>")
    (folder / NO_SUCH).write_bytes(b"<a/>")
    for name in ("2 é.xml", "below%20/3.zip", ".4.xml", "_5.xml", "_metadata"):
        (folder / name).write_bytes(b"")
    return folder


def letters(documents: tc.Documents, feed: Path) -> dict[str, str]:
    """The codes of the dead letters, by the names of the files."""
    found = tc.dead_letters(tc.match(documents, Index([("all", "/*")]))).collect()
    return {row.doc_id.removeprefix(f"{feed}/"): row.code for row in found}


@pytest.fixture(params=["private", "public"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the private parts of Spark that find empty files, and without them."""
    if request.param == "public":
        names = {private_api.FILE_INDEX.name, private_api.MICRO_BATCH_PLAN.name}
        monkeypatch.setattr(private_api, "hidden", names)
    return str(request.param)


@pytest.mark.usefixtures("way")
def test_they_are_listed_once(spark: SparkSession, feed: Path) -> None:
    """Empty files are listed beside the others, without bytes, and without files of Spark itself."""
    files = FileListing(str(feed)).listed_by_spark(spark, streaming=False)
    found = files.select("path", "length", "content").collect()
    assert sorted(
        (row.path.removeprefix("file:").removeprefix("//").removeprefix(f"{feed}/"), row.length, row.content)
        for row in found
    ) == [
        ("1.xml", 4, b"<a/>"),
        ("2 é.xml", 0, b""),
        (NO_SUCH, 4, b"<a/>"),
        ("below%20/3.zip", 0, b""),
    ]


@pytest.mark.usefixtures("way")
def test_a_folder_without_them_has_none(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing is added to the files that Spark reads."""
    (tmp_path / "1.xml").write_bytes(b"<a/>")
    assert empty_files(spark.read.format("binaryFile").load(str(tmp_path))) == []


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("lister", ["driver", "spark"])
@pytest.mark.parametrize(
    ("format", "options", "codes"),
    [
        ("binaryFile", {"pathGlobFilter": "*"}, {"2 é.xml": "empty", "below%20/3.zip": "empty"}),
        ("archives", {}, {"2 é.xml": "empty", "below%20/3.zip": "archive"}),
        ("records", {"record": "a", "pathGlobFilter": "*.xml"}, {"2 é.xml#0": "empty"}),
    ],
)
def test_each_is_a_dead_letter(
    spark: SparkSession,
    feed: Path,
    monkeypatch: pytest.MonkeyPatch,
    lister: str,
    format: str,
    options: dict[str, str],
    codes: dict[str, str],
) -> None:
    """Each empty file is exactly one dead letter, in a batch and in a stream, whoever lists the files."""
    if lister == "spark":
        monkeypatch.setattr(FileListing, "local", lambda listing, spark: None)
    assert letters(tc.read(spark, str(feed), format=format, options=options), feed) == codes
    source = source_of(str(feed), format=format, options=options)
    places = source.stream(spark, feed.parent)
    found: list[dict[str, str]] = []

    def take(batch: DataFrame, number: int) -> None:
        found.append(letters(source.open(places.places(batch, number)), feed))

    def run() -> None:
        places.look()
        stream = places.frame.writeStream.foreachBatch(take)
        stream = stream.option("checkpointLocation", str(feed.parent / "checkpoint"))
        stream.trigger(availableNow=True).start().awaitTermination()

    run()
    assert found == [codes]
    (feed / "late.xml").write_bytes(b"<a/>")
    run()
    assert found == [codes, {}]


def test_a_batch_that_is_run_again_has_the_same_empty_files(tmp_path: Path) -> None:
    """The log returns the files of a batch that it knows, and passes on those of earlier batches."""
    log = EmptyFileLog(tmp_path / "work" / "empty-files.json")
    assert log.take(0, lambda taken: ["a", "b"]) == ["a", "b"]
    assert log.take(1, lambda taken: []) == []
    assert log.take(2, lambda taken: [*taken, "c"]) == ["a", "b", "c"]
    assert EmptyFileLog(tmp_path / "work" / "empty-files.json").take(0, lambda taken: ["d"]) == ["a", "b"]
