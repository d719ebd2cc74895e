"""The parts of one document: the nodes that subscriptions select, or why they do not get them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import pyarrow as pa

from twigcast.document import NO_LIMIT, DocumentLimits, Node, PartCutter, PartForm, joined, read, relocated
from twigcast.errors import DocumentError, EvaluationError
from twigcast.pattern import Pattern, parse, select
from twigcast.spark.columns import (
    NAMED_MAPPING,
    PROLOG,
    PUBLISHER,
    ErrorRow,
    error_row,
    error_without_position,
)
from twigcast.spark.stages.mediating import MappingRules

Origin: TypeAlias = dict[str, Any]

# The limits were checked when the document was matched.
_UNLIMITED = DocumentLimits(
    bytes=NO_LIMIT, depth=NO_LIMIT, attributes=NO_LIMIT, amplification_threshold=NO_LIMIT
)


class DocumentParts:
    """A document from which nodes are cut.

    With a mapping, nodes are selected in the image of the document and cut from the document itself.
    """

    def __init__(
        self,
        body: bytes,
        origin: Origin,
        form: PartForm,
        limits: DocumentLimits,
        mapping: MappingRules | None,
    ) -> None:
        self.body = body
        self.origin = origin
        self._cutter: PartCutter | None = None
        self._steps = limits.steps(len(body))
        self._unreadable: DocumentError | None = None
        prolog = origin["prolog"]
        try:
            document = read(joined(prolog, body), _UNLIMITED)
            self._seen = document if mapping is None else mapping.apply(document, _UNLIMITED)
            self._cutter = PartCutter(document, form, limits, prolog=prolog, body=body)
        except DocumentError as error:  # by an expat of another version than the kernel's, which has read it
            self._unreadable = error

    def of(
        self, pattern: Pattern, subscription: str, own: Callable[[list[Node]], list[Node]] | None
    ) -> Iterator[tuple[int | None, bytes, ErrorRow | None]]:
        """The selected nodes, or those of them that ``own`` chooses, with their numbers.

        If the limits do not allow them, the document and the error are all that is returned.
        """
        try:
            if self._cutter is None:
                assert self._unreadable is not None
                raise self._unreadable
            found = select(pattern, self._seen, self._steps)
            found = found if own is None else own(found)
            parts = self._cutter.cut(found if self._seen is self._cutter.document else self._sources(found))
        except DocumentError as error:
            yield None, self.body, self._refusal(error, subscription)
            return
        except EvaluationError as error:
            yield None, self.body, costly_refusal(error, subscription, self.origin)
            return
        for number, part in enumerate(parts):
            yield number, part, None

    def _sources(self, nodes: list[Node]) -> list[Node]:
        """The nodes of the document from which nodes of its image were made, each once, in document order."""
        found = {source: None for node in nodes for source in self._seen.sources(node)}
        return sorted(found, key=lambda source: source.order)

    def _refusal(self, error: DocumentError, subscription: str) -> ErrorRow:
        row = error_row(relocated(error, self.origin["prolog"], self.body))
        return row | {"message": f"subscription {subscription!r}: {error.message}"} | self.origin


def costly_refusal(error: EvaluationError, subscription: str, origin: Origin) -> ErrorRow:
    message = f"subscription {subscription!r}: {error.message}"
    return error_without_position(message, code=error.code) | origin


def document_origin(batch: pa.RecordBatch, row: int) -> Origin:
    """What a retry of a document needs beside its body: its prolog, its publisher, the mapping it names."""
    columns = {"prolog": PROLOG, "publisher": PUBLISHER, "mapping": NAMED_MAPPING}
    return {
        key: batch.column(field.name)[row].as_py() if field.name in batch.schema.names else None
        for key, field in columns.items()
    }


@lru_cache(maxsize=4096)
def parsed_pattern(pattern: str) -> Pattern:
    return parse(pattern)
