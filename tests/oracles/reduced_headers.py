"""Fragments whose headers say less than those that were cut."""

from __future__ import annotations

from twigcast.fragmenting import Fragment, HeaderKind
from twigcast.fragmenting.headers import reduced_header


def reduced(fragment: Fragment, kind: HeaderKind) -> Fragment:
    """The fragment with a header that says less; raises ``FragmentError`` if this header does not say it."""
    return Fragment(reduced_header(fragment.header, kind), fragment.body)
