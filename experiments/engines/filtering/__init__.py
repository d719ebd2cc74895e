"""Reference engines: slower than ``Index``, for comparison and teaching, with the same answers."""

from experiments.engines.filtering.one_by_one import OneByOne
from experiments.engines.filtering.xtrie import XTrie
from experiments.engines.filtering.yfilter import YFilter

__all__ = ["OneByOne", "XTrie", "YFilter"]
