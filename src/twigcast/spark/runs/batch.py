"""Puts one batch of documents through all stages, so that it can be run again at any time.

    journal ──► match ──► deliveries ──► sinks
       │          ├── dead letters, metrics
       │          └── computed once; cached until the last output is written
       └── the index version and the mappings of the batch, on disk before anything else happens

Invariant: given the documents, the entry in the journal determines every output, and every output replaces
what an earlier attempt left.  So a batch that was cut off at any point is simply run again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from twigcast.spark.columns import NUMBERS
from twigcast.spark.outputs.dead_letters import with_packed_columns, write_letters
from twigcast.spark.outputs.delivery_scope import DeliveryScope
from twigcast.spark.outputs.link_metrics import (
    border_measures,
    border_metrics,
    hop_measures,
    hop_metrics,
    write_hops,
)
from twigcast.spark.outputs.mapping_metrics import (
    MappingMetrics,
    mapping_measures,
    mapping_metrics,
    write_mapping_metrics,
)
from twigcast.spark.outputs.metrics import BatchMetrics, write_metrics
from twigcast.spark.outputs.sinks import reports_observations, write_deliveries
from twigcast.spark.pipeline import Pipeline
from twigcast.spark.runs.journal import Entry, Journal
from twigcast.spark.runs.mapping_sets import MappingSets
from twigcast.spark.sources.documents import Documents
from twigcast.spark.sources.spark_subscriptions import SparkSubscriptions
from twigcast.spark.stages.delivering import (
    NodeChoice,
    attempts,
    delivered,
    deliveries,
    delivers_parts,
    refused,
)
from twigcast.spark.stages.matching import match, measures
from twigcast.subscriptions import IndexVersion, SubscriptionSource, SubscriptionStore, VersionBuilder

if TYPE_CHECKING:
    from twigcast.spark.runs.borders import Borders
    from twigcast.spark.stages.network import NetworkTables

SECONDS = "twigcast_seconds"


@dataclass(frozen=True, slots=True)
class RunState:
    """The state of a pipeline that its batches share in the driver.

    The journal, the index versions, the sets of mappings, and the routers.
    """

    pipeline: Pipeline
    journal: Journal
    versions: VersionBuilder
    mappings: MappingSets
    network: NetworkTables | None = None
    borders: Borders | None = None

    @classmethod
    def of(cls, spark: SparkSession, pipeline: Pipeline) -> RunState:
        """Open the state of a pipeline.

        Raises ``SourceError`` if it has no subscription store, ``MappingError`` if its mappings are bad.
        """
        network = borders = None
        if pipeline.network is not None:
            from twigcast.spark.runs.borders import Borders  # imports the routers
            from twigcast.spark.stages.network import NetworkTables

            network = NetworkTables(pipeline.network)
            borders = Borders(spark, network, pipeline.source.annotations)
        versions = VersionBuilder(
            subscriptions_of(spark, pipeline),
            pipeline.work.versions,
            shards=pipeline.subscriptions.shards,
            extension=network,
        )
        mappings = MappingSets(pipeline.work.versions, pipeline.mediation)
        mappings.newest()
        state = cls(pipeline, Journal(pipeline.work.journal), versions, mappings, network, borders)
        state.write_plan()
        return state

    def begin(self, batch: int, *, is_replay: bool = False) -> Entry:
        """The entry of a batch in the journal, with the newest versions if the batch is new."""
        found = self.journal.find(batch)
        return found or self.journal.begin(
            batch, self.newest_version(), self.mappings.newest(), is_replay=is_replay
        )

    def newest_version(self) -> str:
        """Build the newest index version, and write its plan if the pipeline is a site of another one."""
        version = self.versions.newest()
        if self.network is not None and self.network.table.plan is not None:
            self.network.tell(self.versions.at(version)[0])
        return version

    def write_plan(self) -> None:
        """Tell new subscriptions to the pipeline that sends documents.

        A batch does that as well; but without a plan that asks for them, no documents may come.
        """
        if self.borders is not None and self.borders.network.table.plan is not None:
            with self.borders.changing:
                self.newest_version()


def subscriptions_of(spark: SparkSession, pipeline: Pipeline) -> SubscriptionSource:
    """The subscriptions of a pipeline; raises ``SourceError`` if there is no such store."""
    named = pipeline.subscriptions
    if named.format:
        return SparkSubscriptions(
            spark.read.format(named.format).options(**named.options).load, pipeline.namespaces
        )
    return SubscriptionStore.open(named.path)


def run_batch(
    state: RunState,
    documents: DataFrame | Documents,
    batch: int,
    *,
    ends: bool = False,
    scope: DeliveryScope | None = None,
) -> BatchMetrics:
    """Run a batch, for the first time or again, until all its outputs are written.

    With ``ends``, a document in fragments that is not complete gets its outcome in this batch.
    ``scope`` says which outputs are written, by default all.
    """
    began = time.monotonic()
    pipeline = state.pipeline
    scope = scope or DeliveryScope.whole(pipeline)
    if pipeline.source.has_fragments:
        from twigcast.spark.runs.fragment_batch import run_fragment_batch  # imports this module

        return run_fragment_batch(
            state, documents, batch, ends=ends or pipeline.source.kind == "huge", scope=scope
        )
    borders = state.borders
    with borders.changing if borders is not None else nullcontext():
        entry = state.begin(batch)
        index = state.versions.at(entry.version)
        annotations = borders.annotations(index) if borders is not None and batch >= 0 else None
    mediation = state.mappings.at(entry.mappings) if entry.mappings is not None else None
    references = mediation.references if mediation is not None else ()
    ship = pipeline.subscriptions.ship
    network = state.network
    links = network.links if network is not None else ()
    limits = pipeline.limits
    structure = pipeline.match.structure if batch >= 0 else None  # dead letters, which are retried, have none
    owned: NodeChoice | None = None
    if pipeline.source.kind == "chunks":
        hits, owned = _chunk_hits(pipeline, documents, index[0])
    else:
        hits = match(
            documents,
            index,
            ship=ship,
            limits=limits,
            seconds=SECONDS,
            mediation=mediation,
            structure=structure,
            annotations=annotations,
        )
    figures = [*measures(SECONDS), *hop_measures(links)]
    if mediation is not None:
        figures += mapping_measures(references)
    if annotations is not None:
        figures += border_measures(annotations.name)
    with cached(hits):
        observing = scope.is_whole and reports_observations(
            scope.sinks[0]
        )  # then the first write also computes the metrics
        on_hits, on_attempts = Observation(), Observation()
        source = hits.observe(on_hits, *figures) if observing else hits
        form, carried = pipeline.deliveries.parts, pipeline.deliveries.columns
        copies = pipeline.deliveries.copies
        refusals = F.count("refusal").alias("refusals")
        with_parts = delivers_parts(index)
        if with_parts:
            made = attempts(
                source,
                index,
                ship=ship,
                content=pipeline.content,
                parts=form,
                limits=limits,
                mediation=mediation,
                columns=carried,
                copies=copies,
                owned=owned,
            )
            made = scope.chosen(made)
            made = made.observe(on_attempts, refusals) if observing else made
            outgoing = delivered(made)
        else:
            made = outgoing = scope.chosen(
                deliveries(source, index, ship=ship, content=pipeline.content, columns=carried, copies=copies)
            )
        with nullcontext() if observing and len(scope.sinks) == 1 else cached(made):
            counts = [
                write_deliveries(scope.for_sink(outgoing, sink, batch), sink, batch) for sink in scope.sinks
            ]
            measured = on_hits.get if observing else hits.agg(*figures).collect()[0].asDict()
            letters, more = measured["errors"], None
            if with_parts:
                found = on_attempts.get if observing else made.agg(refusals).collect()[0].asDict()
                letters += found["refusals"]
                more = refused(with_packed_columns(made, carried)) if found["refusals"] else None
            elif measured["undecided"]:
                costly = hits.where(F.col("undecided").isNotNull()).withColumn(
                    "matches", F.array().cast(NUMBERS)
                )
                tried = scope.chosen(attempts(costly, index, ship=ship, limits=limits, columns=carried))
                more = refused(with_packed_columns(tried, carried))
                letters += more.count()
            letters = write_letters(
                hits, pipeline.dead_letters.path, batch, entry.time, letters, more, scope, carried
            )
        hops = hop_metrics(measured, links)
        if borders is not None and not scope.is_replay:
            hops = borders.write(hits, index, hops, batch)
    if network is not None:
        if annotations is not None:
            hops.append(border_metrics(measured, network.table.entry_router))
        write_hops(hits.sparkSession, hops, network.table.metrics, batch)
    mapped: tuple[MappingMetrics, ...] = ()
    if mediation is not None and pipeline.mediation is not None:
        mapped = mapping_metrics(measured, references)
        write_mapping_metrics(
            hits.sparkSession, mapped, str(entry.mappings), pipeline.mediation.metrics, batch
        )
    metrics = BatchMetrics(
        batch=batch,
        documents=measured["documents"],
        bytes=measured["bytes"],
        matches=measured["matches"],
        deliveries=counts[0],
        dead_letters=letters,
        parse_and_match_seconds=measured["seconds"],
        seconds=time.monotonic() - began,
        index_version=entry.version,
        mappings=mapped,
    )
    write_metrics(hits.sparkSession, metrics, pipeline.metrics.path)
    with borders.changing if borders is not None else nullcontext():
        state.versions.release(state.journal.needed_versions)
    state.mappings.release(state.journal.needed_mappings)
    return metrics


def _chunk_hits(
    pipeline: Pipeline, documents: DataFrame | Documents, index: IndexVersion
) -> tuple[DataFrame, NodeChoice]:
    """The hits of the parts of large documents, and which selected nodes belong to a part."""
    from twigcast.spark.chunking.chunk_files import UncutFiles  # as workers do not need them
    from twigcast.spark.chunking.chunk_matching import ChunkPlan, Ownership, match_chunks

    assert isinstance(documents, UncutFiles)
    source = pipeline.source
    scheme = ChunkPlan(source.schema_path, source.sample_bytes, source.chunks).scheme(index, documents)
    hits = match_chunks(
        documents,
        index,
        scheme,
        ship=pipeline.subscriptions.ship,
        limits=pipeline.limits,
        part_bytes=source.part_bytes,
    )
    return hits, Ownership(scheme).owned


@contextmanager
def cached(table: DataFrame) -> Iterator[None]:
    """Cache a table for the duration of the block, so that it is computed once."""
    table.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        yield
    finally:
        table.unpersist()
