"""One Spark session for all tests of the room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores."""
    from twigcast.spark import session

    started = session("twigcast tests", master="local[2]", conf={"spark.sql.shuffle.partitions": "2"})
    yield started
    started.stop()
