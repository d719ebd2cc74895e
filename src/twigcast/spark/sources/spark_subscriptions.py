"""Subscriptions in any table that Spark reads."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import MapType

from twigcast.errors import StageError
from twigcast.filtering import Index
from twigcast.pattern import Subscription
from twigcast.spark.columns import column_named, require
from twigcast.subscriptions import IndexVersion, SubscriptionSource, temporary_version, used_bindings

_log = logging.getLogger(__name__)


class SparkSubscriptions:
    """Subscriptions in any table that Spark reads: columns id, xpath[, subscriber, namespaces, deliver].

    ``xpath`` may also be named ``expression``, and ``columns`` has the names of columns that have others.
    ``load`` is called for the rows as they are then.
    The version is a hash of the rows that Spark computes; rows are fetched only if the version has changed.
    The column ``namespaces`` is a map, or text as JSON; prefixes that a row does not bind are those of the
    parameter ``namespaces``, which is part of the version.
    """

    def __init__(
        self,
        load: Callable[[], DataFrame],
        namespaces: Mapping[str, str] | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._load = load
        self._namespaces = dict(namespaces or {})
        self._names = dict(columns or {})
        for name in set(self._names) - set(_COLUMNS):
            raise StageError(f"expected columns for {', '.join(_COLUMNS)}, got {name!r}", code="options")

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
        table = self._load()
        other = "xpath" not in table.columns and "expression" in table.columns
        names = {"id": "id", "xpath": "expression" if other else "xpath", **self._names}
        require(table, list(names.values()), "a table of subscriptions")
        columns: list[Column] = []
        for name in _COLUMNS:
            source = names.get(name, name)
            if source not in table.columns:
                columns.append(F.lit(None).cast("string").alias(name))
            elif isinstance(table.schema[source].dataType, MapType):
                columns.append(F.to_json(column_named(source)).alias(name))
            else:
                columns.append(column_named(source).cast("string").alias(name))
        return table.select(*columns)


_COLUMNS = ("id", "subscriber", "xpath", "namespaces", "deliver")


def subscription_index(
    subscriptions: DataFrame | SubscriptionSource,
    *,
    columns: Mapping[str, str] | None = None,
    namespaces: Mapping[str, str] | None = None,
) -> IndexVersion:
    """The index of a table of subscriptions, for ``match`` and ``deliveries``.

    The table is a DataFrame with the columns ``id`` and ``xpath`` (or ``expression``), and optionally
    ``subscriber``, ``namespaces`` (a map, or JSON) and ``deliver`` (``document`` or ``part``); for other
    names, ``columns={"id": "rule_id"}`` says them.  A ``SubscriptionStore`` will do as well.  ``namespaces``
    binds prefixes for rows that do not bind them.
    Rows that are no subscriptions are in ``refused`` of the index, with the reason, and the first one is
    logged as a warning.  The index is that of the rows as they are now, in a folder that is deleted when this
    process ends.
    """
    source = subscriptions
    if isinstance(source, DataFrame):
        source = SparkSubscriptions(partial(_same, source), namespaces, columns)
    elif columns or namespaces:
        raise StageError("columns and namespaces belong to a DataFrame", code="options")
    index = Index()
    refused = tuple(index.add_all(source.subscriptions()))
    if refused:
        _log.warning(
            "%d subscriptions are refused, first %r: %s", len(refused), refused[0].id, refused[0].error
        )
    return replace(temporary_version(index), refused=refused)


def _same(table: DataFrame) -> DataFrame:
    return table


def _bindings(text: str | None) -> dict[str, Any]:
    """The namespaces of a row; for text that is no JSON object, a map that the parser refuses."""
    try:
        bound = json.loads(text or "{}")
    except (ValueError, RecursionError):
        bound = None
    return bound if isinstance(bound, dict) else {"": None}
