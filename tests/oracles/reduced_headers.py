"""Fragments whose headers say less than those that were cut."""

from __future__ import annotations

from dataclasses import replace

from twigcast.errors import FragmentError
from twigcast.fragmenting import Fragment, HeaderKind
from twigcast.fragmenting.fragments import HEADER_KINDS


def reduced(fragment: Fragment, kind: HeaderKind) -> Fragment:
    """The fragment with a header that says less; raises ``FragmentError`` if this header does not say it."""
    header = fragment.header
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
    return Fragment(replace(header, kind=kind, runs=runs, paths=paths), fragment.body)
