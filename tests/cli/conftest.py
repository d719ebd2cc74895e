"""Fixtures that run a command in the process of the test."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from twigcast.cli.program import app


@pytest.fixture
def run(invoke: Callable[..., Any]) -> Callable[..., Any]:
    """Run ``twigcast`` with these arguments."""
    return partial(invoke, app)
