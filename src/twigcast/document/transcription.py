"""Documents in encodings of several bytes per character, as UTF-8 and back to their own offsets.

    bytes of the document   <a>\\xd6\\xd0</a>        GB2312: each Chinese character has two bytes
    transcription           <a>\\xe4\\xb8\\xad</a>    UTF-8: three

Expat parses the transcription.  What it reports is located in the document: ranges, parts and errors are
those of the publisher's bytes.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable

_NOT_UTF8 = b"\xff"
_BEGINNING = b"\xe4"  # of a character


def transcribe(body: bytes, codec: str) -> bytes:
    """The document in UTF-8 up to where its bytes are no characters, and there a byte that expat refuses."""
    try:
        return body.decode(codec).encode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        is_cut = "incomplete" in error.reason and error.end == len(body)
        good = body[: error.start].decode(codec).encode("utf-8", "surrogatepass")
        return good + (_BEGINNING if is_cut else _NOT_UTF8)


class Transcriber:
    """Transcribes a document that comes in pieces; with no codec, the pieces stay as they are.

    A parser of them is made for ``encoding``, whatever the document declares.
    """

    def __init__(self, codec: str | None) -> None:
        self.encoding = None if codec is None else "utf-8"
        self._codec = codec
        self._decoder = codecs.getincrementaldecoder(codec)() if codec else None

    def utf8(self, data: bytes, *, final: bool = False) -> bytes:
        """The next piece in UTF-8, as ``transcribe`` does it."""
        if self._decoder is None:
            return data
        try:
            return self._decoder.decode(data, final).encode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            return transcribe(error.object, self._codec or "")


class Locator:
    """Finds offsets of a transcription in the document; they must be asked for in rising order."""

    def __init__(self, body: bytes, codec: str, transcription: bytes) -> None:
        self._body = body
        self._codec = codec
        self._transcription = transcription
        self._at = 0  # the last offset in the transcription
        self._located = 0  # the same offset in the document

    def locate(self, offset: int) -> int:
        """The offset in the document."""
        if offset == self._at:
            return self._located
        text = self._transcription[self._at : offset].decode("utf-8", "surrogatepass")
        try:
            written = text.encode(self._codec)
        except UnicodeEncodeError:
            written = b""
        if written and self._body.startswith(written, self._located):
            self._located += len(written)
        else:  # the publisher wrote some of these characters in another way
            self._located += _bytes_of(len(text), self._body, self._located, self._codec)
        self._at = offset
        return self._located


def located(body: bytes, codec: str, transcription: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """The offsets in the document, by offsets in its transcription."""
    locator = Locator(body, codec, transcription)
    return {offset: locator.locate(offset) for offset in sorted(set(offsets))}


def _bytes_of(characters: int, body: bytes, start: int, codec: str) -> int:
    """How many bytes from ``start`` on the next characters take, one byte after the other."""
    decoder = codecs.getincrementaldecoder(codec)()
    decoded = 0
    for at in range(start, len(body)):
        if decoded >= characters:
            return at - start
        decoded += len(decoder.decode(body[at : at + 1]))
    return len(body) - start
