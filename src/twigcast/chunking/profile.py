"""The label paths of a document, or of its beginning, with counts and bytes: something to plan from.

    /site/people/person    25,500 times   31.2 MB   repeats

Where there is no schema, a profile takes its place; where there is one, it adds the sizes.
Cost: a parse in Python, some 10 MB/s, so that a sample of the first megabytes is what one takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from xml.parsers import expat

from twigcast.document import (
    LabelPath,
    Transcriber,
    codec_name,
    declared_encoding,
    document_error,
    multibyte_codec,
)

SAMPLE_BYTES = 32 << 20
_BLOCK = 1 << 20
_HEAD = 1 << 10
_SEPARATOR = "\x01"
_UNKNOWN_ENCODING = 18


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


def profile(blocks: Iterable[bytes], most_bytes: int = SAMPLE_BYTES) -> Profile:
    """Read the first ``most_bytes`` of a document; raises ``DocumentError`` if they are not well-formed."""
    found = Profile()
    counter = _Counter(found)
    head, blocks = _beginning(blocks)
    if (encoding := declared_encoding(head)) and codec_name(encoding) is None:
        raise document_error(_UNKNOWN_ENCODING, 1, head.index(encoding.encode()), 0, head)
    transcriber = Transcriber(multibyte_codec(head))
    parser = expat.ParserCreate(transcriber.encoding, _SEPARATOR)
    parser.StartElementHandler = counter.start
    parser.EndElementHandler = counter.end
    counter.parser = parser
    try:
        for block in blocks:
            for at in range(0, len(block), _BLOCK):
                piece = bytes(block[at : at + _BLOCK][: most_bytes - found.bytes])
                parser.Parse(transcriber.utf8(piece), False)
                found.bytes += len(piece)
                if found.bytes >= most_bytes:
                    found.is_complete = False
                    return found
        parser.Parse(transcriber.utf8(b"", final=True), True)
    except expat.ExpatError as error:
        at = max(parser.ErrorByteIndex, 0)
        raise document_error(error.code, error.lineno, error.offset, at) from None
    except (LookupError, ValueError):  # raised by pyexpat for codecs that it does not know or cannot use
        line, column = parser.ErrorLineNumber, parser.ErrorColumnNumber
        raise document_error(_UNKNOWN_ENCODING, line, column, 0, head) from None
    return found


def _beginning(blocks: Iterable[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """The beginning of a document, with its declaration, and all blocks."""
    waiting = iter(blocks)
    head = b""
    while len(head) < _HEAD and (block := next(waiting, None)) is not None:
        head += bytes(block)
    return head, chain([head], waiting)


class _Counter:
    """The handlers of the parse: the open label paths, and how often each name occurred in them."""

    def __init__(self, found: Profile) -> None:
        self.found = found
        self.parser: expat.XMLParserType
        self.open: list[tuple[LabelPath, int, dict[str, int]]] = [((), 0, {})]

    def start(self, name: str, attributes: object) -> None:
        parent, _, counts = self.open[-1]
        namespace, _, local = name.rpartition(_SEPARATOR)
        path = (*parent, (namespace, local))
        figures = self.found.paths.setdefault(path, PathFigures())
        figures.count += 1
        counts[name] = counts.get(name, 0) + 1
        if counts[name] > 1:
            figures.repeats = True
        self.open.append((path, self.parser.CurrentByteIndex, {}))

    def end(self, name: str) -> None:
        path, start, _ = self.open.pop()
        self.found.paths[path].bytes += self.parser.CurrentByteIndex - start
