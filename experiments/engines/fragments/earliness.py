"""How early matches are known: the share of a document's bytes that had arrived when each became certain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from twigcast.filtering import Index
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.headers import Manifest
from twigcast.fragmenting.matching import Certain, FragmentIndex

SHARES = (0.05, 0.10, 0.25, 0.50, 0.75)
"""The shares of bytes at which one usually asks how many matches are known."""


@dataclass(frozen=True, slots=True)
class Earliness:
    """For each match of a document the share of its bytes that had arrived when it was certain, rising."""

    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean share; 0 if nothing matches."""
        return fmean(self.shares) if self.shares else 0.0

    def known(self, share: float) -> float:
        """The part of all matches that were known when this share of the bytes had arrived."""
        return bisect_right(self.shares, share) / len(self.shares) if self.shares else 1.0


def earliness(index: Index, fragments: Iterable[Fragment], manifest: Manifest | None = None) -> Earliness:
    """Match the fragments of one document in the order in which they arrive.

    A ``manifest`` comes before them, and is trusted.  Raises the error of a document that is broken, and
    ``ValueError`` if fragments are missing.
    """
    parts = list(fragments)
    size = sum(len(part.body) for part in parts)
    feed = FragmentIndex(index, early=True, checked=manifest is None)
    shares: list[float] = []
    if manifest is not None:
        certain = [news for news in feed.expect(manifest) if isinstance(news, Certain)]
        shares += [0.0] * sum(len(news.ids) for news in certain)
    for part in parts:
        for news in feed.add(part):
            if isinstance(news, Certain):
                shares += [news.arrived / size] * len(news.ids)
            elif news.match is not None:
                shares += [1.0] * (len(news.match) - len(shares))
                return Earliness(tuple(sorted(shares)))
            elif news.error is not None:
                raise news.error
    raise ValueError("some fragments of the document are missing")
