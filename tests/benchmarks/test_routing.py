"""The benchmarks of routers: small runs check their answers and have their figures."""

from __future__ import annotations

import pytest

from benchmarks.routing import conformance, receiving, restoring

pytestmark = pytest.mark.data


@pytest.mark.slow
def test_a_router_delivers_what_the_index_answers() -> None:
    """For every document that is measured."""
    outcome = receiving(50)
    assert outcome.wrong == ()
    assert outcome.figures["receive_ratio"] > 0


def test_the_index_and_the_definition_agree_on_conformance() -> None:
    """For documents with and without a stranger among their elements."""
    assert conformance(50).wrong == ()


def test_a_restored_router_is_the_one_that_was_saved() -> None:
    """Its state is the same."""
    assert restoring(100).wrong == ()
