"""Named workloads."""

from __future__ import annotations

import pytest

from twigcast.pattern import parse
from twigcast.workload import SubscriptionOptions, generate_documents, generate_subscriptions, news, presets


@pytest.mark.parametrize("name", presets.SUBSCRIPTIONS)
def test_subscription_presets_work(name: str) -> None:
    """Each preset gives subscriptions for the news schema."""
    options = presets.SUBSCRIPTIONS[name]
    assert isinstance(options, SubscriptionOptions)
    assert len(list(generate_subscriptions(news(), 100, options))) == 100


@pytest.mark.parametrize("name", presets.DOCUMENTS)
def test_document_presets_work(name: str) -> None:
    """Each preset gives documents of the news schema."""
    assert len(list(generate_documents(news(), 3, presets.DOCUMENTS[name]))) == 3


def test_chunking_has_the_parts_of_the_paper() -> None:
    """Three in ten queries have a //, three in ten a filter."""
    texts = list(generate_subscriptions(news(), 3000, presets.CHUNKING))
    assert sum("//" in text for text in texts) / 3000 == pytest.approx(0.3, abs=0.04)
    assert sum("[" in text for text in texts) / 3000 == pytest.approx(0.3, abs=0.06)


def test_the_load_of_the_thesis_has_no_short_paths() -> None:
    """A path of the root alone would cover all others; skew 0.5 is the default of both texts."""
    options = presets.THESIS_4_2
    assert (options.min_steps, options.max_steps, options.skew) == (3, 8, 0.5)
    texts = list(generate_subscriptions(news(), 500, options))
    assert min(len(parse(text).alternatives[0].steps) for text in texts) == 3
