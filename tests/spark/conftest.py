"""One Spark session for all tests of the room, and a way to wait for its streams."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on two cores, whose tables are in a folder of the tests' own."""
    from twigcast.spark import session

    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    conf = {"spark.sql.shuffle.partitions": "2", "spark.sql.warehouse.dir": warehouse}
    started = session("twigcast tests", master="local[2]", conf=conf)
    yield started
    started.stop()


@pytest.fixture
def until() -> Callable[..., None]:
    """Wait for something that must become true."""

    def wait(true: Callable[[], bool], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    return wait


@pytest.fixture
def derby(spark: SparkSession, tmp_path: Path) -> Callable[[str], dict[str, str]]:
    """The options of a table in a database of the test's own; Derby comes with Spark."""
    jvm: Any = spark._jvm
    jvm.java.lang.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    return lambda table: {"url": f"jdbc:derby:{tmp_path}/database;create=true", "dbtable": table}
