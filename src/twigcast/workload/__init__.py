"""Generates documents and subscriptions from a schema, with a seed.

    graph = news()                                                   or read_dtd(path), or infer(documents)
    documents = generate_documents(graph, 100, DocumentOptions(seed=1))
    subscriptions = generate_subscriptions(graph, 10_000, presets.BRANCHING)

The same schema, options and seed give the same bytes.
"""

from twigcast.workload import presets
from twigcast.workload.documents import DocumentOptions, generate_documents
from twigcast.workload.inferring import SchemaInference, infer
from twigcast.workload.news import news, news_dtd
from twigcast.workload.subscriptions import SubscriptionOptions, generate_subscriptions

__all__ = [
    "DocumentOptions",
    "SchemaInference",
    "SubscriptionOptions",
    "generate_documents",
    "generate_subscriptions",
    "infer",
    "news",
    "news_dtd",
    "presets",
]
