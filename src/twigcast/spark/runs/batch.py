"""One batch of documents through all stages, in such a way that it can be run again at any time.

    journal ──► match ──► sinks, dead letters, metrics
       │          └── once; what comes out is kept until the last of them has read it
       └── which index version: on disk before anything else is done

Invariant: given the documents, the journal's entry determines every output, and every output replaces what a
former try left.  So a batch that was cut off anywhere is simply run again.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.outputs.dead_letters import write_letters
from twigcast.spark.outputs.link_metrics import hop_metrics, write_hops
from twigcast.spark.outputs.metrics import BatchMetrics, write_metrics
from twigcast.spark.outputs.sinks import write_deliveries
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.journal import Journal
from twigcast.spark.sources.subscription_table import SparkSubscriptions
from twigcast.spark.stages.delivering import deliveries
from twigcast.spark.stages.matching import match, measures
from twigcast.subscriptions import SubscriptionSource, SubscriptionStore, VersionBuilder

if TYPE_CHECKING:
    from twigcast.spark.stages.network import Networked

SECONDS = "twigcast_seconds"


@dataclass(frozen=True, slots=True)
class Desk:
    """What the batches of a pipeline share in the driver: its journal, and its index versions."""

    pipeline: Pipeline
    journal: Journal
    versions: VersionBuilder
    networked: Networked | None = None

    @classmethod
    def of(cls, spark: SparkSession, pipeline: Pipeline) -> Desk:
        """The desk of a pipeline."""
        versions = VersionBuilder(
            subscriptions_of(spark, pipeline),
            pipeline.work.versions,
            shards=pipeline.subscriptions.shards,
        )
        networked = None
        if pipeline.network is not None:
            from twigcast.spark.stages.network import Networked  # it needs what pipelines without one do not

            networked = Networked(pipeline.network, pipeline.work.versions)
        return cls(pipeline, Journal(pipeline.work.journal), versions, networked)


def subscriptions_of(spark: SparkSession, pipeline: Pipeline) -> SubscriptionSource:
    """The subscriptions that a pipeline names; raises ``SourceError`` where there is no such table."""
    named = pipeline.subscriptions
    if named.format:
        return SparkSubscriptions(spark, named.format, named.options)
    return SubscriptionStore.open(named.path)


def run_batch(desk: Desk, documents: DataFrame, batch: int) -> BatchMetrics:
    """Run a batch, for the first time or again, until all its outputs are there."""
    began = time.monotonic()
    pipeline = desk.pipeline
    entry = desk.journal.find(batch) or desk.journal.begin(batch, desk.versions.newest())
    index = desk.versions.at(entry.version)
    ship = pipeline.subscriptions.ship
    networked = desk.networked
    network = networked.at(index[0]) if networked is not None else None
    hits = match(documents, index, ship=ship, limits=pipeline.limits, seconds=SECONDS, network=network)
    hits = hits.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        measured = hits.agg(*measures(SECONDS)).first()
        assert measured is not None
        outgoing = deliveries(hits, index, ship=ship)
        counts = [write_deliveries(outgoing, sink, batch) for sink in pipeline.sink]
        write_letters(hits, pipeline.dead_letters.path, batch, entry.time, measured["errors"])
        if networked is not None:
            hops = hop_metrics(hits, networked.links)
            write_hops(documents.sparkSession, hops, networked.table.metrics, batch)
    finally:
        hits.unpersist()
    metrics = BatchMetrics(
        batch=batch,
        documents=measured["documents"],
        bytes=measured["bytes"],
        matches=measured["matches"],
        deliveries=counts[0],
        dead_letters=measured["errors"],
        parse_and_match_seconds=measured["seconds"],
        seconds=time.monotonic() - began,
        index_version=entry.version,
    )
    write_metrics(documents.sparkSession, metrics, pipeline.metrics.path)
    return metrics
