"""The data pipeline on Spark: documents in, deliveries out, as DataFrames, batch and streaming alike.

    from twigcast import spark as tc

    spark = tc.session("feed")
    docs = tc.read(spark, "feed/")                     doc_id, body, …
    hits = tc.match(docs, index)                       … and matches, index_version, error
    outs = tc.deliveries(hits, index)                  one row for each subscriber of each document
    lost = tc.dead_letters(hits)                       one row for each document that could not be read

    tc.run(spark, pipeline)                            the same stages as one job, described by a file
    tc.stream(spark, pipeline)                         the same stages as a stream

This room alone knows Spark.  Names are loaded when they are first used: a worker that matches does not wait
for what only the driver needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Not when first used: the module of the same name would be found in the function's place.
from twigcast.spark.jvm.session import session

if TYPE_CHECKING:
    from twigcast.pattern import Subscription
    from twigcast.spark.pipeline import Pipeline
    from twigcast.spark.runs.job import run
    from twigcast.spark.runs.stream import stream
    from twigcast.spark.sources.reading import read
    from twigcast.spark.stages.delivering import dead_letters, deliveries
    from twigcast.spark.stages.matching import match, measures
    from twigcast.subscriptions import IndexVersion, SubscriptionStore

__all__ = [
    "IndexVersion",
    "Pipeline",
    "Subscription",
    "SubscriptionStore",
    "dead_letters",
    "deliveries",
    "match",
    "measures",
    "read",
    "run",
    "session",
    "stream",
]

_HOMES = {
    "IndexVersion": "subscriptions.versions",
    "Pipeline": "spark.pipeline",
    "Subscription": "pattern.subscription",
    "SubscriptionStore": "subscriptions.store",
    "dead_letters": "spark.stages.delivering",
    "deliveries": "spark.stages.delivering",
    "match": "spark.stages.matching",
    "measures": "spark.stages.matching",
    "read": "spark.sources.reading",
    "run": "spark.runs.job",
    "stream": "spark.runs.stream",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"twigcast.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
