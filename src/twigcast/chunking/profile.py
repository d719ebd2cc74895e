"""The label paths of a document, or of its beginning, with counts and bytes: something to plan from.

    /site/people/person    25,500 times   31.2 MB   repeats

Where there is no schema, a profile takes its place; where there is one, it adds the sizes.
Cost: a parse by expat, with two probes of a table for each start tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from twigcast.document import DocumentLimits, LabelPath, PathProfiler, document_error
from twigcast.errors import DocumentError

SAMPLE_BYTES = 256 << 20
"""The default number of bytes that are read as a sample."""

_BLOCK = 1 << 20
_HEAD = 1 << 10
"""Bytes of the beginning that are kept, so that an error can name the encoding."""
_DEFAULT_LIMITS = DocumentLimits()


@dataclass(slots=True)
class PathFigures:
    """How often a label path occurs, its bytes without end tags, whether it repeats in a parent."""

    count: int = 0
    bytes: int = 0
    repeats: bool = False


@dataclass(slots=True)
class Profile:
    """The label paths of a document in the order of their first occurrence; ``bytes`` is what was read."""

    paths: dict[LabelPath, PathFigures] = field(default_factory=dict)
    bytes: int = 0
    is_complete: bool = True

    def bytes_at(self, path: Iterable[tuple[str | None, str]]) -> int:
        """The bytes of the elements at a label path; a namespace that is not known counts as none."""
        figures = self.paths.get(tuple((namespace or "", local) for namespace, local in path))
        return 0 if figures is None else figures.bytes

    def scaled(self, size: int, document_bytes: int | None) -> int:
        """A number of bytes of the sample as one of the whole document."""
        if document_bytes is None or not self.bytes or self.is_complete:
            return size
        return int(size * document_bytes / self.bytes)


def profile(
    blocks: Iterable[bytes], most_bytes: int = SAMPLE_BYTES, limits: DocumentLimits = _DEFAULT_LIMITS
) -> Profile:
    """Read the first ``most_bytes`` of a document; raises ``DocumentError`` if they are not well-formed.

    Of the ``limits``, only the depth counts.
    """
    counter = PathProfiler(limits.depth)
    head, left = b"", most_bytes
    for piece in chain(_pieces(blocks), [b""]):
        head = head or bytes(piece[:_HEAD])
        if error := counter.feed(piece[:left], not piece):
            number, line, column, offset = error
            raise document_error(number, line, column, offset, head, limits)
        left -= min(left, len(piece))
        if not left:
            break
    found = Profile(bytes=most_bytes - left, is_complete=left > 0)
    paths: list[LabelPath] = [()]
    for parent, name, count, size, repeats in counter.paths():
        paths.append((*paths[parent], name))
        found.paths[paths[-1]] = PathFigures(count, size, repeats)
    return found


def sampled(
    opened: Callable[[], Iterable[bytes]],
    most_bytes: int = SAMPLE_BYTES,
    limits: DocumentLimits = _DEFAULT_LIMITS,
) -> tuple[Profile, DocumentError | None]:
    """The profile of a document that may be broken: then of what comes before the error, and the error."""
    try:
        return profile(opened(), most_bytes, limits), None
    except DocumentError as error:
        return profile(opened(), error.offset, limits) if error.offset else Profile(), error


def _pieces(blocks: Iterable[bytes]) -> Iterator[memoryview]:
    """The document in pieces that are not too large for the parser, which copies them."""
    for block in blocks:
        view = memoryview(block)
        for at in range(0, len(view), _BLOCK):
            yield view[at : at + _BLOCK]
