"""The metrics of mappings in each batch: one row for each mapping, and one for documents without one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.outputs.batch_folders import write_small_batch


@dataclass(frozen=True, slots=True)
class MappingMetrics:
    """The documents of a batch to which one mapping was applied; ``mapping`` is null for those without one.

    ``strangers`` are the topmost elements that the source schema of the mapping does not have, and
    ``documents_with_strangers`` the documents that contain some: a share that rises says that the schema of
    the publisher has changed.  ``cached_bytes`` adds up the most that the rewriter had to keep of each
    document.
    """

    mapping: str | None
    documents: int
    documents_with_strangers: int
    strangers: int
    matches: int
    cached_bytes: int

    @property
    def name(self) -> str:
        """The name of the mapping, without version and hash; empty if there is none."""
        return (self.mapping or "").partition("@")[0]


_FIGURES = [each.name for each in fields(MappingMetrics) if each.name != "mapping"]
_SCHEMA = pa.schema(
    [("mapping_set", pa.string()), ("mapping", pa.string()), *((name, pa.int64()) for name in _FIGURES)]
)


def mapping_measures(references: Sequence[str]) -> list[Column]:
    """Aggregates over hits, five for each mapping, to be observed together with ``measures``."""
    columns: list[Column] = []
    for number, reference in enumerate([None, *references]):
        applied = F.col("mapping").isNull() if reference is None else F.col("mapping") == reference
        figures = {
            "documents": F.count(F.when(applied, 1)),
            "documents_with_strangers": F.count(F.when(applied & (F.col("strangers") > 0), 1)),
            "strangers": F.sum(F.when(applied, F.col("strangers"))),
            "matches": F.sum(F.when(applied & F.col("matches").isNotNull(), F.size("matches"))),
            "cached_bytes": F.sum(F.when(applied, F.col("cached_bytes"))),
        }
        columns += [figures[name].alias(f"mapping {number} {name}") for name in _FIGURES]
    return columns


def mapping_metrics(measured: Mapping[str, Any], references: Sequence[str]) -> tuple[MappingMetrics, ...]:
    """The metrics of each mapping, from the values of ``mapping_measures``.

    A mapping that no document used has a row as well; the row without a mapping is left out if it is empty.
    """
    rows = [
        MappingMetrics(reference, *((measured[f"mapping {number} {name}"] or 0) for name in _FIGURES))
        for number, reference in enumerate([None, *references])
    ]
    return tuple(row for row in rows if row.mapping is not None or row.documents)


def write_mapping_metrics(
    spark: SparkSession, rows: Sequence[MappingMetrics], mapping_set: str, path: str, batch: int
) -> None:
    """Write the mapping metrics of a batch, replacing those of an earlier attempt."""
    table = pa.Table.from_pylist([asdict(row) | {"mapping_set": mapping_set} for row in rows], _SCHEMA)
    write_small_batch(spark, table, path, batch)
