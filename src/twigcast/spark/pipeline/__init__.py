"""The pipeline file: where documents come from, who subscribes, and where deliveries are written.

    work = "work"                        # checkpoint, journal and index versions

    [source]                             # documents
    kind = "directory"
    path = "feed"

    [subscriptions]
    path = "subscriptions.db"

    [mediation]                          # optional: publishers with schemas of their own
    mappings = "mappings"

    [network]                            # optional: routers between publishers and subscribers
    routers = ["north", "hub", "south"]
    links = [["north", "hub"], ["hub", "south"]]

    [[sink]]                             # deliveries; any number of sinks
    kind = "files"
    path = "out/subscribers"

Every key has a default, so an empty file is a valid pipeline: it reads ``feed``, takes its subscriptions from
``subscriptions.db``, and writes Parquet below ``out``.  A relative path is relative to the folder of the
file, not to the current folder; a path with a scheme (``s3a://…``) is passed to Spark unchanged.

Nothing in this sub-room imports Spark: a file is validated before a session is started for it.
"""

from twigcast.spark.pipeline.formats import missing_format, without_format
from twigcast.spark.pipeline.mediation_section import MediationSection
from twigcast.spark.pipeline.network_section import NetworkSection, RemoteSection
from twigcast.spark.pipeline.pipeline import Pipeline
from twigcast.spark.pipeline.sections import (
    ArchivesSection,
    DeadLettersSection,
    DeliveriesSection,
    LimitsSection,
    MatchSection,
    MetricsSection,
    SourceSection,
    SparkSection,
    StreamSection,
    SubscriptionsSection,
    WorkSection,
    is_file_format,
)
from twigcast.spark.pipeline.sink_section import SinkSection

__all__ = [
    "ArchivesSection",
    "DeadLettersSection",
    "DeliveriesSection",
    "LimitsSection",
    "MatchSection",
    "MediationSection",
    "MetricsSection",
    "NetworkSection",
    "Pipeline",
    "RemoteSection",
    "SinkSection",
    "SourceSection",
    "SparkSection",
    "StreamSection",
    "SubscriptionsSection",
    "WorkSection",
    "is_file_format",
    "missing_format",
    "without_format",
]
