"""Files that Spark lists are grouped into few tasks, whatever the settings of the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.spark.jvm import private_api
from twigcast.spark.jvm.empty_files import listed_size
from twigcast.spark.sources.listing.file_listing import FileListing

FILES = 40
BY_SPARK = {"recursiveFileLookup": "false"}


@pytest.fixture
def session_of_a_user(spark: SparkSession) -> Iterator[SparkSession]:
    """A session in which each small file is a task of its own."""
    setting = "spark.sql.files.openCostInBytes"
    before = spark.conf.get(setting)
    spark.conf.set(setting, str(128 << 20))
    yield spark
    spark.conf.set(setting, str(before))


@pytest.fixture
def feed(tmp_path: Path) -> str:
    for number in range(FILES):
        (tmp_path / f"{number}.xml").write_bytes(b"<a/>" if number else b"")
    return str(tmp_path)


def test_small_files_are_few_tasks(session_of_a_user: SparkSession, feed: str) -> None:
    """There is a task for each core, and one for empty files, which Spark leaves out."""
    documents = tc.read(session_of_a_user, feed, options=BY_SPARK)
    hits = tc.match(documents, Index([("a", "/a")]))
    assert hits.rdd.getNumPartitions() <= 3
    assert hits.where("size(matches) = 1").count() == FILES - 1
    assert tc.dead_letters(hits).count() == 1


def test_the_size_is_known_without_the_private_file_index(
    session_of_a_user: SparkSession, feed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Spark job counts the files that are not empty."""
    listed = FileListing(feed, BY_SPARK)._load(session_of_a_user, session_of_a_user.read, BY_SPARK)
    assert listed_size(listed) == (FILES, 4 * (FILES - 1))
    monkeypatch.setattr(private_api, "hidden", {private_api.FILE_INDEX.name})
    assert listed_size(listed) == (FILES - 1, 4 * (FILES - 1))
