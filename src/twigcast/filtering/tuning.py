"""Tuning of the matching kernel: each choice changes the cost, never an answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tuning:
    """The memory that an engine may use for its caches, and the optimisations that it may use.

    ``cache_bytes`` is the limit for each thread and segment; a full cache is emptied, even in the middle of a
    document, but for the label paths that recent documents had in common.  ``programs`` indexes the rows of
    frequent automaton states by their rarest literal; ``memo`` caches the rows that small sets of literals
    complete.

    The others are for documents that a mapping rewrites.  ``dead_places`` skips elements that no subscription
    can see; elements in them that the source schema does not know are not counted.  ``shared_copies`` matches
    elements that a mapping copies into several others once.

    ``text_bytes`` is for documents in parts: a longer text of an element that several parts have is replaced
    by a summary that decides the same.

    ``block_bytes`` is for large documents: one of more than 16 such blocks is given to the parser block by
    block, so that a document in a mapped file is never copied as a whole.
    """

    cache_bytes: int = 512 << 20
    programs: bool = True
    memo: bool = True
    dead_places: bool = True
    shared_copies: bool = True
    text_bytes: int = 1 << 16
    block_bytes: int = 1 << 20
