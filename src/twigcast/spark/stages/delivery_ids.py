"""The ids of deliveries: a hash of document id, content, subscriber, subscription and part.

document_key ──┬── identify with the key of a subscriber ──► id
               └── …                                          the body is hashed once for all of them
"""

from __future__ import annotations

import struct
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from twigcast.spark.columns import DIGEST


def document_key(doc_id: str, body: bytes | None, digest: bytes | None = None) -> Any:
    """What the ids of all deliveries of a document begin with, as an unfinished hash.

    ``digest`` stands for the hash of the body, where the body may not be there.
    """
    key = blake2b(digest_size=16)
    key.update(_framed(doc_id))
    key.update(blake2b(body or b"", digest_size=16).digest() if digest is None else digest)
    return key


def document_keys(batch: pa.RecordBatch) -> list[Any]:
    """The keys of the documents of a batch of hits."""
    columns = [batch.column("doc_id"), batch.column("body")]
    if DIGEST.name in batch.schema.names:
        columns.append(batch.column(DIGEST.name))
    return list(map(document_key, *(column.to_pylist() for column in columns)))


@lru_cache(maxsize=1 << 16)
def subscriber_key(subscriber: str, subscription: str | None) -> bytes:
    """What distinguishes the deliveries of a document to different subscribers and subscriptions.

    Without a subscription, it is the one copy for all subscriptions of the subscriber.
    """
    return _framed(subscriber) + (b"" if subscription is None else _framed(subscription))


def identify(document: Any, subscriber: bytes, part: int | None = None) -> str:
    """The id of a delivery, from the keys of its document and of its subscriber."""
    key = document.copy()
    key.update(subscriber)
    if part is not None:
        key.update(struct.pack("<q", part))
    return str(key.hexdigest())


def _framed(text: str) -> bytes:
    """A text with its length before it, so that different pairs of texts never give the same bytes."""
    encoded = text.encode("utf-8", "surrogatepass")
    return struct.pack("<q", len(encoded)) + encoded
