"""Matches one large document on several cores, in memory that does not depend on its size.

    file ──read, cut──► spans ──► thread: evaluate ──► partials ──merge, in order──► match
                          └─────► thread: evaluate ──►

One thread reads and cuts, which takes a tenth of the time of a parse; the kernel releases the global
interpreter lock while it evaluates a span.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from twigcast.errors import DocumentError
from twigcast.filtering import Index, Match, Partial, PartialMatcher
from twigcast.fragmenting.cut_rules import Spans
from twigcast.fragmenting.cutting import Cutter
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.headers import opening_of
from twigcast.fragmenting.matching.pieces import pieces

FRAGMENT_BYTES = 1 << 20
"""The size of a span: large enough that cutting and joining cost a few percent, see docs/benchmarks.md."""

_AHEAD = 2  # spans for each core that are read ahead
_DERIVED_AFTER = 16


def match_large(
    index: Index,
    source: Path | str | Callable[[], AbstractContextManager[BinaryIO]],
    *,
    cores: int = 0,
    fragment_bytes: int = FRAGMENT_BYTES,
    progress: Callable[[int], None] | None = None,
) -> Match:
    """Match the document in a file on ``cores`` threads (0: all cores), as ``Index.match`` would.

    ``source`` is the path of the file, or a function that opens it; ``progress`` is called with the number of
    bytes of each span that is done.  A subscription that may match and can be decided only on the whole
    document lets it be read into memory; if it is larger than the limit on bytes, that subscription is
    ``undecided`` in the match, and the others are answered.
    """
    threads = cores or os.cpu_count() or 1
    matcher = index.partials()

    def opened() -> AbstractContextManager[BinaryIO]:
        return source() if callable(source) else Path(source).open("rb")

    with opened() as file, ThreadPoolExecutor(threads) as pool:
        reading = _LargeReading(matcher, pool, threads, progress)
        try:
            reading.read(file, Cutter(Spans(bytes=fragment_bytes), header="prefix", limits=index.limits))
        except DocumentError as error:
            pool.shutdown(cancel_futures=True)
            return Match((), error, ())
    if not len(matcher.candidates(reading.partial)):
        return matcher.match(reading.partial)
    if reading.bytes > index.limits.bytes:
        return matcher.match_in_parts(reading.partial)
    with opened() as file:
        return matcher.match(reading.partial, file.read(index.limits.bytes + 1))


class _LargeReading:
    """The spans of one document that are being evaluated, and what is known from those before them."""

    def __init__(
        self,
        matcher: PartialMatcher,
        pool: ThreadPoolExecutor,
        threads: int,
        progress: Callable[[int], None] | None,
    ) -> None:
        self.partial = matcher.empty()
        self._matcher = matcher
        self._pool = pool
        self._most = threads * (1 + _AHEAD)
        self._progress = progress
        self._waiting: deque[tuple[Fragment, Future[Partial]]] = deque()
        self._opening = b""
        self._line, self._column = 0, 0  # line breaks before the next span, and bytes since the last one
        self._done = 0
        self.bytes = 0
        """The bytes of the document that were read."""

    def read(self, file: BinaryIO, cutter: Cutter) -> None:
        """Evaluate a whole document; raises ``DocumentError``, the first one in the order of the document."""
        failure: DocumentError | None = None
        try:
            while block := file.read(FRAGMENT_BYTES):
                self.bytes += len(block)
                self._submit(cutter.feed(block))
            self._submit(cutter.finish())
        except DocumentError as error:  # of the tags; a span before may have another error
            failure = error
        while self._waiting:
            self._take()
        if failure is not None:
            raise failure
        self._matcher.derive(self.partial)

    def _submit(self, fragments: list[Fragment]) -> None:
        for fragment in fragments:
            if fragment.starts_document:
                self._opening = opening_of(fragment).text or b""
            contexts = [run.context or () for run in fragment.runs]
            made = pieces(fragment, self._opening, contexts)
            future = self._pool.submit(self._matcher.evaluate, fragment.number, made)
            self._waiting.append((fragment, future))
            while len(self._waiting) >= self._most:
                self._take()

    def _take(self) -> None:
        """Merge the partial of the first span that is not merged yet."""
        fragment, future = self._waiting.popleft()
        try:
            found = future.result()
        except DocumentError as error:
            raise self._in_document(error) from None
        self._matcher.merge(self.partial, found)
        self._done += 1
        if self._done % _DERIVED_AFTER == 0:
            self._matcher.derive(self.partial)
        breaks = fragment.body.count(b"\n")
        self._line += breaks
        after = len(fragment.body) - (fragment.body.rfind(b"\n") + 1)
        self._column = after if breaks else self._column + after
        if self._progress is not None:
            self._progress(len(fragment.body))

    def _in_document(self, error: DocumentError) -> DocumentError:
        """An error in a span, with its line and column in the document."""
        line, column = error.line or 1, error.column or 1
        return DocumentError(
            error.message,
            code=error.code,
            line=self._line + line,
            column=column + self._column if line == 1 else column,
            offset=error.offset,
        )
