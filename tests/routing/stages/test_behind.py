"""What forwarded subscriptions stand for, through all stages."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.routing.overlay import any_document, graph, subscription, valid_document
from twigcast.analysis import covers, sample_selectivity
from twigcast.document import read
from twigcast.pattern import Pattern, matches
from twigcast.routing.stages.interest import Interest
from twigcast.routing.strategy import Strategy

STRATEGIES = [
    Strategy(),
    Strategy(merging=0.0),
    Strategy(merging=0.5),
    Strategy(aggregation=0.3),
    Strategy(covering=False, aggregation=0.5),
    Strategy(merging=0.5, aggregation=0.3),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_forwarded_subscription_covers_what_it_stands_for(strategy: Strategy, random: Random) -> None:
    """Every input stands behind a forwarded pattern, and each forwarded pattern covers what is behind it.

    An aggregate is made so that it covers its members, which ``covers`` cannot prove for all twigs (``//*/b``
    covers ``/a[.//b/c]``); then no document may match the member alone.
    """
    schema = graph(random)
    documents = [read(valid_document(random, schema)) for _ in range(3)]
    documents += [read(any_document(random)) for _ in range(20)]
    selectivity = sample_selectivity(documents[:3])
    interest = Interest(strategy, schema, selectivity)
    live: dict[str, Pattern] = {}
    for number in range(6):
        removed = [id for id in live if random.randint(0, 2) == 0]
        added = {f"{number}.{each}": subscription(random) for each in range(random.randint(0, 5))}
        interest.change(added, removed)
        for id in removed:
            del live[id]
        live |= added
        behind = interest.behind()
        assert behind.keys() == interest.told.keys()
        assert {id for ids in behind.values() for id in ids} == live.keys()
        for told, ids in behind.items():
            general = interest.told[told]
            for special in [live[id] for id in ids if not covers(general, live[id])]:
                assert strategy.aggregation is not None
                assert all(matches(general, each) for each in documents if matches(special, each))
