"""A pipeline that matches by structures has the outputs of one that reads every document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.oracles.metrics_tables import read_hops
from twigcast import spark as tc
from twigcast.spark.outputs import open_letters
from twigcast.spark.outputs.metrics import BatchMetrics
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.job import run
from twigcast.spark.runs.retry import retry
from twigcast.subscriptions.store import SubscriptionStore

DTD = "<!ELEMENT a (b|c)*><!ELEMENT b (#PCDATA)><!ELEMENT c (#PCDATA)>"
FIRST = {"1": b"<a><b>x</b></a>", "2": b"<a><c/></a>", "3": b"<a><b></a>", "4": b"<a/>"}
SECOND = {"5": b"<z/>", "6": b"<a><b>y</b></a>", "7": b"<a><c/><b>x</b></a>", "8": b"<q><p/></q>"}
NETWORK = {
    "routers": ["north", "hub", "south"],
    "links": [["north", "hub"], ["hub", "south"]],
    "subscribers": {"ada": "south"},
}


def outputs(spark: SparkSession, folder: Path, *several: dict[str, Any]) -> list[dict[str, Any]]:
    """What pipelines with these tables write for two batches, with a change of subscriptions between."""
    (folder / "a.dtd").write_text(DTD)
    store = SubscriptionStore(folder / "subscriptions.db")
    store.subscribe("b", "//b", subscriber="ada")
    store.subscribe("x", "/a/b[.='x']", subscriber="cyd")
    pipelines = [pipeline_in(folder, f"{number}", **tables) for number, tables in enumerate(several)]
    metrics: list[list[BatchMetrics]] = [[] for _ in several]
    for documents in (FIRST, SECOND):
        rows = [(id, bytearray(body)) for id, body in documents.items()]
        docs = spark.createDataFrame(rows, "doc_id string, body binary").coalesce(1)
        tc.structures(docs).write.parquet(str(folder / "feed"), mode="append")
        for pipeline, figures in zip(pipelines, metrics, strict=True):
            figures += run(spark, pipeline)
        store.subscribe("c", "//c", subscriber="ada", deliver="part")
        store.subscribe("z", "/z", subscriber="ada")
    return [
        written(spark, pipeline, [*figures, *retry(spark, pipeline)])
        for pipeline, figures in zip(pipelines, metrics, strict=True)
    ]


def pipeline_in(folder: Path, name: str, **tables: Any) -> Pipeline:
    """A pipeline on the feed of a folder, with outputs of its own."""
    described = {
        "source": {"kind": "table", "path": "feed"},
        "limits": {"bytes": 30},
        "work": f"{name}/work",
        "sink": {"path": f"{name}/deliveries"},
        "dead_letters": {"path": f"{name}/dead-letters"},
        "metrics": {"path": f"{name}/metrics"},
        **tables,
    }
    if "network" in tables:
        described["network"] = {**tables["network"], "metrics": f"{name}/hops"}
    return Pipeline.of(described, folder=folder)


def written(spark: SparkSession, pipeline: Pipeline, metrics: Sequence[BatchMetrics]) -> dict[str, Any]:
    """The outputs of a pipeline."""
    found = spark.read.parquet(str(pipeline.sink[0].path)).orderBy("delivery_id").collect()
    letters = open_letters(spark, pipeline).orderBy("doc_id").select("doc_id", "body", "code", "line")
    counts = [(each.documents, each.matches, each.deliveries, each.dead_letters) for each in metrics]
    hops = read_hops(spark, pipeline.network.metrics).collect() if pipeline.network is not None else []
    return {"deliveries": found, "letters": letters.collect(), "counts": counts, "hops": sorted(hops)}


@pytest.mark.parametrize(
    "network",
    [
        {},
        {"network": NETWORK},
        {"network": {**NETWORK, "schema": "a.dtd"}},
    ],
    ids=["alone", "network", "advertising"],
)
def test_outputs_are_those_of_a_pipeline_that_reads(
    spark: SparkSession, tmp_path: Path, network: dict[str, Any]
) -> None:
    """Deliveries, dead letters, links and counts; also documents outside the schema, parts and retries."""
    read, matched = outputs(spark, tmp_path, network, {"match": {"structure": "structure"}, **network})
    assert len(read["deliveries"]) >= 6
    assert [letter.doc_id for letter in read["letters"]] == ["3"]
    assert matched == read
