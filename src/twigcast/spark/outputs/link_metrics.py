"""The metrics of the links of a network in each batch: one row for each link and direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.outputs.batch_folders import write_small_batch


@dataclass(frozen=True, slots=True)
class HopMetrics:
    """Documents that took a link; ``false_positives`` are those that no subscriber behind it received.

    ``annotation_bytes`` were sent along to a remote site.  A link without a source is the border over which
    documents came from another pipeline; ``unread`` are those among them that annotations decided.
    """

    source: str | None
    target: str
    documents: int
    bytes: int
    false_positives: int
    annotation_bytes: int = 0
    unread: int = 0


_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("target", pa.string()),
        ("documents", pa.int64()),
        ("bytes", pa.int64()),
        ("false_positives", pa.int64()),
        ("annotation_bytes", pa.int64()),
        ("unread", pa.int64()),
    ]
)


def hop_measures(links: Sequence[tuple[str, str]]) -> list[Column]:
    """Aggregates over hits, three for each link, to be observed together with ``measures``."""
    columns: list[Column] = []
    for number in range(len(links)):
        taken = F.array_contains("hops", number)
        columns.append(F.count(F.when(taken, 1)).alias(f"documents {number}"))
        columns.append(F.sum(F.when(taken, F.octet_length("body"))).alias(f"bytes {number}"))
        columns.append(
            F.count(F.when(F.array_contains("false_positives", number), 1)).alias(f"false_positives {number}")
        )
    return columns


def hop_metrics(measured: Mapping[str, Any], links: Sequence[tuple[str, str]]) -> list[HopMetrics]:
    """The metrics of each link, also of links that no document took, from the values of ``hop_measures``."""
    return [
        HopMetrics(
            *link,
            *((measured[f"{name} {number}"] or 0) for name in ("documents", "bytes", "false_positives")),
        )
        for number, link in enumerate(links)
    ]


def border_measures(annotations: str) -> list[Column]:
    """Aggregates over hits with a column of annotations, to be observed together with ``measures``."""
    quoted = annotations.replace("`", "``")
    return [
        F.sum(F.octet_length(F.col(f"`{quoted}`"))).alias("annotation_bytes"),
        F.count(F.when(F.col("unread"), 1)).alias("unread"),
    ]


def border_metrics(measured: Mapping[str, Any], target: str) -> HopMetrics:
    """The metrics of the border over which documents came, from ``measures`` and ``border_measures``."""
    of_border = (int(measured[name] or 0) for name in ("annotation_bytes", "unread"))
    return HopMetrics(None, target, measured["documents"], measured["bytes"], 0, *of_border)


def write_hops(spark: SparkSession, hops: Sequence[HopMetrics], path: str, batch: int) -> None:
    """Write the link metrics of a batch, replacing those of an earlier attempt."""
    write_small_batch(spark, pa.Table.from_pylist([asdict(each) for each in hops], _SCHEMA), path, batch)
