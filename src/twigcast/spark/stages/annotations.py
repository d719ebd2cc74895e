"""Documents that cross the border of two pipelines, with what the first one knows about them.

    north   hits ──► annotated ──► doc_id, body, prolog, publisher, annotations
                                          │
    south                                 └──► AnnotationChoice ──► decided, or parsed as ever

Invariant: annotations change the cost, never an answer.  Those that are missing, truncated, altered, of
another document or of a plan that is not known any more leave the document to the parser.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from twigcast.document import joined
from twigcast.errors import StageError
from twigcast.filtering import Index
from twigcast.spark.columns import ONLY, PROLOG, PUBLISHER, has, require
from twigcast.spark.stages.structures import FOUND, OPEN_ROW, STRUCTURE_SECONDS, Keeping

if TYPE_CHECKING:
    from pyspark import Broadcast

    from twigcast.routing import Annotations, SitePlan, SiteReader

ANNOTATED = StructType(
    [
        StructField("doc_id", StringType()),
        StructField("body", BinaryType()),
        PROLOG,
        PUBLISHER,
        StructField("annotations", BinaryType()),
    ]
)
"""The columns of documents for another pipeline."""

_ARROW_ANNOTATED = pa.schema(
    [
        ("doc_id", pa.string()),
        ("body", pa.binary()),
        ("prolog", pa.binary()),
        ("publisher", pa.string()),
        ("annotations", pa.binary()),
    ]
)


def annotated(hits: DataFrame, link: int, plan: SitePlan) -> DataFrame:
    """The documents that took a link, annotated by the plan of the site at its end.

    A document that is delivered again to a single subscription is left out: it took the link before.
    """
    rows = hits.where(F.array_contains("hops", link))
    if has(hits, ONLY):
        rows = rows.where(F.col(ONLY.name).isNull())
    columns = [F.col("doc_id"), F.col("body")]
    for field in (PROLOG, PUBLISHER):
        there = F.col(field.name) if has(hits, field) else F.lit(None)
        columns.append(there.cast(field.dataType).alias(field.name))
    return rows.select(*columns).mapInArrow(partial(_annotate, plan=plan.encode()), ANNOTATED)


def _annotate(batches: Iterator[pa.RecordBatch], *, plan: bytes) -> Iterator[pa.RecordBatch]:
    """The stage of ``annotated``, which workers run."""
    annotator = _annotator(plan)
    for batch in batches:
        columns = [batch.column(name) for name in ("doc_id", "body", "prolog")]
        said = [
            annotator.annotations(doc_id, joined(prolog, body)) or None
            for doc_id, body, prolog in zip(*(each.to_pylist() for each in columns), strict=True)
        ]
        columns += [batch.column("publisher"), pa.array(said, pa.binary())]
        typed = [each.cast(field.type) for each, field in zip(columns, _ARROW_ANNOTATED, strict=True)]
        yield pa.RecordBatch.from_arrays(typed, schema=_ARROW_ANNOTATED)


@lru_cache(maxsize=4)
def _annotator(plan: bytes) -> Any:
    """The annotator of a plan, made once in each process."""
    from twigcast.routing import SiteAnnotator, SitePlan

    return SiteAnnotator(SitePlan.decode(plan))


@dataclass(frozen=True, slots=True)
class AnnotationColumn:
    """A column of annotations, and what reads the answers to a plan; without it, only structures decide."""

    name: str
    reader: Broadcast[SiteReader] | None = None

    def check(self, docs: DataFrame) -> None:
        """Raise ``StageError`` if the documents have no such column, or if it has no bytes."""
        require(docs, (self.name,), "annotations")
        kind = docs.schema[self.name].dataType
        if not isinstance(kind, BinaryType):
            message = f"expected annotations, which are bytes, in {self.name}, found {kind.simpleString()}"
            raise StageError(message, code="columns")

    def choice(self, index: Index, keeping: Keeping) -> AnnotationChoice:
        """What decides documents by this column; it is made in a worker, once for each task."""
        return AnnotationChoice(index, self)


class AnnotationChoice:
    """Decides documents by their annotations, and says which of them must be parsed."""

    def __init__(self, index: Index, column: AnnotationColumn) -> None:
        from twigcast.routing import SiteReader  # imports the routers

        self._index = index
        self._column = column.name
        self._reader = column.reader.value if column.reader is not None else SiteReader()

    def __call__(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.Array]:
        """The batch with the answers of its annotations, and which documents must be parsed."""
        began = time.perf_counter()
        said = self._accepted(batch)
        structures = self._structures(said)
        found = [
            None if each is None else self._reader.matches(each, structure)
            for each, structure in zip(said, structures, strict=True)
        ]
        matches = pa.array(found, pa.list_(pa.uint32()))
        is_open = matches.is_null()
        if "error" in batch.schema.names:
            is_open = pc.or_(is_open, batch.column("error").is_valid())
        took = (time.perf_counter() - began) / (batch.num_rows or 1)
        columns = (matches, is_open, pa.repeat(pa.scalar(took), batch.num_rows))
        for name, values in zip((FOUND, OPEN_ROW, STRUCTURE_SECONDS), columns, strict=True):
            batch = batch.append_column(name, values)
        return batch, is_open

    def _accepted(self, batch: pa.RecordBatch) -> list[Annotations | None]:
        """The annotations of each document; none if they cannot be used."""
        from twigcast.routing import Envelope, accepted

        rows = batch.num_rows
        prologs = batch.column("prolog") if "prolog" in batch.schema.names else pa.nulls(rows, pa.binary())
        columns = (batch.column("doc_id"), batch.column("body"), prologs, batch.column(self._column))
        return [
            accepted(Envelope(doc_id, joined(prolog, body), annotations=said), self._index.limits)
            if said and doc_id is not None and body is not None
            else None
            for doc_id, body, prolog, said in zip(*(each.to_pylist() for each in columns), strict=True)
        ]

    def _structures(self, said: list[Annotations | None]) -> list[tuple[Any, Any] | None]:
        """For each document, the positions that its structure proves and leaves open; none without one."""
        from twigcast.routing import AnnotationKind

        texts = [None if each is None else each.sections.get(AnnotationKind.STRUCTURE) for each in said]
        if not any(texts):
            return [None] * len(said)
        answer = self._index.match_structures(pa.array(texts, pa.binary()))
        return [
            None if proven is None or left is None else (_positions(proven), _positions(left))
            for proven, left in zip(answer.matches.to_pylist(), answer.open.to_pylist(), strict=True)
        ]


def _positions(values: list[int]) -> Any:
    return np.array(values, dtype=np.int32)
