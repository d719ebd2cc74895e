"""The pool of engines: one for each thread at a time, and caches that stay warm."""

from __future__ import annotations

import gc
import weakref

import pytest

from twigcast.document import DocumentLimits
from twigcast.filtering.collection import SubscriptionCollection
from twigcast.filtering.matching import EnginePool
from twigcast.filtering.tuning import Tuning
from twigcast.pattern import PatternLimits


@pytest.fixture
def collection() -> SubscriptionCollection:
    made = SubscriptionCollection({}, PatternLimits())
    made.add_all([(1, "//a"), (2, "//b")])
    return made


@pytest.fixture
def pool(collection: SubscriptionCollection) -> EnginePool:
    return EnginePool(collection, DocumentLimits(), Tuning())


def test_an_engine_is_lent_again(pool: EnginePool) -> None:
    """One after the other, loans have the same engine; at the same time, they have two."""
    with pool.lend(None, as_is=False) as first:
        with pool.lend(None, as_is=False) as second:
            assert first is not second
        kernel = second.kernel
    with pool.lend(None, as_is=False) as third:
        assert third is first
    assert {each.kernel for each in (first, second)} == set(pool.engines())
    assert kernel in pool.engines()


def test_an_engine_is_given_back_after_an_error(pool: EnginePool) -> None:
    """The next loan has it."""
    with pytest.raises(RuntimeError), pool.lend(None, as_is=False):
        raise RuntimeError
    with pool.lend(None, as_is=False):
        assert len(pool.engines()) == 1


def test_an_engine_that_ran_out_of_memory_is_not_lent_again(pool: EnginePool) -> None:
    """Its caches may have been left incomplete, so the next loan has a new engine."""
    with pytest.raises(MemoryError), pool.lend(None, as_is=False) as spoiled:
        raise MemoryError
    with pool.lend(None, as_is=False) as engine:
        assert engine is not spoiled


def test_a_loan_has_the_current_snapshot(collection: SubscriptionCollection, pool: EnginePool) -> None:
    """A change applies from the next loan on."""
    with pool.lend(None, as_is=False) as engine:
        before = engine.snapshot
        collection.add((3, "//c"))
        assert engine.snapshot is before
    with pool.lend(None, as_is=False) as engine:
        assert engine.snapshot is collection.snapshot is not before


def test_pools_can_share_engines(collection: SubscriptionCollection, pool: EnginePool) -> None:
    """The caches of one index stay warm in the next."""
    with pool.lend(None, as_is=False) as first:
        pass
    other = EnginePool(collection, DocumentLimits(), Tuning())
    other.share(pool)
    with other.lend(None, as_is=False) as second:
        assert second is first


def test_a_pool_frees_its_engines_without_the_garbage_collector(pool: EnginePool) -> None:
    """Engines have large caches; a cycle of references would keep them until the collector runs."""
    with pool.lend(None, as_is=False) as engine:
        kernel = weakref.ref(engine.kernel)
    del engine
    gc.disable()
    try:
        pool._idle.clear()
        assert kernel() is None
    finally:
        gc.enable()
