"""Subscriptions in any table that Spark reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import MapType

from twigcast.pattern import Subscription
from twigcast.subscriptions import used_bindings


class SparkSubscriptions:
    """Subscriptions in any table that Spark reads: columns id, xpath[, subscriber, namespaces, deliver].

    The version is a hash of the rows that Spark computes; rows are fetched only if the version has changed.
    The column ``namespaces`` is a map, or text as JSON; prefixes that a row does not bind are those of the
    parameter ``namespaces``, which is part of the version.
    """

    def __init__(
        self,
        spark: SparkSession,
        format: str,
        options: Mapping[str, str] | None = None,
        namespaces: Mapping[str, str] | None = None,
    ) -> None:
        self._spark = spark
        self._format = format
        self._options = dict(options or {})
        self._namespaces = dict(namespaces or {})

    def version(self) -> str:
        """A hash of the rows, which does not depend on their order, and of the prefixes for all rows."""
        table = self._table()
        # xxhash64 skips nulls: without a replacement, a value could move to another column unnoticed.
        hashed = F.xxhash64(*(F.coalesce(F.col(name), F.lit("\0")) for name in table.columns))
        row = table.agg(
            F.count("*").alias("count"),
            F.bit_xor(hashed).alias("mixed"),
            F.sum((hashed % F.lit(1 << 31)).cast("long")).alias("sum"),
        ).first()
        assert row is not None
        rows = f"h{row['count']}-{(row['mixed'] or 0) % (1 << 64):016x}{(row['sum'] or 0) % (1 << 64):016x}"
        if not self._namespaces:
            return rows
        bound = json.dumps(self._namespaces, sort_keys=True).encode()
        return f"{rows}-{blake2b(bound, digest_size=8).hexdigest()}"

    def subscriptions(self) -> list[Subscription]:
        """The current subscriptions, sorted by id; a bad row is refused alone, by the index."""
        return [
            Subscription.unchecked(
                row["id"],
                row["xpath"],
                row["subscriber"] or str(row["id"]),
                row["deliver"] or "document",
                self._bound(row["xpath"], _bindings(row["namespaces"])),
            )
            for row in self._table().orderBy("id").toLocalIterator()
        ]

    def _bound(self, xpath: str | None, own: dict[str, Any]) -> dict[str, Any]:
        return {**used_bindings(xpath or "", self._namespaces), **own}

    def _table(self) -> DataFrame:
        """The five columns as text; a column that the table does not have is null."""
        table = self._spark.read.format(self._format).options(**self._options).load()
        columns: list[Column] = []
        for name in ("id", "subscriber", "xpath", "namespaces", "deliver"):
            if name not in table.columns:
                columns.append(F.lit(None).cast("string").alias(name))
            elif isinstance(table.schema[name].dataType, MapType):
                columns.append(F.to_json(name).alias(name))
            else:
                columns.append(F.col(name).cast("string").alias(name))
        return table.select(*columns)


def _bindings(text: str | None) -> dict[str, Any]:
    """The namespaces of a row; for text that is no JSON object, a map that the parser refuses."""
    try:
        bound = json.loads(text or "{}")
    except (ValueError, RecursionError):
        bound = None
    return bound if isinstance(bound, dict) else {"": None}
