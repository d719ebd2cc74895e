"""Writes the chunks of a document as files: the only module of this room that does.

    chunks/
    ├── 01-people-person/part-00001.xml, part-00001.map, …     each under its final name only when it is whole
    ├── 02-rest/part-00001.xml, part-00001.map
    └── scheme.json                                            last: queries, targets, parts, the error

A ``.map`` file is the source map of its part: pairs of integers of 8 bytes, offset in the part and offset in
the document.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from twigcast.chunking.document_pass import foreign_pairs
from twigcast.chunking.outline import Pair
from twigcast.chunking.running import Source, blocks_of, is_unsettled, settled
from twigcast.chunking.scheme import Chunk, Scheme
from twigcast.document import PART_BYTES, DocumentLimits, Projector, Slice
from twigcast.errors import ChunkingError, DocumentError
from twigcast.system import write_atomically


@dataclass(slots=True)
class ChunkFiles:
    """The files of one chunk."""

    chunk: Chunk
    folder: Path
    parts: list[Path] = field(default_factory=list)
    bytes: int = 0


@dataclass(slots=True)
class ChunkedDocument:
    """The chunks of a document as files; ``error`` says where the document broke off.

    ``unsettled`` has the queries that can select where the schema has nothing: plan again with a sample of
    this document, and cut it again.
    """

    chunks: list[ChunkFiles]
    bytes: int = 0
    error: DocumentError | None = None
    foreign: list[Pair] = field(default_factory=list)
    foreign_at: int | None = None
    unsettled: list[Hashable] = field(default_factory=list)


def chunk(
    document: Source,
    scheme: Scheme,
    into: str | os.PathLike[str],
    *,
    part_bytes: int = PART_BYTES,
    limits: DocumentLimits | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> ChunkedDocument:
    """Cut a document into a new or empty folder; ``progress`` is called with the bytes that were read.

    Raises ``ChunkingError`` if the folder is not empty.  If the document breaks off, each chunk ends with its
    last whole element, ``scheme.json`` says ``"complete": false``, and ``error`` where it is.
    """
    folder = Path(into)
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ChunkingError(f"{folder} is not empty", code="chunk-folder")
    files = [ChunkFiles(each, folder / f"{each.number:02}-{each.name}") for each in scheme.chunks]
    found = ChunkedDocument(files)
    decisions = scheme.decisions()
    divided = [each.is_divided for each in scheme.chunks]
    projector = Projector(decisions, divided, part_bytes, limits or DocumentLimits())
    writer = _Writer(files)
    try:
        for block in blocks_of(document):
            writer.write(projector.feed(block))
            progress(projector.bytes)
            if projector.error is not None:
                break
        projected = projector.finish()
        writer.write(projected.slices)
    finally:
        writer.close()
    found.bytes = projector.bytes
    found.error = projected.error
    foreign = foreign_pairs(projected.steps, decisions, scheme.outline)
    found.foreign, found.foreign_at = [*foreign], next(iter(foreign.values()), None)
    second = settled(scheme, found.foreign)
    if second is not None:
        found.unsettled = [each.query.id for each in second.queries if is_unsettled(each)]
    text = json.dumps(described(scheme, found), ensure_ascii=False, indent=1, default=str)
    write_atomically(folder / "scheme.json", text.encode() + b"\n")
    return found


def described(scheme: Scheme, cut: ChunkedDocument) -> dict[str, Any]:
    """The scheme and what was made by it, as values of JSON."""
    error = cut.error
    return {
        "complete": error is None,
        "bytes": cut.bytes,
        "error": error
        and {"code": error.code, "message": error.message, "line": error.line, "column": error.column}
        | {"offset": error.offset},
        "chunks": [
            {
                "number": each.chunk.number,
                "name": each.chunk.name,
                "kind": each.chunk.kind,
                "prefix": None if each.chunk.prefix is None else _path(each.chunk.prefix),
                "bytes": each.bytes,
                "parts": [path.relative_to(path.parent.parent).as_posix() for path in each.parts],
                "needs": sorted(
                    "".join(f"{axis.value}{_name(test)}" for axis, test in need.steps) + f" {need.keep.name}"
                    for need in each.chunk.needs
                ),
                "queries": [
                    {
                        "id": scheme.queries[number].query.id,
                        "xpath": scheme.queries[number].query.text,
                        "targets": [_path(target.path) + "//" * target.is_open for target in targets],
                    }
                    for number, targets in each.chunk.targets.items()
                ],
            }
            for each in cut.chunks
        ],
        "never": [{"id": id, "reason": why} for id, why in scheme.never],
        "refused": [{"id": id, "reason": str(error)} for id, error in scheme.refused],
        "foreign": [[parent and _name(parent), _name(child)] for parent, child in cut.foreign],
        "unsettled": cut.unsettled,
    }


def _path(names: tuple[tuple[str | None, str], ...]) -> str:
    return "/" + "/".join(map(_name, names))


def _name(name: tuple[str | None, str | None]) -> str:
    namespace, local = name
    return f"Q{{{namespace}}}{local or '*'}" if namespace else local or "*"


class _Writer:
    """The files of parts that are being written, under temporary names."""

    def __init__(self, files: list[ChunkFiles]) -> None:
        self._files = files
        self._open: dict[int, tuple[BinaryIO, BinaryIO]] = {}

    def write(self, slices: list[Slice]) -> None:
        for each in slices:
            if each.output not in self._open:
                self._open[each.output] = self._opened(each)
            body, source_map = self._open[each.output]
            body.seek(each.start)
            body.truncate()
            body.write(each.body)
            source_map.write(each.map_bytes)
            if each.is_last:
                self._finish(each)

    def close(self) -> None:
        """Close and remove the files of parts that never became whole."""
        for pair in self._open.values():
            for file in pair:
                file.close()
                os.unlink(file.name)
        self._open.clear()

    def _opened(self, piece: Slice) -> tuple[BinaryIO, BinaryIO]:
        folder = self._files[piece.output].folder
        folder.mkdir(exist_ok=True)
        name = f".part-{piece.part + 1:05}"
        return open(folder / f"{name}.xml", "wb"), open(folder / f"{name}.map", "wb")

    def _finish(self, piece: Slice) -> None:
        files = self._files[piece.output]
        for file in self._open.pop(piece.output):
            size = file.tell()
            file.close()
            path = Path(file.name)
            final = path.with_name(path.name[1:])
            path.rename(final)
            if final.suffix == ".xml":
                files.parts.append(final)
                files.bytes += size
