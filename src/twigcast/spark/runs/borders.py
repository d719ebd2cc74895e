"""The borders of a pipeline with others: documents for remote sites, and annotations of those that come."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from twigcast.spark.outputs.link_metrics import HopMetrics
from twigcast.spark.outputs.remote_documents import write_remote
from twigcast.spark.stages.annotations import AnnotationColumn, annotated
from twigcast.spark.stages.network import NetworkTables
from twigcast.subscriptions import IndexVersion

if TYPE_CHECKING:
    from pyspark import Broadcast

    from twigcast.routing import SiteReader


class Borders:
    """The remote sites of a pipeline, and the column of annotations of its source, if it has one.

    ``changing`` is held while index versions are made or opened: a batch does that, and a stream that waits
    for documents, so that its plan is written.
    """

    def __init__(self, spark: SparkSession, network: NetworkTables, column: str | None) -> None:
        self.changing = threading.Lock()
        self._spark = spark
        self.network = network
        self._column = column
        self._sent: tuple[SiteReader, Broadcast[SiteReader]] | None = None

    def annotations(self, versions: Sequence[IndexVersion]) -> AnnotationColumn | None:
        """The column of annotations, with what reads it for documents that are matched by a version."""
        if self._column is None:
            return None
        (version,) = versions
        reader = self.network.reader_of(version)
        if reader.claims.newest is None:
            return AnnotationColumn(self._column)
        if self._sent is None or self._sent[0] is not reader:
            self._sent = reader, self._spark.sparkContext.broadcast(reader)
        return AnnotationColumn(self._column, self._sent[1])

    def write(
        self, hits: DataFrame, versions: Sequence[IndexVersion], hops: Sequence[HopMetrics], batch: int
    ) -> list[HopMetrics]:
        """Write the documents of a batch for each remote site; returns the link metrics with annotations.

        No document comes from a remote site, so links in that direction are left out.
        """
        remote = self.network.table.remote
        written: list[HopMetrics] = []
        for link, hop in enumerate(hops):
            if hop.source in remote:
                continue
            if hop.target in remote:
                to = remote[hop.target].to
                if hop.documents or not to.exists():  # an empty table tells its columns
                    rows = annotated(hits, link, self.network.plan_of(hop.target, versions[0]))
                    hop = replace(hop, annotation_bytes=write_remote(rows, to, batch))
            written.append(hop)
        return written
