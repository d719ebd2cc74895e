"""What headers say: the four kinds, the manifest of all headers, and the dictionary of label paths.

| kind | for each run |
|---|---|
| ``edge`` | the id of the parent, the hole, the namespaces in scope |
| ``prefix`` | also names and ids of the path from the root to the parent; names and counts of the roots |
| ``prefix+level`` | also the height of the roots of each name, within the fragment |
| ``prefix+paths`` | also the label paths of all elements of the fragment |

The thesis writes one prefix for each subtree; here runs have one, and ``Header.rows`` is the thesis's table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from twigcast.document import PrologReader
from twigcast.errors import FragmentError
from twigcast.fragmenting.fragments import (
    HEADER_KINDS,
    Fragment,
    Header,
    HeaderKind,
    LabelPaths,
    OpenElement,
    Opening,
    PathEntry,
    namespaces_in_scope,
)


def reduced_header(header: Header, kind: HeaderKind) -> Header:
    """A header that says less."""
    if HEADER_KINDS.index(kind) > HEADER_KINDS.index(header.kind):
        message = f"a header of the kind {header.kind} cannot become {kind}: cut the document again"
        raise FragmentError(message, code="fragment-header", doc_id=header.doc_id, number=header.number)
    runs = header.runs
    if kind == "edge" and header.kind != "edge":
        runs = tuple(
            replace(run, context=None, roots=(), inherited=tuple(sorted(run.namespaces.items())))
            for run in runs
        )
    if kind == "prefix":
        runs = tuple(
            replace(run, roots=tuple(replace(root, height=None) for root in run.roots)) for run in runs
        )
    paths = header.paths if kind == "prefix+paths" else None
    return replace(header, kind=kind, runs=runs, paths=paths)


def opening_of(fragment: Fragment) -> Opening:
    """The opening of a document with its text, from the fragment that begins it."""
    if not fragment.starts_document:
        message = f"fragment {fragment.number} does not begin the document"
        raise FragmentError(message, code="fragment-header", doc_id=fragment.doc_id, number=fragment.number)
    codec = fragment.opening.codec
    is_transcribed = fragment.opening.is_transcribed
    body = fragment.body
    if is_transcribed:
        body = body.decode(codec, "replace").encode("utf-8", "replace")
    reader = PrologReader(transcribed=codec if is_transcribed else None)
    reader.feed(body, final=True)
    made = (
        Opening.transcribed(reader.text, codec) if is_transcribed else Opening.of(reader.text, reader.codec)
    )
    if (made.digest, made.codec) != (fragment.opening.digest, codec):
        message = "the opening in the header is not that of the body"
        raise FragmentError(
            message, code="fragment-inconsistent", doc_id=fragment.doc_id, number=fragment.number
        )
    return made


@dataclass(frozen=True, slots=True)
class Manifest:
    """The headers of all fragments of a document, by which a receiver knows what is still to come."""

    headers: tuple[Header, ...]

    def __post_init__(self) -> None:
        if [header.number for header in self.headers] != list(range(1, len(self.headers) + 1)):
            raise ValueError("a manifest has the headers 1, 2, … of one document")
        if not self.headers or not self.headers[-1].is_last:
            raise ValueError("a manifest ends with the header of the last fragment")
        if any(header.is_last for header in self.headers[:-1]) or len({h.doc_id for h in self.headers}) > 1:
            raise ValueError("a manifest has the headers of one document")

    @classmethod
    def of(cls, fragments: Iterable[Fragment]) -> Manifest:
        """The manifest of all fragments of a document; raises ``ValueError`` if some are missing."""
        return cls(tuple(sorted({each.number: each.header for each in fragments}.values(), key=_number)))

    @property
    def doc_id(self) -> str:
        """The document."""
        return self.headers[0].doc_id

    @property
    def size(self) -> int:
        """The bytes of the document."""
        return sum(header.size for header in self.headers)

    @property
    def elements(self) -> int:
        """The elements of the document."""
        return sum(header.elements for header in self.headers)


def _number(header: Header) -> int:
    return header.number


class PathDictionary:
    """The label paths of a document, as far as the fragments that have come add them.

    A number that no fragment has added yet is unknown; whoever asks must then expect any path.
    """

    def __init__(self) -> None:
        self._entries: dict[int, PathEntry] = {}
        self._depths = {0: 0}
        self._bound: dict[int, dict[str, str]] = {0: {}}  # namespaces in scope

    def add(self, paths: LabelPaths) -> None:
        """Add the entries of a fragment; raises ``FragmentError`` if another one has said otherwise."""
        for entry in paths.entries:
            if self._entries.setdefault(entry.number, entry) != entry:
                message = f"two fragments have different label paths of the number {entry.number}"
                raise FragmentError(message, code="fragment-inconsistent")

    def unknown(self, number: int) -> int | None:
        """The number of a path, or of the one that it continues, that is lacking; ``None`` if none is."""
        climbed = []
        while number not in self._depths:
            entry = self._entries.get(number)
            if entry is None:
                return number
            climbed.append(number)
            number = entry.parent
        depth = self._depths[number]
        self._depths.update((each, depth + k) for k, each in enumerate(reversed(climbed), 1))
        return None

    def depth(self, number: int) -> int | None:
        """The number of names of a path; ``None`` if it is unknown."""
        return None if self.unknown(number) is not None else self._depths[number]

    def names(self, number: int) -> tuple[str, ...] | None:
        """The names of a path as written, from the root on; ``None`` if it is unknown."""
        entries = self._path(number)
        return None if entries is None else tuple(entry.name for entry in entries)

    def expanded(self, number: int) -> tuple[tuple[str, str], ...] | None:
        """The namespaces and local names of a path, from the root on; ``None`` if it is unknown."""
        entries = self._path(number)
        return None if entries is None else tuple(self.step(entry.number) for entry in entries)

    def parent(self, number: int) -> int:
        """The number of a path that was added without its last step; 0 if it has one step."""
        return self._entries[number].parent

    def step(self, number: int) -> tuple[str, str]:
        """The namespace and the local name of the last step of a path that is known.

        That of the path without it must have been asked for before.
        """
        entry = self._entries[number]
        bound = self._bound.get(number)
        if bound is None:
            bound = self._bound[entry.parent]
            if entry.declarations:
                bound = {prefix: uri for prefix, uri in (bound | dict(entry.declarations)).items() if uri}
            self._bound[number] = bound
        prefix, colon, local = entry.name.partition(":")
        return (bound.get(prefix, ""), local) if colon else (bound.get("", ""), entry.name)

    def _path(self, number: int) -> list[PathEntry] | None:
        path = []
        while number:
            entry = self._entries.get(number)
            if entry is None:
                return None
            path.append(entry)
            number = entry.parent
        return path[::-1]


def expanded_names(path: Iterable[OpenElement]) -> tuple[tuple[str, str], ...]:
    """The namespace and the local name of each element on a path from the root; no namespace is empty."""
    made = []
    above: list[OpenElement] = []
    bound: dict[str, str] = {}
    for element in path:
        above.append(element)
        if element.declarations:
            bound = namespaces_in_scope(above)
        prefix, colon, local = element.name.partition(":")
        made.append((bound.get(prefix, ""), local) if colon else (bound.get("", ""), element.name))
    return tuple(made)
