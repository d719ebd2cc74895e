"""Reads subscription files: lines, TSV or JSONL, each also compressed with gzip.

    lines    //p[person='Ada']                                      the id is the line number, as text
    tsv      ada<TAB>//p[x:person='Ada']<TAB>x=urn:people           the third column is optional
    jsonl    {"id": "ada", "xpath": "//x:p", "namespaces": {"x": "urn:people"}}

A line may also name the subscriber and what to deliver, "document" or "part": in the fourth and fifth column
of TSV, under the keys "subscriber" and "deliver" in JSONL.  Blank lines are skipped; in lines and TSV, lines
that begin with ``#`` are skipped, too.  A malformed line is reported with its number, and the other lines are
read; an exception is raised only if the file cannot be read.
"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

from twigcast.errors import SourceError, SubscriptionError
from twigcast.pattern import CONTENTS, Content, Subscription, printed_id, shortened
from twigcast.subscriptions.names import check_line

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


def read_subscriptions(
    path: Path,
    format: Format | None = None,
    *,
    namespaces: Mapping[str, str] | None = None,
    subscriber: str = "",
    deliver: Content = "document",
) -> Iterator[Numbered]:
    """Yield the subscriptions of a file in order; a malformed line is yielded as an error.

    ``namespaces``, ``subscriber`` and ``deliver`` are the defaults for lines without these fields.
    An id or subscriber that a line cannot have is an error, and so is an id that an earlier line has, also if
    one is a number and the other its text.
    Expressions are not parsed here: ``Subscription.pattern`` does that, once.
    """
    defaults = _Defaults(dict(namespaces or {}), subscriber, deliver)
    numbered = _content_lines(path)
    format = format or format_of(path)
    if format is None:
        head = _head(numbered)
        format = _sniffed(head[-1][1]) if head else Format.lines
        numbered = chain(head, numbered)
    seen: dict[str, int] = {}
    for number, raw in numbered:
        try:
            subscription = _read_line(format, number, raw, defaults)
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

    def subscription(
        self,
        id: str | int,
        xpath: str,
        namespaces: Mapping[str, str] | None = None,
        subscriber: str | None = None,
        deliver: Content | None = None,
    ) -> Subscription:
        bound = {**self.namespaces, **namespaces} if namespaces else self.namespaces
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


def _read_line(format: Format, number: int, raw: bytes, defaults: _Defaults) -> Subscription | None:
    if len(raw) > LONGEST:
        raise ValueError(f"the line is longer than {LONGEST:,} bytes")
    text = raw.decode("utf-8")
    if format is Format.jsonl:
        return _read_object(text, defaults)
    if text.lstrip().startswith("#"):
        return None
    if format is Format.tsv:
        return _read_columns(text, defaults)
    return defaults.subscription(str(number), text.strip())


def _read_columns(text: str, defaults: _Defaults) -> Subscription | None:
    id, *columns = (column.strip() for column in text.split("\t"))
    if [id.lower(), *(column.lower() for column in columns[:1])] == ["id", "xpath"]:
        return None  # a header
    if not id or not columns or not columns[0] or len(columns) > 4:
        raise ValueError(
            "expected 2 to 5 columns separated by tabs: id, XPath, prefix=uri pairs, subscriber, "
            "and what to deliver"
        )
    columns += [""] * (4 - len(columns))
    return defaults.subscription(
        id, columns[0], _bindings(columns[1]), columns[2] or None, _content(columns[3] or None)
    )


def _content(value: object) -> Content | None:
    if value is None:
        return None
    for content in CONTENTS:
        if value == content:
            return content
    raise ValueError(f"expected {' or '.join(CONTENTS)} for what to deliver, got {value!r}")


def _bindings(text: str) -> Mapping[str, str] | None:
    bound = {}
    for pair in text.split():
        prefix, equals, uri = pair.partition("=")
        if not equals or not uri:
            raise ValueError(f"expected prefix=uri in the third column, got {pair!r}")
        bound[prefix] = uri
    return bound or None


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
                stripped = raw.strip(b"\r\n")
                if stripped.strip():
                    yield number, stripped
    except FileNotFoundError:
        raise SourceError("there is no such file", code="not-found", path=str(path)) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(f"cannot be read: {reason}", code="unreadable", path=str(path)) from None


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
        return sys.stdin.buffer
    if path.name.lower().endswith(".gz"):
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb")
