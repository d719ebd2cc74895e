"""The runs of a fragment as pieces that the matching kernel can read, with or without their bodies.

A parser can begin in the middle of a document if it reads made-up start tags of the elements around first,
with the namespaces that they declare; see ``twigcast.filtering.Piece``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import quoteattr

from twigcast.filtering import Partial, Piece, PieceHole
from twigcast.fragmenting.assembly import holes_of
from twigcast.fragmenting.fragments import Fragment, OpenElement, Run, node_id

Context = tuple[OpenElement, ...]


def pieces(fragment: Fragment, opening: bytes, contexts: Sequence[Context]) -> list[Piece]:
    """The runs of a fragment as pieces; ``opening`` is what a parser must read before any of them.

    ``contexts`` has the elements around each run.
    """
    body = memoryview(fragment.body)
    return [
        _piece(fragment, run, opening, context, body[run.start : run.end], run.start)
        for run, context in zip(fragment.runs, contexts, strict=True)
    ]


def empty_pieces(fragment: Fragment, opening: bytes, contexts: Sequence[Context]) -> list[Piece]:
    """The runs of a fragment that makes no difference to the answer: only the end tags of their contexts.

    The fragment must not be the one that begins the document.
    They fill and open the same holes as the fragment, so the elements around it can be completed.
    """
    made = []
    for run, context in zip(fragment.runs, contexts, strict=True):
        tags = _end_tags(context[len(context) - run.closes :])
        made.append(_piece(fragment, run, opening, context, tags.encode(fragment.opening.codec), None))
    return made


def known_contexts(
    fragment: Fragment, after_spans: Mapping[int, Context], partial: Partial
) -> list[Context] | None:
    """The elements around each run of a fragment; ``None`` if another fragment must be evaluated before.

    Where the header does not say, ``after_spans`` has the elements that are open at the hole at the end of a
    span, and ``partial`` the path of an element with a hole in it.
    """
    found: list[Context] = []
    for run in fragment.runs:
        context = () if run.fills is None else run.context
        if context is None and fragment.is_span:
            context = after_spans.get(run.fills or 0)
        elif context is None:
            path = partial.path(run.parent)
            context = None if path is None else made_up_context(path, run.inherited)
        if context is None:
            return None
        found.append(context)
    return found


def open_after(run: Run, context: Context) -> Context:
    """The elements that are open at the end of a run, the root first."""
    return context[: len(context) - run.closes] + run.opens


def made_up_context(path: Iterable[tuple[int, str]], namespaces: Sequence[tuple[str, str]]) -> Context:
    """A context with the ids and expanded names of a path, whose last element declares ``namespaces``.

    Names are spelled as the parser does: namespace, form feed, local name.  Prefixes are made up, so a run
    that closes elements of its context needs the context as it is written.
    """
    base = "context"
    while any(prefix.startswith(base) for prefix, _ in namespaces):
        base += "_"
    made: list[OpenElement] = []
    for id, name in path:
        namespace, _, local = name.rpartition("\f")
        prefix = f"{base}{len(made)}" if namespace else ""
        declared = ((prefix, namespace),) if namespace else ()
        made.append(OpenElement(id, f"{prefix}:{local}" if namespace else local, declared))
    if made:
        last = made[-1]
        made[-1] = OpenElement(last.id, last.name, (*last.declarations, *namespaces))
    return tuple(made)


def _piece(
    fragment: Fragment,
    run: Run,
    opening: bytes,
    context: Context,
    body: bytes | memoryview,
    start: int | None,
) -> Piece:
    """A run as a piece; its body begins at ``start`` of the fragment's, or is made up if that is None."""
    codec = fragment.opening.codec
    starts = run.fills is None
    ends = run.closes == run.depth and not run.opens
    left_open = context[: len(context) - run.closes] if start is None else open_after(run, context)
    return Piece(
        body,
        run.place,
        b"" if starts else opening + "".join(map(_start_tag, context)).encode(codec),
        b"" if ends else _end_tags(left_open).encode(codec),
        tuple(element.id for element in context),
        tuple(
            PieceHole(len(body) if start is None else hole.offset - start, hole.id, hole.place)
            for hole in holes_of(fragment, run)
        ),
        run.fills,
        node_id(fragment.number, run.first + 1),
        starts,
        ends,
        codec,
    )


def _start_tag(element: OpenElement) -> str:
    declared = [
        f" xmlns{':' if prefix else ''}{prefix}={quoteattr(uri)}" for prefix, uri in element.declarations
    ]
    return f"<{element.name}{''.join(declared)}>"


def _end_tags(elements: Sequence[OpenElement]) -> str:
    return "".join(f"</{element.name}>" for element in reversed(elements))
