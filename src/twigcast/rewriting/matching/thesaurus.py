"""A thesaurus: words that mean the same in the names of elements, a group on each line.

    instructor, lecturer, teacher          # comments are allowed
    credits, units, hours

A small one ships with the package, ``thesaurus.txt`` beside this file; a user's file adds to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

from twigcast.errors import SourceError


class Thesaurus:
    """Groups of words that mean the same.  A word may be in several groups, which do not become one."""

    def __init__(self, groups: Iterable[Iterable[str]] = ()) -> None:
        self.groups = tuple(frozenset(word.lower() for word in group) for group in groups)
        self._of: dict[str, set[int]] = {}
        for number, group in enumerate(self.groups):
            for word in group:
                self._of.setdefault(word, set()).add(number)

    @classmethod
    def parse(cls, text: str) -> Thesaurus:
        """The thesaurus of a text with a group on each line, words parted by commas, ``#`` for comments."""
        lines = (line.partition("#")[0] for line in text.splitlines())
        groups = ([word.strip() for word in line.split(",") if word.strip()] for line in lines)
        return cls(group for group in groups if len(group) > 1)

    @classmethod
    def built_in(cls) -> Thesaurus:
        """The small thesaurus that ships with the package."""
        text = resources.files("twigcast.rewriting.matching").joinpath("thesaurus.txt")
        return cls.parse(text.read_text(encoding="utf-8"))

    @classmethod
    def read(cls, path: Path) -> Thesaurus:
        """The built-in thesaurus with the groups of a user's file added; raises ``SourceError``."""
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            message = "a thesaurus must be UTF-8 text: a group of words on each line, parted by commas"
            raise SourceError(message, code="encoding", path=str(path)) from None
        return cls.built_in() + cls.parse(text)

    def __add__(self, other: Thesaurus) -> Thesaurus:
        return Thesaurus((*self.groups, *other.groups))

    def are_synonyms(self, a: str, b: str) -> bool:
        """Whether two words are in one group."""
        return not self._of.get(a, set()).isdisjoint(self._of.get(b, ()))

    @property
    def vocabulary(self) -> frozenset[str]:
        """All words of the groups."""
        return frozenset(self._of)
