"""Reading and matching in one stage gives the rows of two stages."""

from __future__ import annotations

import copy
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc

INDEX = Index([("a", "//a"), ("b", "/r[b]")])


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, tuple[Path, dict[str, str]]]:
    """The same five documents, one of them broken, in an archive and as records."""
    bodies = [b"<r><a/></r>", b"<r><b/></r>", b"<r><a/><b/></r>", b"<r/>", b"<r><a></r>"]
    (tmp_path / "zip").mkdir()
    with zipfile.ZipFile(tmp_path / "zip" / "all.zip", "w") as archive:
        for number, body in enumerate(bodies):
            archive.writestr(f"{number}.xml", body)
    (tmp_path / "records").mkdir()
    (tmp_path / "records" / "all.xml").write_bytes(b"<feed>" + b"".join(bodies) + b"</feed>")
    return {
        "archives": (tmp_path / "zip", {}),
        "records": (tmp_path / "records", {"record": "r"}),
    }


def rows(hits: DataFrame) -> list[Any]:
    return sorted(hits.collect(), key=lambda row: row.doc_id)


def stages(hits: DataFrame) -> int:
    """The number of stages in which batches are sent to workers."""
    plan: Any = hits
    return str(plan._jdf.queryExecution().optimizedPlan().toString()).count("MapInArrow")


@pytest.mark.parametrize(("format", "others"), [("archives", 0), ("records", 1)])
def test_sources_opened_by_workers_are_fused(
    spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]], format: str, others: int
) -> None:
    """Rows, errors and other columns are the same, with one stage less."""
    place, options = sources[format]
    documents = tc.read(spark, str(place), format=format, options=options)
    fused = tc.match(documents, INDEX)
    apart = tc.match(documents.select("*"), INDEX)
    assert (stages(fused), stages(apart)) == (others + 1, others + 2)
    assert rows(fused) == rows(apart)
    assert len(rows(fused)) == 5
    assert fused.schema == apart.schema


def test_a_cached_table_is_not_read_again(
    spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]]
) -> None:
    """A table that the user has cached is matched from the cache."""
    documents = tc.read(spark, str(sources["archives"][0]), format="archives")
    documents.persist()
    assert documents.worker_reading() is None
    documents.unpersist()
    assert documents.worker_reading() is not None


def test_documents_are_used_like_a_dataframe(
    spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]]
) -> None:
    """Methods of ``Documents`` return plain DataFrames, and a filter applies when these are matched."""
    documents = tc.read(spark, str(sources["archives"][0]), format="archives")
    assert documents.columns == ["doc_id", "body", "error"]
    assert documents.count() == 5
    some = documents.where("doc_id LIKE '%0.xml'")
    assert isinstance(some, DataFrame)
    assert [row.matches for row in rows(tc.match(some, INDEX))] == [[0]]
    assert documents.filter(documents.doc_id.endswith("1.xml")).select(documents["body"]).count() == 1
    assert some.unionByName(documents.dataframe).count() == 6
    assert "select" in dir(documents)
    assert repr(documents).startswith("Documents(DataFrame[doc_id: string")
    with pytest.raises(AttributeError, match="no_such_method"):
        documents.no_such_method()


def test_documents_can_be_copied(
    spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]]
) -> None:
    """A copy refers to the same table."""
    documents = tc.read(spark, str(sources["archives"][0]), format="archives")
    assert copy.copy(documents).dataframe is documents.dataframe
