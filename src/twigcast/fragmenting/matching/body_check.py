"""Compares what the header of a fragment says with the tags of its body.

A header decides where the elements of a fragment belong, and a receiver believes no header: one that names
other elements than the body has would give answers of another document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from twigcast.errors import FragmentError
from twigcast.fragmenting.body_scan import scan_run, tag_reader
from twigcast.fragmenting.fragments import Fragment, HeaderKind, SubtreeRoots
from twigcast.fragmenting.matching.pieces import Context
from twigcast.fragmenting.matching.seams import InHoles


def check_body(fragment: Fragment, opening: bytes, contexts: Sequence[Context]) -> InHoles:
    """The elements that are open at the holes of a fragment; raises ``FragmentError`` if the header is wrong.

    The body must have been parsed: this looks at its tags only.
    """
    full = replace(fragment.opening, text=opening)
    tags = tag_reader(full)
    in_holes: InHoles = {}
    elements = 0
    for run, context in zip(fragment.runs, contexts, strict=True):
        found = scan_run(fragment, run, context[len(context) - run.closes :], full, tags)
        if found is None or (found.closes, found.opens) != (run.closes, run.opens):
            raise _inconsistent(fragment, "the body opens or closes other elements than its header says")
        if run.first != elements:
            raise _inconsistent(fragment, f"a run begins after {elements} elements, not {run.first}")
        if fragment.kind != "edge" and _listed(run.roots, fragment.kind) != _listed(
            found.roots, fragment.kind
        ):
            raise _inconsistent(fragment, "the body has other subtrees than its header says")
        elements += found.elements
        in_holes |= found.in_holes
    if elements != fragment.elements:
        message = f"the body has {elements} elements, and its header says {fragment.elements}"
        raise _inconsistent(fragment, message)
    return in_holes


def _listed(roots: Iterable[SubtreeRoots], kind: HeaderKind) -> list[tuple[str, int, int, int]]:
    """Roots as a header of this kind lists them, in any order."""
    return sorted(
        (root.name, root.depth, root.count, 0 if kind == "prefix" else root.height or 0) for root in roots
    )


def _inconsistent(fragment: Fragment, message: str) -> FragmentError:
    return FragmentError(
        message, code="fragment-inconsistent", doc_id=fragment.doc_id, number=fragment.number
    )
