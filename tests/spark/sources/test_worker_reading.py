"""Reading and matching as one stage give what they give apart."""

from __future__ import annotations

import gc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from twigcast import Index
from twigcast import spark as tc
from twigcast.spark.sources.worker_reading import _openings, opening_of

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
    """How many times batches go to workers."""
    plan: Any = hits
    return str(plan._jdf.queryExecution().optimizedPlan().toString()).count("MapInArrow")


@pytest.mark.parametrize(("format", "others"), [("archives", 0), ("records", 1)])
def test_sources_opened_by_workers_are_fused(
    spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]], format: str, others: int
) -> None:
    """The same rows, errors and other columns included, in one stage less."""
    place, options = sources[format]
    documents = tc.read(spark, str(place), format=format, options=options)
    fused = tc.match(documents, INDEX)
    apart = tc.match(documents.select("*"), INDEX)
    assert (stages(fused), stages(apart)) == (others + 1, others + 2)
    assert rows(fused) == rows(apart)
    assert len(rows(fused)) == 5
    assert fused.schema == apart.schema


def test_a_table_kept_in_memory_is_not_read_again(
    spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]]
) -> None:
    """What the user keeps is what is matched, while it is kept."""
    documents = tc.read(spark, str(sources["archives"][0]), format="archives")
    documents.persist()
    assert opening_of(documents) is None
    documents.unpersist()
    assert opening_of(documents) is not None


def test_a_table_made_from_it_is_another(
    spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]]
) -> None:
    """A filter is not lost."""
    documents = tc.read(spark, str(sources["archives"][0]), format="archives")
    some = documents.where("doc_id LIKE '%0.xml'")
    assert opening_of(some) is None
    assert len(rows(tc.match(some, INDEX))) == 1


def test_tables_are_forgotten(spark: SparkSession, sources: dict[str, tuple[Path, dict[str, str]]]) -> None:
    """With the last who holds them."""
    gc.collect()
    before = len(_openings)
    documents = tc.read(spark, str(sources["archives"][0]), format="archives")
    assert len(_openings) == before + 1
    del documents
    gc.collect()
    assert len(_openings) == before
