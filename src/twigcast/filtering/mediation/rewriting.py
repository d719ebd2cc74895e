"""What the engines need to know of a mapping between schemas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeAlias

from twigcast.document import Document, DocumentLimits


class Rewriting(Protocol):
    """How documents with one root element are rewritten before they are matched: a mapping between schemas.

    Two of the same ``reference`` are the same.  ``plan`` is for the kernel; ``apply`` gives what it stands
    for, a document whose ``sources`` are nodes of the original.
    """

    @property
    def name(self) -> str:
        """The name of the mapping."""
        ...

    @property
    def reference(self) -> str:
        """The name with a hash of the mapping."""
        ...

    @property
    def root(self) -> tuple[str, str]:
        """The namespace and the local name of the root element."""
        ...

    @property
    def plan(self) -> bytes:
        """The mapping as the kernel reads it."""
        ...

    def apply(self, document: Document, limits: DocumentLimits | None = None) -> Document:
        """Rewrite a document."""
        ...


Rewritings: TypeAlias = Rewriting | Iterable[Rewriting]
"""One mapping, or several, of which the root element of a document chooses."""
