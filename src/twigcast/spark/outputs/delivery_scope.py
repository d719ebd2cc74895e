"""Which deliveries a batch writes to which sinks: all of them, or only those that a replay is to make.

A replay sends documents again that were delivered before, and a retry may read an archive again of which only
one member is new.  Nobody is to receive a delivery twice, so the ids that a sink has are taken out:

    format with a path    the column delivery_id of the other batches        jsonl    the same key
    format without one    the column delivery_id of the table, if it can be read, as by JDBC
    files                 nothing is taken out, since the same delivery is the same file
    callable, kafka, …    cannot say what they have received
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.filesystem import exists, literal_path

if TYPE_CHECKING:
    from twigcast.spark.pipeline import Pipeline, SinkSection


@dataclass(frozen=True, slots=True)
class DeliveryScope:
    """The sinks of a batch, and what is left out of its outputs.

    ``subscriber`` restricts deliveries to one subscriber.  With ``once``, a sink does not get deliveries that
    it has from other batches, if it can say which these are.  A dead letter is not written if ``letters`` has
    one of the same document, code and subscription from another batch.
    """

    sinks: tuple[SinkSection, ...]
    subscriber: str | None = None
    once: bool = False
    letters: DataFrame | None = None
    is_replay: bool = False

    @classmethod
    def whole(cls, pipeline: Pipeline) -> DeliveryScope:
        """Everything, to all sinks of a pipeline."""
        return cls(pipeline.sink)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out, so that what is computed is what is written."""
        return self.subscriber is None and not self.once and self.letters is None

    def chosen(self, deliveries: DataFrame) -> DataFrame:
        """The deliveries, or attempts, for the subscriber."""
        if self.subscriber is None:
            return deliveries
        return deliveries.where(F.col("subscriber") == self.subscriber)

    def for_sink(self, deliveries: DataFrame, sink: SinkSection, batch: int) -> DataFrame:
        """The deliveries of a batch that are to be written to a sink."""
        known = delivered_ids(deliveries.sparkSession, sink, batch) if self.once else None
        if known is None:
            return deliveries
        return deliveries.join(known.select("delivery_id").distinct(), "delivery_id", "left_anti").select(
            *deliveries.columns
        )

    def new_letters(self, letters: DataFrame, batch: int) -> DataFrame:
        """The dead letters of a batch that are not known yet."""
        if self.is_replay:  # documents that are still open, or whose letters were written when they were not
            letters = letters.where(F.col("code") != "fragments-missing")
        if self.letters is None:
            return letters
        known = self.letters.where(F.col("batch") != batch).select(
            F.col("doc_id").alias("known_id"),
            F.col("code").alias("known_code"),
            F.col("subscription").alias("known_subscription"),
        )
        same = (
            letters["doc_id"].eqNullSafe(known["known_id"])
            & letters["code"].eqNullSafe(known["known_code"])
            & letters["subscription"].eqNullSafe(known["known_subscription"])
        )
        return letters.join(known, same, "left_anti")


def sink_name(sink: SinkSection) -> str:
    """How a sink is named to people: its folder, its function, or its format."""
    return sink.path or sink.function or sink.format


def says_what_it_has(spark: SparkSession, sink: SinkSection) -> bool:
    """Whether a sink never has the same delivery twice, or can say which ones it has."""
    return sink.kind == "files" or delivered_ids(spark, sink, 0) is not None


def delivered_ids(spark: SparkSession, sink: SinkSection, batch: int) -> DataFrame | None:
    """A table with the ``delivery_id`` of what a sink has from other batches; none if it cannot say.

    What a table without folders of batches has from the same batch counts as well: it was appended before the
    batch was interrupted, and stays.
    """
    empty = spark.createDataFrame([], "delivery_id string")
    if sink.kind == "jsonl":
        own = f"batch={batch}.jsonl"
        files = [file for file in Path(str(sink.path)).glob("batch=*.jsonl") if file.name != own]
        uris = [f"file://{literal_path(str(file.absolute()))}" for file in files]
        return spark.read.schema("delivery_id string").json(uris) if uris else empty
    if sink.kind != "format":
        return None
    if sink.path and not exists(spark, sink.path, "batch=*"):
        return empty
    try:
        table = spark.read.format(sink.format).options(**sink.options).load(sink.path)
    except (PySparkException, JvmError):
        return None
    if "delivery_id" not in table.columns:
        return None
    return table.where(F.col("batch") != batch) if sink.path else table
