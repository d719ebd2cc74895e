"""Reads subscription files: lines, TSV or JSONL, each also compressed with gzip.

    lines    //p[person='Ada']                                      the id is the line number, as text
    tsv      ada<TAB>//p[x:person='Ada']<TAB>x=urn:people           the bindings are optional
    jsonl    {"id": "ada", "xpath": "//x:p", "namespaces": {"x": "urn:people"}}

A line may also name the subscriber and what to deliver, "document" or "part": in the fourth and fifth column
of TSV, under the keys "subscriber" and "deliver" in JSONL.  Several bindings of a line of TSV are separated
by spaces, or by tabs.  Blank lines are skipped.

In lines and TSV, ``# namespace x=urn:people`` binds a prefix for the lines that follow, and
``# namespace =urn:d`` the namespace of element names without a prefix; all other lines that begin with ``#``
are skipped.

A malformed line is reported with its number, and the other lines are read; an exception is raised only if the
file cannot be read.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from twigcast.errors import SourceError, SubscriptionError
from twigcast.pattern import CONTENTS, Content, Subscription, printed_id, shortened
from twigcast.subscriptions.bindings import looks_like_binding, read_bindings, used_bindings
from twigcast.subscriptions.names import check_line
from twigcast.system import foreign_format, standard_input

STDIN = Path("-")


class Format(StrEnum):
    """The format of a subscription file."""

    lines = "lines"
    tsv = "tsv"
    jsonl = "jsonl"


Numbered: TypeAlias = tuple[int, Subscription | SourceError | SubscriptionError]
"""A line number, counted from 1, with the subscription on that line or the error in it."""

LONGEST = 1 << 20
"""The most bytes of a line, several times as many as a subscription within the default limits needs."""


class SubscriptionReader(Iterator[Numbered]):
    """The subscriptions of a file in order; a malformed line is an error among them."""

    def __init__(self, path: Path, format: Format | None, defaults: _Defaults) -> None:
        self._defaults = defaults
        self._numbered = self._read(path, format)

    @property
    def namespaces(self) -> Mapping[str, str]:
        """The bindings for the next line: the defaults, and those of the ``# namespace`` lines so far."""
        return self._defaults.namespaces

    def __iter__(self) -> SubscriptionReader:
        return self

    def __next__(self) -> Numbered:
        return next(self._numbered)

    def _read(self, path: Path, format: Format | None) -> Iterator[Numbered]:
        numbered = _content_lines(path)
        format = format or format_of(path)
        if format is None:
            head = _head(numbered)
            format = _sniffed(head[-1][1]) if head else Format.lines
            numbered = chain(head, numbered)
        seen: dict[str, int] = {}
        for number, raw in numbered:
            try:
                subscription = self._read_line(format, number, raw)
                if subscription is not None:
                    _check(subscription, number, seen)
            except SubscriptionError as error:
                yield number, error
            except UnicodeDecodeError as error:
                message = f"not UTF-8 at byte {error.start + 1}"
                yield number, SourceError(message, code="encoding", path=str(path), line=number)
            except ValueError as error:
                yield number, SourceError(str(error), code="bad-line", path=str(path), line=number)
            else:
                if subscription is not None:
                    yield number, subscription

    def _read_line(self, format: Format, number: int, raw: bytes) -> Subscription | None:
        if len(raw) > LONGEST:
            raise ValueError(f"the line is longer than {LONGEST:,} bytes")
        text = raw.decode("utf-8")
        defaults = self._defaults
        if format is Format.jsonl:
            return _read_object(text, defaults)
        if text.lstrip().startswith("#"):
            found = _NAMESPACE_LINE.match(text)
            if found is not None:
                bound = _line_bindings(text[found.end() :])
                self._defaults = replace(defaults, namespaces={**defaults.namespaces, **bound})
            return None
        if format is Format.tsv:
            return _read_columns(text, defaults)
        return defaults.subscription(str(number), text.strip())


def read_subscriptions(
    path: Path,
    format: Format | None = None,
    *,
    namespaces: Mapping[str, str] | None = None,
    subscriber: str = "",
    deliver: Content = "document",
) -> SubscriptionReader:
    """Read the subscriptions of a file in order; a malformed line is an error among them.

    ``namespaces``, ``subscriber`` and ``deliver`` are the defaults for lines without these fields.  Of the
    bindings that hold for many lines, a subscription keeps those that it uses.
    An id or subscriber that a line cannot have is an error, and so is an id that an earlier line has, also if
    one is a number and the other its text.
    Expressions are not parsed here: ``Subscription.pattern`` does that, once.
    """
    return SubscriptionReader(path, format, _Defaults(dict(namespaces or {}), subscriber, deliver))


def _check(subscription: Subscription, number: int, seen: dict[str, int]) -> None:
    """Check the names of a subscription; ``seen`` has the line of each id so far."""
    id = printed_id(subscription.id)
    check_line(subscription if subscription.id is id else replace(subscription, id=id))
    if seen.setdefault(id, number) != number:
        message = f"the id {shortened(id)} is already used on line {seen[id]}"
        raise SubscriptionError(message, code="duplicate-id", id=subscription.id)


@dataclass(frozen=True, slots=True)
class _Defaults:
    namespaces: Mapping[str, str]
    subscriber: str
    deliver: Content
    _shared: dict[tuple[str, ...], Mapping[str, str]] = field(init=False, default_factory=dict)

    def _used(self, xpath: str) -> Mapping[str, str]:
        """The bindings that an expression uses; lines that use the same prefixes share one map."""
        used = used_bindings(xpath, self.namespaces)
        return self._shared.setdefault(tuple(used), used)

    def subscription(
        self,
        id: str | int,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        subscriber: str | None = None,
        deliver: Content | None = None,
    ) -> Subscription:
        bound = self._used(xpath) if self.namespaces else self.namespaces
        if namespaces:
            bound = {**bound, **namespaces}
        return Subscription(id, xpath, subscriber or self.subscriber, deliver or self.deliver, bound)


def format_of(path: Path) -> Format | None:
    """Return the format that the extension of a file name stands for; None if it is unknown."""
    name = path.name.lower().removesuffix(".gz")
    return {".txt": Format.lines, ".tsv": Format.tsv, ".jsonl": Format.jsonl}.get(Path(name).suffix)


def _head(numbered: Iterator[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Return the leading comments and the first line after them."""
    head = []
    for number, raw in numbered:
        head.append((number, raw))
        if not raw.lstrip().startswith(b"#"):
            break
    return head


def _sniffed(raw: bytes) -> Format:
    if raw.lstrip().startswith(b"{"):
        return Format.jsonl
    return Format.tsv if b"\t" in raw.strip() else Format.lines


_NAMESPACE_LINE = re.compile(r"\s*#\s*namespace(?=[\s:=]|$)")


def _line_bindings(text: str) -> Mapping[str, str]:
    """The bindings of a ``# namespace`` line, given what follows the word."""
    try:
        bound = read_bindings(text)
    except ValueError as error:
        raise ValueError(f"{error}, in a line such as # namespace p=urn:example") from None
    if not bound:
        raise ValueError("expected a binding such as # namespace p=urn:example")
    return bound


def _read_columns(text: str, defaults: _Defaults) -> Subscription | None:
    id, *columns = (column.strip() for column in text.split("\t"))
    if [id.lower(), *(column.lower() for column in columns[:1])] == ["id", "xpath"]:
        return None  # a header
    xpath, bindings, *rest = [*columns, "", ""]
    while rest and looks_like_binding(rest[0]):
        bindings += f" {rest.pop(0)}"
    subscriber, deliver, *more = [*rest, "", ""]
    if not id or not xpath or any(more):
        raise ValueError(
            "expected 2 to 5 columns separated by tabs: id, XPath, prefix=uri pairs, subscriber, "
            "and what to deliver"
        )
    try:
        bound = read_bindings(bindings)
    except ValueError as error:
        raise ValueError(f"{error}, in the third column") from None
    return defaults.subscription(id, xpath, bound, subscriber or None, _content(deliver or None))


def _content(value: object) -> Content | None:
    if value is None:
        return None
    for content in CONTENTS:
        if value == content:
            return content
    raise ValueError(f"expected {' or '.join(CONTENTS)} for what to deliver, got {value!r}")


def _read_object(text: str, defaults: _Defaults) -> Subscription:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("not a subscription: nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError('expected an object such as {"id": "ada", "xpath": "//p"}')
    id, xpath, namespaces = value.get("id"), value.get("xpath"), value.get("namespaces")
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise ValueError('expected "id" to be a string or a whole number')
    if not isinstance(xpath, str):
        raise ValueError('expected "xpath" to be a string')
    if namespaces is not None and not _is_prefix_map(namespaces):
        raise ValueError('expected "namespaces" to be an object that maps prefixes to URIs')
    subscriber = value.get("subscriber")
    if subscriber is not None and not (isinstance(subscriber, str) and subscriber):
        raise ValueError('expected "subscriber" to be a string of at least one character')
    return defaults.subscription(id, xpath, namespaces, subscriber, _content(value.get("deliver")))


def _is_prefix_map(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(uri, str) and uri for uri in value.values())


def _content_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers from 1; a byte order mark is dropped."""
    try:
        with _opened(path) as file:
            for number, raw in enumerate(_unmarked(_lines(file)), start=1):
                if number == 1:
                    _check_head(raw, path)
                stripped = raw.strip(b"\r\n")
                if stripped.strip():
                    yield number, stripped
    except FileNotFoundError:
        raise SourceError("there is no such file", code="not-found", path=str(path)) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"cannot be read: {reason}", code="unreadable", path=str(path)) from None


def _check_head(head: bytes, path: Path) -> None:
    """Raise ``SourceError`` if a file that begins like this has no lines of text in UTF-8."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0\0" in (head[:4:2], head[1:4:2]):
        message = "the file is in UTF-16: save it in UTF-8"
        raise SourceError(message, code="encoding", path=str(path))
    what = foreign_format(head)
    if head.startswith(_STORE_MARK):
        what = f"a subscription store: twigcast subscriptions --store {path} writes such lines"
    if what is not None:
        raise SourceError(f"expected lines of text, but this is {what}", code="encoding", path=str(path))


_STORE_MARK = b"SQLite format 3\x00"


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines; of one that is too long, only the beginning, which is one byte too long."""
    while raw := file.readline(LONGEST + 2):
        rest = raw
        while len(rest) == LONGEST + 2 and not rest.endswith(b"\n"):
            rest = file.readline(LONGEST + 2)
        yield raw


def _unmarked(file: Iterable[bytes]) -> Iterator[bytes]:
    lines = iter(file)
    for raw in lines:
        yield raw.removeprefix(b"\xef\xbb\xbf")
        break
    yield from lines


def _opened(path: Path) -> BinaryIO:
    if path == STDIN:
        return standard_input()
    if path.name.lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")
