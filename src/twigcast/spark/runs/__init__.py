"""Runs: a pipeline as a job that ends, as a stream, as a replay, or as a retry of its dead letters.

All of them call ``run_batch`` for each batch, which can run the same batch again at any time with the same
result, because the journal has its index version and time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.spark.runs.batch import RunState, run_batch
    from twigcast.spark.runs.job import run, start_run
    from twigcast.spark.runs.journal import Journal
    from twigcast.spark.runs.pipeline_query import PipelineQuery, run_errors
    from twigcast.spark.runs.replay import Replay, replay
    from twigcast.spark.runs.retry import RetryMetrics, retry
    from twigcast.spark.runs.spark_scope import session_for, task_counts, wait_until_stopped
    from twigcast.spark.runs.stream import stream

__all__ = [
    "Journal",
    "PipelineQuery",
    "Replay",
    "RetryMetrics",
    "RunState",
    "replay",
    "retry",
    "run",
    "run_batch",
    "run_errors",
    "session_for",
    "start_run",
    "stream",
    "task_counts",
    "wait_until_stopped",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.spark.runs.batch": ["RunState", "run_batch"],
        "twigcast.spark.runs.job": ["run", "start_run"],
        "twigcast.spark.runs.journal": ["Journal"],
        "twigcast.spark.runs.pipeline_query": ["PipelineQuery", "run_errors"],
        "twigcast.spark.runs.replay": ["Replay", "replay"],
        "twigcast.spark.runs.retry": ["RetryMetrics", "retry"],
        "twigcast.spark.runs.spark_scope": ["session_for", "task_counts", "wait_until_stopped"],
        "twigcast.spark.runs.stream": ["stream"],
    },
)
