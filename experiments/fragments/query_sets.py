"""Random queries for XMark, in the manner of YFilter's generator, with and without a match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from benchmarks.workloads import data
from experiments.fragments.documents import Feed
from twigcast.filtering import Index
from twigcast.pattern import parse
from twigcast.schema import read_dtd
from twigcast.workload import SubscriptionOptions, generate_subscriptions

OPTIONS = SubscriptionOptions(
    seed=3, min_steps=3, max_steps=8, wildcard=0.0, descendant=0.1, nested=0.2, distinct=True
)
MOST = 400


def query_set(feed: Feed, count: int, without_match: float | None = None) -> dict[str, str]:
    """So many queries, of which a share has no match; by default as they come from the generator.

    Where too few come without a match, the last name of a query is replaced by another one of the schema.
    """
    generated = list(generate_subscriptions(read_dtd(data("xmark/auction.dtd")), MOST, OPTIONS))
    if without_match is None:
        return {f"q{number}": text for number, text in enumerate(generated[:count])}
    misses = round(count * without_match)
    matching = _matching(feed, generated)
    missing = [text for text in generated if text not in matching]
    altered = [text for text in _altered(generated) if text not in missing]
    missing += sorted(set(altered) - _matching(feed, altered))
    chosen = [text for text in generated if text in matching][: count - misses] + missing[:misses]
    return {f"q{number}": text for number, text in enumerate(chosen)}


def _matching(feed: Feed, texts: list[str]) -> set[str]:
    index = Index()
    index.add_all((text, parse(text)) for text in dict.fromkeys(texts))
    return {str(id) for id in index.match(feed.body).ids}


def _altered(texts: list[str]) -> Iterator[str]:
    random = Random(3)
    names = sorted({name for text in texts for name in re.findall(r"\w+", text)})
    for text in texts:
        yield re.sub(r"\w+(?=\W*$)", random.choice(names), text)
