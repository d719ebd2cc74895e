"""How documents went through the network in each batch: a row for each link, in each direction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.outputs.sinks import write_batch


@dataclass(frozen=True, slots=True)
class HopMetrics:
    """What went over a link from a router to the next, and what of it in vain: nobody behind it got it."""

    source: str
    target: str
    documents: int
    bytes: int
    vain: int


SCHEMA = "source string, target string, documents long, bytes long, vain long"


def hop_metrics(hits: DataFrame, links: Sequence[tuple[str, str]]) -> list[HopMetrics]:
    """The figures of each link, also of those that nothing went over."""
    each = hits.select(F.explode("hops").alias("link"), "vain", F.octet_length("body").alias("bytes"))
    counted = each.groupBy("link").agg(
        F.count(F.lit(1)).alias("documents"),
        F.sum("bytes").alias("bytes"),
        F.sum(F.array_contains("vain", F.col("link")).cast("long")).alias("vain"),
    )
    found = {row["link"]: (row["documents"], row["bytes"], row["vain"]) for row in counted.collect()}
    return [HopMetrics(*link, *found.get(number, (0, 0, 0))) for number, link in enumerate(links)]


def write_hops(spark: SparkSession, hops: Sequence[HopMetrics], path: str, batch: int) -> None:
    """Write the figures of a batch, in the place of those of a former try."""
    write_batch(spark.createDataFrame([astuple(each) for each in hops], SCHEMA).coalesce(1), path, batch)


def read_hops(spark: SparkSession, path: str) -> DataFrame:
    """The figures of all batches: the columns of ``HopMetrics``, and ``batch``."""
    return spark.read.parquet(path).select("batch", *(field.name for field in fields(HopMetrics)))
