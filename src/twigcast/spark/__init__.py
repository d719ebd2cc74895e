"""The data pipeline on Spark: documents in, deliveries out, as DataFrames, batch and streaming alike.

    from twigcast import spark as tc

    spark = tc.session("feed")
    docs = tc.read(spark, "feed/")                     doc_id, body, …
    hits = tc.match(docs, index)                       … with matches, index_version, error
    outs = tc.deliveries(hits, index)                  one row for each delivery
    lost = tc.dead_letters(hits)                       one row for each document that could not be read

    cut = tc.chunks(spark, "big.xml", scheme)          one large document, cut by what queries ask for
    found = tc.answers(cut)                            one row for each answer

    tc.run(spark, pipeline)                            the same stages as a job, described by a file
    tc.stream(spark, pipeline)                         the same stages as a stream

Only this room imports Spark.  Names are loaded when they are first used, so that a worker does not import
what only the driver needs.

    pipeline/   the pipeline file          sources/   documents from files, archives, records, tables
    stages/     match and deliver          outputs/   sinks, dead letters, metrics
    fragments/  documents in fragments     runs/      jobs, streams, retries
    chunking/   large documents in chunks  jvm/       the session, and all that is private in Spark
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.spark.jvm.session import session
from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.pattern import Subscription
    from twigcast.spark.chunking.answering import answers
    from twigcast.spark.chunking.chunk_files import Chunks, chunks
    from twigcast.spark.fragments.fragment_matching import match_fragments
    from twigcast.spark.outputs.dead_letters import settled_path
    from twigcast.spark.outputs.letter_ids import letter_id
    from twigcast.spark.outputs.metrics import BatchMetrics
    from twigcast.spark.pipeline import Pipeline
    from twigcast.spark.runs.job import run, start_run
    from twigcast.spark.runs.journal import Journal
    from twigcast.spark.runs.pipeline_query import PipelineQuery, run_errors
    from twigcast.spark.runs.replay import Replay, replay
    from twigcast.spark.runs.retry import retry
    from twigcast.spark.runs.spark_scope import session_for, task_counts, wait_until_stopped
    from twigcast.spark.runs.stream import stream
    from twigcast.spark.sources.documents import Documents
    from twigcast.spark.sources.reading import read
    from twigcast.spark.sources.spark_subscriptions import subscription_index
    from twigcast.spark.stages.delivering import dead_letters, deliveries, refused_deliveries
    from twigcast.spark.stages.matching import match, measures
    from twigcast.spark.stages.mediating import Mediation
    from twigcast.spark.stages.structures import match_structures, structures
    from twigcast.subscriptions import IndexVersion, SubscriptionStore

__all__ = [
    "BatchMetrics",
    "Chunks",
    "Documents",
    "IndexVersion",
    "Journal",
    "Mediation",
    "Pipeline",
    "PipelineQuery",
    "Replay",
    "Subscription",
    "SubscriptionStore",
    "answers",
    "chunks",
    "dead_letters",
    "deliveries",
    "letter_id",
    "match",
    "match_fragments",
    "match_structures",
    "measures",
    "read",
    "refused_deliveries",
    "replay",
    "retry",
    "run",
    "run_errors",
    "session",
    "session_for",
    "settled_path",
    "start_run",
    "stream",
    "structures",
    "subscription_index",
    "task_counts",
    "wait_until_stopped",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.spark.chunking.answering": ["answers"],
        "twigcast.spark.chunking.chunk_files": ["Chunks", "chunks"],
        "twigcast.spark.fragments.fragment_matching": ["match_fragments"],
        "twigcast.spark.outputs.dead_letters": ["settled_path"],
        "twigcast.spark.outputs.letter_ids": ["letter_id"],
        "twigcast.spark.outputs.metrics": ["BatchMetrics"],
        "twigcast.spark.pipeline": ["Pipeline"],
        "twigcast.spark.runs.job": ["run", "start_run"],
        "twigcast.spark.runs.journal": ["Journal"],
        "twigcast.spark.runs.pipeline_query": ["PipelineQuery", "run_errors"],
        "twigcast.spark.runs.replay": ["Replay", "replay"],
        "twigcast.spark.runs.retry": ["retry"],
        "twigcast.spark.runs.spark_scope": ["session_for", "task_counts", "wait_until_stopped"],
        "twigcast.spark.runs.stream": ["stream"],
        "twigcast.spark.sources.documents": ["Documents"],
        "twigcast.spark.sources.reading": ["read"],
        "twigcast.spark.sources.spark_subscriptions": ["subscription_index"],
        "twigcast.spark.stages.delivering": ["dead_letters", "deliveries", "refused_deliveries"],
        "twigcast.spark.stages.matching": ["match", "measures"],
        "twigcast.spark.stages.mediating": ["Mediation"],
        "twigcast.spark.stages.structures": ["match_structures", "structures"],
        "twigcast.pattern": ["Subscription"],
        "twigcast.subscriptions": ["IndexVersion", "SubscriptionStore"],
    },
    extra="spark",
)


def __dir__() -> list[str]:
    return __all__
