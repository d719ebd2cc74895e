"""Writes the structures of documents with a lent engine, and matches structures in place of documents.

    body ──► match_with_structure ──► Match.structure ──► elsewhere: match_structure ──► StructureMatch

A subscription that asks only for names and places is decided; of any other, the structure may show that it
cannot match, else it is left open.  The kernel matches a structure with the subscriptions weakened to what a
structure has (``structural_segment.hpp``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from twigcast.document import AttributeDetail, NameTable
from twigcast.errors import StructureError
from twigcast.filtering.kernel import _kernel
from twigcast.filtering.kernel._kernel import KnownNames
from twigcast.filtering.matching.batches import Bodies, PositionLists
from twigcast.filtering.matching.documents import match_of, reading_fault
from twigcast.filtering.matching.engine_pool import LentEngine
from twigcast.filtering.results import Match, StructureBatch, StructureMatch

# By the numbers of StructureCode in structure_reader.hpp.
_CODES = {1: "structure", 2: "unknown-names", 3: "limit", 4: "too-costly"}


def structure_of(
    engine: LentEngine, body: bytes | memoryview, names: NameTable | None, attributes: AttributeDetail
) -> bytes:
    """The structure of a document; raises ``DocumentError``, or ``StructureError`` if it has none."""
    with_names = _records_names(attributes)
    structure, error = _kernel.read_structure(engine.kernel, body, _known(names), with_names)
    if error is not None:
        raise reading_fault(engine, error, body, engine.kernel.rewritten()[3])
    if structure is None:
        message = "the structure is beyond a limit, or the document is rewritten to several root elements"
        raise StructureError(message, code="no-structure")
    return bytes(structure)


def match_with_structure(
    engine: LentEngine, body: bytes | memoryview, names: NameTable | None, attributes: AttributeDetail
) -> Match:
    """The match of a document together with its structure, in one pass."""
    with_names = _records_names(attributes)
    *answer, structure = _kernel.match_with_structure(engine.kernel, body, _known(names), with_names)
    return match_of(engine, body, tuple(answer), structure)


def match_structure(
    engine: LentEngine, structure: bytes | memoryview, names: NameTable | None
) -> StructureMatch:
    """The match of a document of which only the structure is there."""
    found, possible, error = _kernel.match_structure(engine.kernel, structure, _known(names))
    roster = engine.snapshot.roster
    if error is not None:
        return StructureMatch((), (), _error(*error), roster)
    return StructureMatch(memoryview(found).cast("I"), memoryview(possible).cast("I"), None, roster)


def match_structures(engine: LentEngine, structures: Any, names: NameTable | None) -> StructureBatch:
    """The matches of an Arrow array of structures."""
    batch = Bodies(structures)
    found_offsets, found, possible_offsets, possible, failures = _kernel.match_structures(
        engine.kernel, batch.offsets, batch.wide, len(batch), batch.valid, batch.data, _known(names)
    )
    errors: list[StructureError | None] = [None] * len(batch)
    for row, code, message in failures:
        errors[row] = _error(code, message)
    present = batch.present(errors)
    return StructureBatch(
        PositionLists(found_offsets, found).to_arrow(len(batch), present),
        PositionLists(possible_offsets, possible).to_arrow(len(batch), present),
        errors,
        engine.snapshot.roster,
    )


def _known(names: NameTable | None) -> KnownNames | None:
    return None if names is None else _opened(names)


@lru_cache(maxsize=64)
def _opened(names: NameTable) -> KnownNames:
    return KnownNames(names.id, names.names)


def _records_names(attributes: AttributeDetail) -> bool:
    if attributes not in ("count", "names"):
        raise ValueError(f"attributes: expected 'count' or 'names', got {attributes!r}")
    return attributes == "names"


def _error(code: int, message: str) -> StructureError:
    return StructureError(message, code=_CODES[code])
