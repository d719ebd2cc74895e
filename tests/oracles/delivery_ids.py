"""The ids of deliveries, one by one."""

from __future__ import annotations

from twigcast.spark.stages.delivery_ids import document_key, identify, subscriber_key


def delivery_id(doc_id: str, body: bytes, subscriber: str, subscription: str, part: int | None) -> str:
    """The id of a delivery: a hash of document id, content, subscriber, subscription and part."""
    return identify(document_key(doc_id, body), subscriber_key(subscriber, subscription), part)
