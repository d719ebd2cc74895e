"""Splits one large file into its records, the elements of a given name, in one pass and bounded memory.

    <feed xmlns:p="…"> <meta/> <rec> … <rec> … </rec> … </rec> <rec/> </feed>
    └── outside: to expat ───┘ └── a record: its bytes ──────┘ └────┘ └─ outside

Inside a record the splitter searches only for the record's own tags and for what can hide a tag: comments,
CDATA sections and processing instructions.  In well-formed XML a ``<`` occurs nowhere else, so this search is
exact.  Everything outside of records is parsed by expat, which knows the namespaces, entities and encoding
that the records inherit.

A broken record does not affect its neighbours: a record that has not ended at the end of the file, or within
``limit`` bytes, is reported as an error up to the next start tag of a record, where splitting continues.
Records that are nested deeper than ``depth`` are only counted, and splitting does not continue at them.

What records inherit of the file is in their prologs.  Together they have at most so many times the bytes that
were fed as ``DocumentLimits.amplification`` says; the record beyond that and all after it are errors.

Cost: linear in the length of the file, whatever it contains; memory for ``limit`` bytes and their records.
"""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from twigcast.document.limits import DocumentLimits
from twigcast.document.record_outside import RecordOutside
from twigcast.errors import DocumentError

_LIMITS = DocumentLimits()
RECORD_LIMIT = 64 << 20
"""The default limit on the bytes of a record."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record: its byte range in the file, its bytes, its prolog, and its error if it is broken."""

    start: int
    end: int
    body: bytes | None
    prolog: bytes | None = None
    error: DocumentError | None = None


class RecordSplitter:
    """Splits a file that is passed to ``feed`` in pieces of any size; ``finish`` ends it.

    ``record`` is the name of the element as it is written, with its prefix.  To begin in the middle of a file
    at ``start``, pass the ``preamble`` of a splitter that has read the file up to there.
    """

    def __init__(
        self,
        record: str,
        *,
        limit: int = RECORD_LIMIT,
        depth: int = DocumentLimits().depth,
        start: int = 0,
        preamble: bytes = b"",
    ) -> None:
        self._name = record.encode()
        self._limit = limit
        self._depth = depth
        name = re.escape(self._name)
        self._token = re.compile(rb"<(?:!--|!\[CDATA\[|!DOCTYPE|\?|/?" + name + rb"(?=[ \t\r\n/>]))")
        self._tag = re.compile(rb"</?" + name + rb"(?=[ \t\r\n/>])")
        self._longest = max(len(b"<![CDATA["), len(self._name) + 3)
        self._outside = RecordOutside(self._name, depth=depth)
        self._buffer = bytearray(preamble)
        self._base = start - len(preamble)  # offset of the buffer in the file
        self._at = 0  # offset in the buffer where the search continues
        self._told = 0  # offset in the buffer up to which expat has the outside
        self._open: deque[_Open] = deque()
        self._deeper = 0  # records that are open below those in ``_open``
        self._resume = 0  # offset in the file up to which more must be fed before a search can succeed
        self._whole_resume = 0
        self._endless: set[bytes] = set()  # what ends a hiding construct and does not occur up to the end
        self._hiding: _Hiding | None = None
        self._too_large: int | None = None  # where the record began that is too large to be kept
        self._unreadable = False
        self._begun = bool(preamble)
        self._blank = not preamble  # nothing but space so far
        self._fed = 0
        self._inherited = 0  # bytes of all prologs
        self._is_exhausted = False

    def feed(self, data: bytes) -> Iterator[Record]:
        """Yield the records that end in ``data``, broken ones with their errors."""
        if not self._begun and len(self._buffer) + len(data) >= _SIGNATURE:
            self._begun = True
            if (self._buffer + data).startswith(_WIDE):
                self._unreadable = True
                yield Record(0, 0, None, None, DocumentError(_WIDE_MESSAGE, code="encoding"))
        if self._unreadable:
            return
        self._blank = self._blank and not data.removeprefix(_MARK).strip()
        self._buffer += data
        self._fed += len(data)
        if self._base + len(self._buffer) >= self._resume:
            yield from self._scan(final=False)
            self._drop()

    def finish(self) -> Iterator[Record]:
        """Yield what is left at the end of the file."""
        if self._unreadable:
            return
        if self._blank:
            yield Record(0, 0, None, None, DocumentError("the file is empty", code="empty"))
            return
        yield from self._scan(final=True)
        self._tell(len(self._buffer))
        self._outside.end()
        yield from self._outside_error()

    @property
    def settled(self) -> bool:
        """Whether another splitter could continue right after the record that was yielded last."""
        return not self._open and self._hiding is None and self._told == self._at and not self._outside.error

    def preamble(self) -> bytes:
        """Declarations and open start tags at this point, for another splitter that begins here."""
        return self._outside.preamble()

    # The search

    def _scan(self, *, final: bool) -> Iterator[Record]:
        while True:
            if self._hiding is not None:
                if self._reveal():
                    continue
                if final:
                    self._endless.add(self._hiding.end)
                if not (final and self._look_behind()):
                    break
                continue
            if self._open and self._open[-1].plain:
                self._skip_plain(self._open[-1])
            found = self._token.search(self._buffer, self._at)
            if found is None:
                self._at = max(self._at, len(self._buffer) - (0 if final else self._longest - 1))
                break
            token = found[0]
            if token in _HIDING and _HIDING[token] in self._endless:
                self._at = found.end()
            elif token in _HIDING:
                self._hiding = _Hiding(_HIDING[token], self._base + found.start())
                self._at = found.end()
            elif token == b"<!DOCTYPE":
                end = self._doctype_end(found, final)
                if end is None:
                    self._wait(found.start())
                    break
                self._at = end
            elif token.startswith(b"</"):
                end = self._end_tag(found, final)
                if end is None:
                    break
                yield from self._ended(found.start(), end)
                self._at = max(self._at, end)
            else:
                place = self._start_tag(found, final)
                if place is None:
                    self._wait(found.start())
                    break
                end, empty = place
                yield from self._began(found.start())
                self._at = max(self._at, end)
                if empty:
                    yield from self._ended(end, end)
            yield from self._outside_error()
            if self._open and self._base + self._at - self._open[0].start > self._limit:
                yield from self._recover(final=False)
        if self._open and (final or self._base + self._at - self._open[0].start > self._limit):
            yield from self._recover(final=final)
        if not self._open and (final or self._base + self._at >= self._whole_resume):
            whole = self._at if final else self._whole(self._at)
            self._whole_resume = self._base + min(2 * self._at - whole, whole + self._limit)
            self._tell(whole)
            yield from self._outside_error()

    def _wait(self, place: int) -> None:
        """Do not search again for the end of the tag at ``place`` before twice as much has been fed.

        So a tag that is fed in many pieces costs time in proportion to its length.
        """
        self._resume = self._base + place + min(2 * (len(self._buffer) - place), self._limit + 1)

    def _skip_plain(self, record: _Open) -> None:
        """Skip to the next tag of a record if nothing before it can hide a tag.

        This search and two for single bytes take half the time of the one that looks at every kind of token.
        """
        found = self._tag.search(self._buffer, self._at)
        end = found.start() if found else max(self._at, len(self._buffer) - self._longest + 1)
        for sign in (b"!", b"?"):
            if self._buffer.find(sign, self._at, end + 1) >= 0:
                record.plain = record.plain and self._buffer.find(b"<" + sign, self._at, end + 1) < 0
        if record.plain:
            self._at = end

    def _reveal(self) -> bool:
        """Skip to the end of the hiding construct; false if its end has not been fed yet."""
        assert self._hiding is not None
        sign = self._hiding.end
        place = self._buffer.find(sign, self._at)
        while place >= 0 and sign == b"]]>" and self._is_trail(place):
            place = self._buffer.find(sign, place + 1)
        if place < 0 or (sign == b"--" and place + 2 == len(self._buffer)):
            self._at = max(self._at, place if place >= 0 else len(self._buffer) - len(sign) + 1)
            return False
        if sign == b"--" and self._buffer[place + 2 : place + 3] != b">":  # not well-formed: no comment
            if not self._look_behind():
                self._hiding, self._at = None, place + 2
            return True
        self._hiding, self._at = None, place + (3 if sign == b"--" else len(sign))
        return True

    def _is_trail(self, place: int) -> bool:
        """Whether the byte at ``place``, that of a bracket, is the last one of another character."""
        if self._outside.codec is None:
            return False
        start = place
        while start > 0 and self._buffer[start - 1] >= 0x80:
            start -= 1
        try:
            self._buffer[start:place].decode(self._outside.codec)
        except UnicodeDecodeError as error:
            return error.end == place - start
        return False

    def _look_behind(self) -> bool:
        """Go back to the start of a malformed comment to search it for tags; false if it was dropped."""
        assert self._hiding is not None
        start = self._hiding.start - self._base
        if start < 0:
            return False
        self._hiding, self._at = None, start + 2
        return True

    def _start_tag(self, found: re.Match[bytes], final: bool) -> tuple[int, bool] | None:
        """The end of a start tag, and whether the element is empty; ``None`` if it has not been fed yet."""
        tag = _TAG_END.match(self._buffer, found.end())
        if tag is not None:
            return tag.end(), self._buffer[tag.end() - 2 : tag.end() - 1] == b"/"
        place = self._buffer.find(b"<", found.end())  # a tag cannot contain it: broken, and over here
        if place >= 0 or final or self._exceeds(found.start()):
            return (place if place >= 0 else len(self._buffer)), False
        return None

    def _end_tag(self, found: re.Match[bytes], final: bool) -> int | None:
        tag = _SPACE_END.match(self._buffer, found.end())
        if tag is not None:
            return tag.end()
        rest = self._buffer[found.end() : found.end() + 4096].strip(b" \t\r\n")
        return found.end() if rest or final or self._exceeds(found.start()) else None

    def _doctype_end(self, found: re.Match[bytes], final: bool) -> int | None:
        if self._open or self._outside.doctype is not None:
            return found.end()
        doctype = _DOCTYPE.match(self._buffer, found.end())
        if doctype is None:
            return found.end() if final or self._exceeds(found.start()) else None
        self._outside.doctype = bytes(self._buffer[found.start() : doctype.end()])
        return doctype.end()

    def _exceeds(self, place: int) -> bool:
        return len(self._buffer) - place > self._limit

    # Records

    def _began(self, place: int) -> Iterator[Record]:
        if self._too_large is not None:
            yield self._too_large_record(self._base + place)
            self._told = place
        if not self._open:
            self._tell(place)
            yield from self._outside_error()
        if self._deeper or len(self._open) >= self._depth:
            self._deeper += 1
        else:
            self._open.append(_Open(self._base + place))

    def _ended(self, place: int, end: int) -> Iterator[Record]:
        if self._deeper:
            self._deeper -= 1
        elif self._open:
            record = self._open.pop()
            if self._open:
                self._open[-1].ended.extend((record.start, self._base + end))
            elif self._base + end - record.start > self._limit:
                self._pass(end)
                yield self._too_large_record(self._base + end, record.start)
            else:
                self._pass(end)
                yield self._record(record.start, self._base + end)
        elif self._too_large is not None:
            self._pass(end)
            yield self._too_large_record(self._base + end)
        else:
            self._tell(place)
            self._told = self._at = end
            message = "an end tag of a record, and no record has begun"
            error = DocumentError(message, code="malformed")
            yield Record(self._base + place, self._base + end, bytes(self._buffer[place:end]), None, error)

    def _pass(self, end: int) -> None:
        self._told = self._at = end
        self._outside.pass_record()

    def _recover(self, *, final: bool) -> Iterator[Record]:
        """Report the outermost records as broken until none is too large; at the end, until none is open."""
        while self._open and (final or self._base + self._at - self._open[0].start > self._limit):
            broken = self._open.popleft()
            following = broken.ended[0] if broken.ended else self._open[0].start if self._open else None
            if following is None and not final:  # no later record begins in it: too large to be kept
                self._too_large = broken.start
                self._told = self._at
                self._deeper = 0
                return
            end = self._base + len(self._buffer) if following is None else following
            message = "the record does not end"
            if following is not None:
                message = "the next record begins before the record ends"
            body = self._slice(broken.start, end)
            error = DocumentError(message, code="truncated", line=body.count(b"\n") + 1, offset=len(body))
            yield replace(self._record(broken.start, end), error=error)
            for start, ending in zip(broken.ended[::2], broken.ended[1::2], strict=True):
                self._outside.tell(self._slice(end, start))
                self._outside.pass_record()
                yield self._record(start, ending)
                end = ending
            self._told = end - self._base

    def _record(self, start: int, end: int) -> Record:
        body = self._slice(start, end)
        prolog = None
        if not self._is_exhausted:
            prolog = self._outside.prolog(body)
            self._inherited += len(prolog or b"")
        most = max(_LIMITS.amplification_threshold, _LIMITS.amplification * self._fed)
        if self._is_exhausted or self._inherited > most:
            message = (
                f"the declarations that the records of the file need have more than {_LIMITS.amplification:g}"
                " times its size (limit amplification)"
            )
            self._is_exhausted = True  # what is left costs nothing
            return Record(start, end, None, None, DocumentError(message, code="entity-expansion"))
        return Record(start, end, body, prolog)

    def _too_large_record(self, end: int, start: int | None = None) -> Record:
        start = self._too_large if start is None else start
        assert start is not None
        self._too_large = None
        message = f"the record has more than {self._limit} bytes (limits.bytes)"
        return Record(start, end, None, None, DocumentError(message, code="too-large", offset=self._limit))

    def _slice(self, start: int, end: int) -> bytes:
        return bytes(self._buffer[start - self._base : end - self._base])

    # The outside

    def _tell(self, place: int) -> None:
        if place > self._told:
            if self._too_large is None:
                self._outside.tell(bytes(self._buffer[self._told : place]))
            self._told = place

    def _whole(self, place: int) -> int:
        """The last offset before ``place`` at which no markup of the outside is cut in two.

        Newer versions of expat defer partial markup, and would report it too late.
        """
        start = self._told
        if self._hiding is not None:
            start = max(start, self._hiding.start - self._base)
        else:
            for end in _HIDING.values():
                start = max(start, self._buffer.rfind(end, start, place))
            start = self._buffer.rfind(b"<", start, place)
            if start < 0 or _TAG_END.match(self._buffer, start + 1, place):
                return place
        if place - start <= self._limit:
            return start
        message = f"markup of more than {self._limit} bytes (limits.bytes)"
        self._outside.fail(DocumentError(message, code="too-large"))
        return place

    def _outside_error(self) -> Iterator[Record]:
        error = self._outside.take_error()
        if error is not None:
            yield self._fault(error)

    def _fault(self, error: DocumentError) -> Record:
        place = self._base + self._told
        message = f"outside of records, before byte {place}: {error.message}"
        return Record(place, place, None, None, DocumentError(message, code=error.code, offset=place))

    def _drop(self) -> None:
        """Drop the part of the buffer that is no longer needed."""
        keep = self._open[0].start - self._base if self._open else min(self._at, self._told)
        if self._hiding is not None and not self._open:
            start = self._hiding.start - self._base
            if start >= 0 and len(self._buffer) - start <= self._limit:
                keep = min(keep, start)
        if keep > 0:
            del self._buffer[:keep]
            self._base += keep
            self._at -= keep
            self._told = max(self._told - keep, 0)


@dataclass(slots=True)
class _Open:
    """A record that has begun, and the nested records in it that have ended."""

    start: int
    ended: array[int] = field(default_factory=lambda: array("q"))  # start and end, in turn
    plain: bool = True  # nothing was seen in it that may hide tags


@dataclass(frozen=True, slots=True)
class _Hiding:
    """A comment, CDATA section or processing instruction: where it began, and the text that ends it."""

    end: bytes
    start: int


_HIDING = {b"<!--": b"--", b"<![CDATA[": b"]]>", b"<?": b"?>"}

# Sets have possessive quantifiers, groups have not: Python 3.11.2 matches possessive groups wrongly.
_SPACE = rb"[ \t\r\n]"
_QUOTED = rb"""(?:"[^"<]*+"|'[^'<]*+')"""
_TAG_END = re.compile(rb"""[^"'<>]*+(?:%s[^"'<>]*+)*>""" % _QUOTED)
_SPACE_END = re.compile(_SPACE + rb"*+>")
_DECLARED = (
    rb"""(?:"[^"]*+"|'[^']*+'|<!--[^-]*+(?:-(?!-)[^-]*+)*-->|<\?[^?]*+(?:\?(?!>)[^?]*+)*\?>"""
    rb"""|<(?![?]|!--)|[^]"'<]++)*"""
)
_DOCTYPE = re.compile(
    rb"""[^["'>]*+(?:(?:"[^"]*+"|'[^']*+')[^["'>]*+)*(?:\[(""" + _DECLARED + rb""")\][ \t\r\n]*+)?>"""
)
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<", b"\x00\x00")
_SIGNATURE = 2
_WIDE_MESSAGE = (
    "the file is in UTF-16 or UTF-32, and records can be cut only out of an encoding that contains ASCII:"
    " make it UTF-8"
)
_MARK = b"\xef\xbb\xbf"
