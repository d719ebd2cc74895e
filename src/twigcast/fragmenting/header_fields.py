"""Headers as the fields of a JSON object, and back with every field checked."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

from twigcast.document import codec_name
from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    HEADER_KINDS,
    LONGEST_ID,
    MAXIMUM_NUMBER,
    MOST_FRAGMENTS,
    Header,
    HeaderKind,
    Hole,
    LabelPaths,
    OpenElement,
    Opening,
    PathEntry,
    Run,
    SubtreeRoots,
    fragment_number,
    node_id,
    number_in_fragment,
)

T = TypeVar("T")
U = TypeVar("U")


class BadField(ValueError):
    """A field that is missing, of another type, out of range, or contradicts another one; its name."""


def header_fields(header: Header) -> dict[str, Any]:
    """The fields of a header; what is empty or follows from other fields is left out."""
    fields: dict[str, Any] = {
        "doc": header.doc_id,
        "number": header.number,
        "kind": header.kind,
        "size": header.size,
        "elements": header.elements,
    }
    if header.is_last:
        fields["last"] = True
    if header.prolog:
        fields["prolog"] = header.prolog
    opening = header.opening
    if opening != _NO_OPENING:
        fields["opening"] = {"codec": opening.codec, "digest": opening.digest}
        if opening.text is not None:
            fields["opening"]["text"] = opening.text.decode("latin-1")
    before: tuple[OpenElement, ...] = ()
    fields["runs"] = []
    for run in header.runs:
        fields["runs"].append(_run_fields(run, before))
        before = run.context or ()
    if header.holes:
        fields["holes"] = [[hole.offset, hole.place] for hole in header.holes]
    if header.paths is not None:
        fields["paths"] = _bitmap(header.paths.numbers)
        fields["entries"] = [
            [entry.number, entry.parent, entry.name, *_declared(entry.declarations)]
            for entry in header.paths.entries
        ]
    return fields


_NO_OPENING = Opening.of(b"")


def _run_fields(run: Run, before: tuple[OpenElement, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {"end": run.end, "place": run.place}
    if run.fills is not None:
        fields["fills"] = _id(run.fills)
    if run.context is None:
        fields |= {"parent": _id(run.parent), "depth": run.depth}
        if run.inherited:
            fields["inherited"] = [list(pair) for pair in run.inherited]
    elif run.context:
        same = common_elements(before, run.context)
        fields["context"] = [same, *map(_element, run.context[same:])]
    if run.roots:
        fields["roots"] = [
            [root.name, root.depth, root.count] + ([] if root.height is None else [root.height])
            for root in run.roots
        ]
    if run.closes:
        fields["closes"] = run.closes
    if run.opens:
        fields["opens"] = [_element(element) for element in run.opens]
    if run.first:
        fields["first"] = run.first
    return fields


def common_elements(path: tuple[OpenElement, ...], other: tuple[OpenElement, ...]) -> int:
    """How many elements two paths have in common, from the root on."""
    if path is other:
        return len(path)
    same = 0
    for one, two in zip(path, other, strict=False):
        if one is not two and one != two:
            break
        same += 1
    return same


def _element(element: OpenElement) -> list[Any]:
    return [_id(element.id), element.name, *_declared(element.declarations)]


def _declared(declarations: tuple[tuple[str, str], ...]) -> list[list[list[str]]]:
    return [[list(pair) for pair in declarations]] if declarations else []


def _id(id: int) -> str:
    return f"{fragment_number(id)}.{number_in_fragment(id)}"


def _bitmap(numbers: frozenset[int]) -> str:
    bits = bytearray(max(numbers, default=0) // 8 + 1)
    for number in numbers:
        bits[number >> 3] |= 1 << (number & 7)
    return bits[::-1].hex().lstrip("0") or "0"


# Reading

_MOST_BYTES = 1 << 60
_MOST_DEPTH = 1 << 20
_MOST_PATHS = 1 << 22
_MOST_AROUND = 1 << 20
"""The elements around the runs of a header, counted for each run: a run at each of 1,400 levels has fewer."""

MOST_AROUND_ALL = 1 << 24
"""The same for all headers of a manifest."""


def read_header(fields: dict[str, Any]) -> Header:
    """The header with these fields; raises ``BadField``."""
    known = _Fields(fields)
    kind: HeaderKind = known.take("kind", _kind)
    number = known.take("number", _whole(1, MOST_FRAGMENTS))
    size = known.take("size", _whole(1, _MOST_BYTES))
    elements = known.take("elements", _whole(0, MAXIMUM_NUMBER))
    prolog = known.get("prolog", _whole(0, size), 0)
    places = known.get("holes", _list(_hole), ())
    holes = tuple(Hole(node_id(number, k), offset, place) for k, (offset, place) in enumerate(places, 1))
    runs = _runs(known.take("runs", _list(_object)), kind, number)
    paths = None
    if kind == "prefix+paths":
        paths = LabelPaths(known.take("paths", _numbers), tuple(known.take("entries", _list(_entry))))
    header = Header(
        known.take("doc", _doc_id),
        number,
        size,
        runs,
        holes,
        known.get("opening", _opening, _NO_OPENING),
        elements,
        known.get("last", _true, False),
        kind,
        paths,
        prolog,
    )
    known.end()
    _check(header)
    return header


def _runs(listed: list[dict[str, Any]], kind: HeaderKind, number: int) -> tuple[Run, ...]:
    runs: list[Run] = []
    start = 0
    before: tuple[OpenElement, ...] = ()
    around = 0
    for fields in listed:
        known = _Fields(fields)
        end = known.take("end", _whole(start, _MOST_BYTES))
        place = known.take("place", _whole(0, _MOST_BYTES))
        fills = known.get("fills", _read_id, None)
        context: tuple[OpenElement, ...] | None = None
        inherited: tuple[tuple[str, str], ...] = ()
        if kind == "edge":
            parent = known.take("parent", _read_id)
            depth = known.take("depth", _whole(0, _MOST_DEPTH))
            inherited = tuple(known.get("inherited", _list(_pair), ()))
            roots: tuple[SubtreeRoots, ...] = ()
        else:
            same, more = known.get("context", _context, (0, ()))
            if same > len(before):
                raise BadField("context")
            around += same + len(more)
            if around > _MOST_AROUND:
                raise BadField(
                    f"context (more than {_MOST_AROUND:,} elements around the runs: cut into spans)"
                )
            context = before if same == len(before) and not more else (*before[:same], *more)
            parent, depth = (context[-1].id if context else DOCUMENT_NODE), len(context)
            roots = tuple(known.get("roots", _list(_roots(kind, depth)), ()))
            before = context
        closes = known.get("closes", _whole(0, depth), 0)
        opens = tuple(known.get("opens", _list(_open_element), ()))
        if any(fragment_number(element.id) != number for element in opens):
            raise BadField("opens")
        first = known.get("first", _whole(0, MAXIMUM_NUMBER), 0)
        known.end()
        runs.append(
            Run(start, end, place, fills, parent, depth, context, inherited, roots, closes, opens, first)
        )
        start = end
    return tuple(runs)


def _check(header: Header) -> None:
    """Refuse a header whose fields contradict each other."""
    runs = header.runs
    if not runs or runs[-1].end != header.size or any(run.end <= run.start for run in runs):
        raise BadField("runs")
    if any(after.first < before.first for before, after in pairwise(runs)):
        raise BadField("first")
    offsets = [hole.offset for hole in header.holes]
    if offsets != sorted(offsets) or (offsets and (offsets[0] < 1 or offsets[-1] > header.size)):
        raise BadField("holes")
    if any(run.fills is None and (run.depth or run.start) for run in runs):
        raise BadField("fills")
    if header.prolog and not header.starts_document:
        raise BadField("prolog")
    if len(runs) > 1 and header.is_span:
        raise BadField("closes")
    is_open = header.end_hole is not None
    if any(run.opens for run in runs) and not is_open:
        raise BadField("opens")


class _Fields:
    """The fields of one object, each of which is taken once."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = dict(fields)

    def take(self, name: str, read: Callable[[Any], T]) -> T:
        if name not in self._fields:
            raise BadField(name)
        try:
            return read(self._fields.pop(name))
        except BadField:
            raise
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError):
            raise BadField(name) from None

    def get(self, name: str, read: Callable[[Any], T], default: U) -> T | U:
        """The field, or the default if it is not there."""
        return self.take(name, read) if name in self._fields else default

    def end(self) -> None:
        """Refuse fields that nobody took: they would be lost when the header is written again."""
        if self._fields:
            raise BadField(next(iter(self._fields)))


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise ValueError
        return value

    return read


_NUMBER = _whole(1, MAXIMUM_NUMBER)
_OFFSET = _whole(0, _MOST_BYTES)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    value.encode()  # no lone surrogates
    return value


def _doc_id(value: Any) -> str:
    if len(_text(value)) > LONGEST_ID:
        raise BadField(f"doc (ids of documents have at most {LONGEST_ID:,} characters)")
    return str(value)


def _name(value: Any) -> str:
    if not _text(value) or any(sign in value for sign in " \t\r\n<>/&\"'=\0"):
        raise ValueError
    return str(value)


def _true(value: Any) -> bool:
    if value is not True:
        raise TypeError
    return True


def _kind(value: Any) -> HeaderKind:
    return HEADER_KINDS[HEADER_KINDS.index(value)]


def _object(value: Any) -> dict[str, Any]:
    if type(value) is not dict:
        raise TypeError
    return value


def _list(read: Callable[[Any], T]) -> Callable[[Any], list[T]]:
    def read_all(value: Any) -> list[T]:
        if type(value) is not list:
            raise TypeError
        return [read(each) for each in value]

    return read_all


def _read_id(value: Any) -> int:
    fragment, _, number = _text(value).partition(".")
    made = node_id(_whole(0, MAXIMUM_NUMBER)(int(fragment)), _whole(0, MAXIMUM_NUMBER)(int(number)))
    if _id(made) != value:
        raise ValueError
    return made


def _pair(value: Any) -> tuple[str, str]:
    prefix, uri = _list(_text)(value)
    return prefix, uri


def _declarations(values: list[Any]) -> tuple[tuple[str, str], ...]:
    if not values:
        return ()
    (pairs,) = values
    read = tuple(_list(_pair)(pairs))
    if not read:
        raise ValueError
    return read


def _open_element(value: Any) -> OpenElement:
    id, name, *declared = value
    return OpenElement(_read_id(id), _name(name), _declarations(declared))


def _context(value: Any) -> tuple[int, tuple[OpenElement, ...]]:
    same, *elements = value
    return _whole(0, _MOST_DEPTH)(same), tuple(map(_open_element, elements))


def _roots(kind: HeaderKind, depth: int) -> Callable[[Any], SubtreeRoots]:
    def read(value: Any) -> SubtreeRoots:
        name, at, count, *height = value
        if len(height) != (kind != "prefix"):
            raise ValueError
        heights = [_whole(0, _MOST_DEPTH)(each) for each in height]
        return SubtreeRoots(_name(name), _whole(0, depth)(at), _NUMBER(count), *heights)

    return read


def _hole(value: Any) -> tuple[int, int]:
    offset, place = value
    return _OFFSET(offset), _OFFSET(place)


def _opening(value: Any) -> Opening:
    known = _Fields(_object(value))
    codec, digest = known.take("codec", _text), known.take("digest", _text)
    text = known.get("text", _text, None)
    known.end()
    if codec_name(codec) != codec:
        raise ValueError
    if text is None:
        if len(digest) != 32 or digest.strip("0123456789abcdef"):
            raise ValueError
        return Opening(None, digest, codec)
    made = Opening.of(text.encode("latin-1"), codec)
    if made.digest != digest or made.inlined() != made:
        raise ValueError
    return made


def _numbers(value: Any) -> frozenset[int]:
    text = _text(value)
    if len(text) > _MOST_PATHS // 4 or text.strip("0123456789abcdef"):
        raise ValueError
    if not text or (text[0] == "0" and text != "0"):
        raise ValueError
    bits = bytes.fromhex(text.rjust(len(text) + len(text) % 2, "0"))[::-1]
    numbers = frozenset(at << 3 | bit for at, byte in enumerate(bits) if byte for bit in _BITS[byte])
    if 0 in numbers:
        raise ValueError
    return numbers


_BITS = [tuple(bit for bit in range(8) if byte >> bit & 1) for byte in range(256)]


def _entry(value: Any) -> PathEntry:
    number, parent, name, *declared = value
    read = PathEntry(
        _whole(1, _MOST_PATHS)(number), _whole(0, number)(parent), _name(name), _declarations(declared)
    )
    if read.parent >= read.number:
        raise ValueError
    return read
