"""Named workloads: those of the benchmarks, and those of the papers as far as the papers describe them.

Benchmark results can be compared over time only if the workloads never change, so these presets never change;
a new workload gets a new name.  Use ``dataclasses.replace`` for another seed.
"""

from __future__ import annotations

from twigcast.workload.documents import DocumentOptions
from twigcast.workload.subscriptions import SubscriptionOptions

LINEAR = SubscriptionOptions(max_steps=8, wildcard=0.1, descendant=0.1)
"""Paths of at most 8 steps with a few ``*`` and ``//``."""

BRANCHING = SubscriptionOptions(max_steps=8, wildcard=0.1, descendant=0.1, nested=0.2)
"""The same with nested paths; three or four in five branch."""

VALUES = SubscriptionOptions(max_steps=8, wildcard=0.1, descendant=0.1, nested=0.2, value=0.2)
"""The same with conditions on values."""

PIGGYBACKING = SubscriptionOptions(
    min_steps=1, max_steps=8, wildcard=0.1, descendant=0.1, nested=0.2, distinct=False
)
"""Thesis, Table 4.2, with element names of skew 0, which both texts call the variation; 5,000 at each router.

The table of the piggybacking paper prints both values of the skew in bold.
"""

PIGGYBACKING_SKEWED = SubscriptionOptions(
    min_steps=1, max_steps=8, wildcard=0.1, descendant=0.1, nested=0.2, skew=0.5, distinct=False
)
"""The same with element names of skew 0.5, the default of the papers."""

THESIS_4_2 = SubscriptionOptions(
    min_steps=3, max_steps=8, wildcard=0.1, descendant=0.1, nested=0.2, skew=0.5, distinct=False
)
"""The same with at least three steps: otherwise the path of the root alone covers all others.

The papers give no minimum.  On NITF this is the plainest load that matches about as many subscriptions as
theirs (7 %; theirs 10 %) and that aggregates to more than one pattern.
"""

ROUTING = SubscriptionOptions(min_steps=1, max_steps=10, wildcard=0.2, descendant=0.2)
"""Routing paper, section 5: distinct, at most 10 steps.

It varies p(*) and p(//) for two sets, of 90 % and 50 % covered paths, without giving them; 0.2 is a common
choice for the generator that it used.
"""

REWRITING = SubscriptionOptions(
    min_steps=1, max_steps=8, wildcard=0.2, descendant=0.0, nested=0.2, distinct=False
)
"""Thesis, Table 6.1, and the paper on heterogeneous data, section 5.1; p(//) is not given."""

CHUNKING = SubscriptionOptions(
    min_steps=1, max_steps=3, wildcard=0.0, descendant=0.163, value=0.163, distinct=False
)
"""Chunking paper, section 5.1: three queries in ten with a ``//``, three in ten with a filter.

The paper gives parts of the queries; with lengths of 1 to 3, a probability of 0.163 per step makes 0.3.
"""

NITF_SMALL = DocumentOptions(elements=50)
NITF_MEDIUM = DocumentOptions(elements=129)
NITF_LARGE = DocumentOptions(elements=201)
"""Thesis, Table 4.1: NITF documents of 50, 129.4 and 200.8 elements on average."""

SUBSCRIPTIONS = {
    "linear": LINEAR,
    "branching": BRANCHING,
    "values": VALUES,
    "piggybacking": PIGGYBACKING,
    "piggybacking-skewed": PIGGYBACKING_SKEWED,
    "thesis-4.2": THESIS_4_2,
    "routing": ROUTING,
    "rewriting": REWRITING,
    "chunking": CHUNKING,
}
"""The subscription presets by the names under which commands know them."""

DOCUMENTS = {
    "default": DocumentOptions(),
    "nitf-small": NITF_SMALL,
    "nitf-medium": NITF_MEDIUM,
    "nitf-large": NITF_LARGE,
}
"""The document presets by name."""
