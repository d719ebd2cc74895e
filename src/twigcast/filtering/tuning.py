"""What matching may spend and remember: any choice gives the same answers at another cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """Memory for what an engine learns, and which ways of joining branches it may use.

    ``cache_bytes`` is for each thread and segment; an engine that has filled it begins anew, even in the
    middle of a document.  ``programs`` index the rows of a state that is used again by their rarest literal;
    ``memo`` remembers what small sets of conditions complete.
    """

    cache_bytes: int = 512 << 20
    programs: bool = True
    memo: bool = True
