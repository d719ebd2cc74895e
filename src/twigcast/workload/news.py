"""The news schema that ships with the package, for examples and benchmarks without data of one's own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from twigcast.schema import ElementGraph, read_dtd


def news_dtd() -> bytes:
    """The DTD itself."""
    return files("twigcast.workload").joinpath("news.dtd").read_bytes()


@cache
def news() -> ElementGraph:
    """The elements of a feed of news: articles with nested sections, lists, quotes, tables and media."""
    return read_dtd(news_dtd(), "feed")
