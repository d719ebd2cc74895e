"""The values of a document in fragments: fragments, runs, holes, and the ids that connect them.

    document    <a>x<b>y</b>z<c/></a>

    fragment 2  <a>xz<c/></a>      hole at 4: another run belongs between x and z
                    ▲
    fragment 1  <b>y</b>           one run, below the element 2·1 (a), which fills that hole

A hole is an offset in the header and never a mark in the body, so no document can contain it.
A span is a fragment that is one contiguous byte range of the document, cut before start tags only:

    span 1      <a>x               opens a, and has a hole at its end
    span 2      <b>y</b>z          begins with a open (its context), and has a hole at its end
    span 3      <c/></a>           begins with a open and closes it

The hole at the end of a span lies in all elements that are open there, and the next span fills it.

Invariant: every byte of the document is in exactly one fragment, and every element too: the one that has its
start tag.  Runs and holes form a tree, whatever the cut; the fragments need not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, TypeAlias

from twigcast.document import is_multibyte
from twigcast.errors import FragmentError

HeaderKind: TypeAlias = Literal["edge", "prefix", "prefix+level", "prefix+paths"]
"""How much a header says about its fragment; each kind says all that the kind before it says."""

HEADER_KINDS: tuple[HeaderKind, ...] = ("edge", "prefix", "prefix+level", "prefix+paths")
"""The values of ``HeaderKind``, each saying more than the one before it."""

DOCUMENT_NODE = 0
"""The id of the document node, the parent of the root element."""

_NUMBER_BITS = 32
MAXIMUM_NUMBER = (1 << _NUMBER_BITS) - 1
"""The largest number that an element of a fragment or a hole of one can have."""

MOST_FRAGMENTS = (1 << 31) - 1
"""The largest number of a fragment: it fits a column of 32 bits."""

LONGEST_ID = 16_384
"""The characters that the id of a document can have: receivers remember the ids of thousands of documents."""


def node_id(fragment: int, element: int) -> int:
    """The id of an element, from the number of its fragment and its own number there, both from 1.

    An element's number counts the start tags in the body of its fragment.  Elements that an entity brings in
    have no start tag there; they are not counted and have no id, and no hole can be in one.
    Ids of holes are made in the same way, from the number of the hole in its fragment.
    """
    return fragment << _NUMBER_BITS | element


def fragment_number(id: int) -> int:
    """The number of the fragment that an element or a hole is in."""
    return id >> _NUMBER_BITS


def number_in_fragment(id: int) -> int:
    """The number that an element or a hole has in its fragment."""
    return id & MAXIMUM_NUMBER


def missing_numbers(present: Iterable[int], last: int) -> tuple[range, ...]:
    """The numbers from 1 to ``last`` that are not ``present``, as ranges: a header can name any number."""
    found = []
    start = 1
    for number in sorted(present):
        if start < number:
            found.append(range(start, number))
        start = number + 1
    if start <= last:
        found.append(range(start, last + 1))
    return tuple(found)


def printed_numbers(ranges: Sequence[range], most: int = 10) -> str:
    """The numbers in some ranges for a message, such as ``2, 4-7``; after ``most`` ranges an ellipsis."""
    named = [
        f"{each.start}-{each[-1]}" if len(each) > 2 else ", ".join(map(str, each)) for each in ranges[:most]
    ]
    return ", ".join(named) + (" …" if len(ranges) > most else "")


@dataclass(frozen=True, slots=True)
class OpenElement:
    """An element that is open at some place of a document: its id, its name, the namespaces it declares.

    ``name`` is the name as written, with its prefix; ``declarations`` are pairs of a prefix (empty for the
    default namespace) and a URI (empty if the declaration takes the default namespace away).
    """

    id: int
    name: str
    declarations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in a fragment's body where a run of another fragment belongs.

    ``offset`` is the place in the body; if several holes have the same offset, their order is that of the
    document.  ``place`` is the offset in the document of the first byte of this fragment after the hole; for
    the hole at the end of a span, where its content begins.
    """

    id: int
    offset: int
    place: int


@dataclass(frozen=True, slots=True)
class SubtreeRoots:
    """The elements of one name directly below one element of a run's context: how many, and how high.

    ``depth`` is the number of elements of the context that are open above them: in a run of siblings all
    elements of the context, in a span that closes some of them also fewer.  ``height`` is the number of steps
    on the longest way down from one of them that stays in the fragment; ``None`` if the header does not say.
    """

    name: str
    depth: int
    count: int
    height: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Sibling nodes that stand next to each other in the document, or a span.

    ``start`` and ``end`` are its range in the body of the fragment, ``place`` is the offset in the document
    of its first byte, and ``first`` the number of elements of the fragment before it.  ``fills`` is the id of
    its hole; ``None`` for the run that begins the document.

    ``parent`` is the id of the innermost element that is open where the run begins, ``depth`` the number of
    open elements, and ``context`` these elements from the root to the parent; ``None`` if the header does not
    say (its kind is ``edge``), and then ``inherited`` has the namespaces in scope there.

    ``closes`` is the number of elements of the context that a span closes, and ``opens`` are the elements of
    its own that are open at its end.
    """

    start: int
    end: int
    place: int
    fills: int | None
    parent: int
    depth: int
    context: tuple[OpenElement, ...] | None
    inherited: tuple[tuple[str, str], ...] = ()
    roots: tuple[SubtreeRoots, ...] = ()
    closes: int = 0
    opens: tuple[OpenElement, ...] = ()
    first: int = 0

    @property
    def namespaces(self) -> dict[str, str]:
        """The namespaces in scope where the run begins, by prefix; the empty prefix is the default one."""
        if self.context is None:
            return dict(self.inherited)
        return namespaces_in_scope(self.context)

    @property
    def path(self) -> tuple[str, ...] | None:
        """The names of the context, from the root to the parent; ``None`` if the header does not say."""
        return None if self.context is None else tuple(element.name for element in self.context)


def namespaces_in_scope(path: Iterable[OpenElement]) -> dict[str, str]:
    """The namespaces that are in scope in the last element of a path, by prefix."""
    bound: dict[str, str] = {}
    for element in path:
        for prefix, uri in element.declarations:
            if uri:
                bound[prefix] = uri
            else:
                bound.pop(prefix, None)
    return bound


@dataclass(frozen=True, slots=True)
class Opening:
    """What a parser must read before a fragment that does not begin its document.

    ``text`` has the bytes of the XML declaration and of the document type declaration, in the encoding of the
    document; it is empty if neither matters to a parser.  It is ``None`` in a header that only names a long
    opening by its ``digest``: then the fragment that begins the document must be there first.
    ``codec`` is the Python codec of the document's encoding.
    """

    text: bytes | None
    digest: str
    codec: str = "utf_8"

    @classmethod
    def of(cls, text: bytes, codec: str = "utf_8") -> Opening:
        """The opening with this text."""
        return cls(text, blake2b(text, digest_size=16).hexdigest(), codec)

    @classmethod
    def transcribed(cls, text: bytes, codec: str) -> Opening:
        """The opening of a document in this encoding, from its text in UTF-8."""
        mark = "\ufeff" if codec.startswith("utf_16") else ""
        return cls.of((mark + text.decode()).encode(codec), codec)

    @property
    def is_transcribed(self) -> bool:
        """Whether the document is scanned as UTF-8, though it is in UTF-16 or in an encoding of East Asia."""
        return self.codec.startswith("utf_16") or is_multibyte(self.codec)

    def inlined(self) -> Opening:
        """This opening as headers have it: without its text if that is longer than ``INLINE_LIMIT``."""
        if self.text is None or len(self.text) <= INLINE_LIMIT:
            return self
        return Opening(None, self.digest, self.codec)


INLINE_LIMIT = 1024
"""The bytes of an opening that a header carries; a longer one is named by its digest."""


@dataclass(frozen=True, slots=True)
class PathEntry:
    """One label path in the dictionary of a document: its number (from 1), and its last step.

    ``parent`` is the number of the label path without that step, or 0.  Elements of one name that declare
    different namespaces have different entries, so that an entry has one expanded name.
    """

    number: int
    parent: int
    name: str
    declarations: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LabelPaths:
    """The label paths of the elements in a fragment, as numbers in the dictionary of the document.

    ``entries`` is the part of the dictionary that this fragment adds: a number may be unknown to a receiver
    that has not got the fragment which adds it.
    """

    numbers: frozenset[int]
    entries: tuple[PathEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """A line of the table in which the thesis shows headers (Fig. 5.3).

    ``parent`` is the node id of the parent; ``path`` has the names from the root to the roots of ``count``
    subtrees, or ``None`` if the header does not say; ``height`` is the height of the highest of them.
    """

    parent: int
    path: tuple[str, ...] | None
    count: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class Header:
    """All that is known of a fragment without its body: where it belongs, and what is in it.

    ``number`` counts the fragments of a document from 1; ``is_last`` marks the highest one.  ``size`` is the
    number of bytes in the body, ``elements`` the number of start tags in it.  ``prolog`` is the number of
    bytes before the start tag of the root element, in the fragment that has it; ``opening`` is what a parser
    needs of these bytes before it can read any other fragment.
    ``paths`` is ``None`` unless the header is of the kind ``prefix+paths``.
    """

    doc_id: str
    number: int
    size: int
    runs: tuple[Run, ...]
    holes: tuple[Hole, ...]
    opening: Opening
    elements: int
    is_last: bool
    kind: HeaderKind
    paths: LabelPaths | None = None
    prolog: int = 0

    def __post_init__(self) -> None:
        if len(self.doc_id) > LONGEST_ID:
            message = (
                f"the id of a document has at most {LONGEST_ID:,} characters, this one {len(self.doc_id):,}"
            )
            raise FragmentError(message, code="fragment-header", doc_id=self.doc_id[:100] + "…")

    @property
    def starts_document(self) -> bool:
        """Whether the fragment has the prolog and the start tag of the root element."""
        return any(run.fills is None for run in self.runs)

    @property
    def ends_document(self) -> bool:
        """Whether the fragment has the end of the document."""
        return any(run.closes == run.depth and not run.opens for run in self.runs)

    @property
    def end_hole(self) -> Hole | None:
        """The hole at the end of a span, which the next span fills; ``None`` in any other fragment."""
        return self.holes[-1] if self.holes and self.holes[-1].offset == self.size else None

    @property
    def is_span(self) -> bool:
        """Whether the fragment is a byte range of the document that may begin and end within elements."""
        return self.end_hole is not None or any(run.closes for run in self.runs)

    def rows(self) -> list[HeaderRow]:
        """The table of the thesis: for each run and each name of its roots the parent, path and height."""
        rows = []
        for run in self.runs:
            if run.context is None:
                rows.append(HeaderRow(run.parent, None, None, None))
            for root in run.roots if run.context is not None else ():
                above = (run.context or ())[: root.depth]
                parent = above[-1].id if above else DOCUMENT_NODE
                path = (*(element.name for element in above), root.name)
                rows.append(HeaderRow(parent, path, root.count, root.height))
        return rows


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a document: a header that says where it belongs, and a body, the bytes of its runs in order.

    All that the header has can be asked of the fragment.
    """

    header: Header
    body: bytes
    _digest: str = field(default="", init=False, repr=False, compare=False)

    @property
    def digest(self) -> str:
        """A hash of header and body, by which a fragment that arrives twice is recognised.

        It is computed when it is first asked for: hashing takes about as long as cutting.
        """
        if not self._digest:
            from twigcast.fragmenting.encoding import digest

            object.__setattr__(self, "_digest", digest(self))
        return self._digest

    @property
    def doc_id(self) -> str:
        """The id of the document."""
        return self.header.doc_id

    @property
    def number(self) -> int:
        """The number of the fragment in its document, from 1."""
        return self.header.number

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of the body, in its order."""
        return self.header.runs

    @property
    def holes(self) -> tuple[Hole, ...]:
        """The places within the runs that other fragments fill."""
        return self.header.holes

    @property
    def opening(self) -> Opening:
        """What a parser needs of the prolog before it can read the fragment."""
        return self.header.opening

    @property
    def elements(self) -> int:
        """The number of elements that begin in the fragment."""
        return self.header.elements

    @property
    def is_last(self) -> bool:
        """Whether the fragment has the highest number of its document."""
        return self.header.is_last

    @property
    def kind(self) -> HeaderKind:
        """The kind of the header."""
        return self.header.kind

    @property
    def paths(self) -> LabelPaths | None:
        """The label paths of the elements in the fragment, if the header has them."""
        return self.header.paths

    @property
    def prolog(self) -> int:
        """The number of bytes before the start tag of the root element, in the fragment that has it."""
        return self.header.prolog

    @property
    def starts_document(self) -> bool:
        """Whether the fragment has the prolog and the start tag of the root element."""
        return self.header.starts_document

    @property
    def ends_document(self) -> bool:
        """Whether the fragment has the end of the document."""
        return self.header.ends_document

    @property
    def end_hole(self) -> Hole | None:
        """The hole at the end of a span, which the next span fills; ``None`` in any other fragment."""
        return self.header.end_hole

    @property
    def is_span(self) -> bool:
        """Whether the fragment is a byte range of the document that may begin and end within elements."""
        return self.header.is_span
