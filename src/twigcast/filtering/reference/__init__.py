"""Reference engines: slower than ``Index``, for comparison and teaching, with the same answers."""

from twigcast.filtering.reference.one_by_one import OneByOne
from twigcast.filtering.reference.xtrie import XTrie
from twigcast.filtering.reference.yfilter import YFilter

__all__ = ["OneByOne", "XTrie", "YFilter"]
