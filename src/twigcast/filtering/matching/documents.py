"""Matches documents with a lent engine, one or a batch, and turns the kernel's answers into values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from twigcast.document import document_error
from twigcast.errors import DocumentError
from twigcast.filtering.matching.batches import Bodies, PositionLists
from twigcast.filtering.matching.engine_pool import LentEngine
from twigcast.filtering.mediation import Failure
from twigcast.filtering.results import BatchMatch, Match, Undecided
from twigcast.pattern import too_costly


def match_document(engine: LentEngine, body: bytes | memoryview) -> Match:
    """The match of one document."""
    return match_of(engine, body, engine.kernel.match(body))


def match_of(
    engine: LentEngine, body: bytes | memoryview, answer: tuple[Any, ...], structure: bytes | None = None
) -> Match:
    """The kernel's answer for a document as a match."""
    found, undecided, error, figures = answer
    number, strangers, cached, root = engine.kernel.rewritten()
    mapping = engine.rewritings.reference(number) if engine.rewritings else None
    roster = engine.snapshot.roster
    if error is not None:
        return Match((), reading_fault(engine, error, body, root), roster, (), mapping, strangers, cached)
    left_out = _undecided(engine, undecided, len(body)) if undecided else ()
    positions = memoryview(found).cast("I")
    return Match(positions, None, roster, left_out, mapping, strangers, cached, figures, structure)


def match_documents(engine: LentEngine, bodies: Any, which: Sequence[str | None] | None) -> BatchMatch:
    """The matches of an Arrow array of documents; ``which`` has the name of the mapping of each, or None."""
    batch = Bodies(bodies)
    rewritings, roster = engine.rewritings, engine.snapshot.roster
    wanted = rewritings.wanted(which) if rewritings else None
    if wanted is not None and len(wanted) != len(batch):
        raise ValueError(f"{len(batch)} documents, but {len(wanted)} names of mappings")
    offsets, positions, left_out, failures, rewritten = engine.kernel.match_batch(
        batch.offsets, batch.wide, len(batch), batch.valid, batch.data, wanted
    )
    roots = rewritten[3] if rewritten else {}
    errors: list[DocumentError | None] = [None] * len(batch)
    for row, error in failures:
        name = which[row] if which is not None else None
        errors[row] = reading_fault(engine, error, batch[row], roots.get(row, ""), name)
    undecided = {
        row: _undecided(engine, [position for _, position in pairs], len(batch[row]))
        for row, pairs in groupby(left_out, itemgetter(0))
    }
    rows = PositionLists(offsets, positions).to_arrow(len(batch), batch.present(errors))
    if rewritings is None:
        return BatchMatch(rows, errors, roster, undecided)
    applied, strangers, cached = (memoryview(each).cast("I").tolist() for each in rewritten[:3])
    mappings = [rewritings.reference(number) for number in applied]
    return BatchMatch(rows, errors, roster, undecided, mappings, strangers, cached)


def reading_fault(
    engine: LentEngine, error: Failure, body: bytes | memoryview, root: str, name: str | None = None
) -> DocumentError:
    """The error of a document that the kernel could not read, with the limit or the mappings at fault."""
    fault = document_error(*error, body, engine.limits)
    if engine.rewritings and fault.code == "no-mapping":
        return engine.rewritings.without_mapping(fault, root, name)
    return fault


def _undecided(engine: LentEngine, positions: Iterable[int], size: int) -> tuple[Undecided, ...]:
    error = too_costly(engine.limits.steps(size))
    return tuple([Undecided(each, engine.snapshot.roster[each], error) for each in positions])
