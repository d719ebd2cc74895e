"""Fixtures that all tests share, and the mark ``spark``."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from hypothesis import Phase, settings
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROJECT = Path(__file__).parent.parent
os.environ.setdefault("SPARK_CONF_DIR", str(PROJECT / "tests" / "spark_conf"))

# In CI a failure is reported at once: shrinking it can take five minutes, and the printed case reproduces it.
settings.register_profile("ci", phases=[Phase.explicit, Phase.reuse, Phase.generate], print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that use a Spark session, and leave out those marked ``soak`` but in ``make soak``."""
    if not os.environ.get("TWIGCAST_SOAK"):
        left_out = [item for item in items if item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        if {"spark", "pipeline_run"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of published data; the test is skipped, and says so, where it is not there."""
    folder = Path(os.environ.get("TWIGCAST_DATA") or PROJECT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}: set TWIGCAST_DATA to the folder of published data")
    return folder


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file below the test's own folder."""

    def create(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return create


@dataclass(frozen=True, slots=True)
class Run:
    """What a command did: its exit code, and what it wrote to stdout and stderr."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        return self.stdout.splitlines()


@pytest.fixture
def invoke() -> Callable[..., Run]:
    """Run a Typer application in this process; an exception other than ``SystemExit`` fails the test."""

    def call(app: typer.Typer, *arguments: object, stdin: bytes | None = None) -> Run:
        former = signal.getsignal(signal.SIGINT)
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        signal.signal(signal.SIGINT, former)  # a command that was interrupted ignores the next signal
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Run(result.exit_code, result.stdout, result.stderr)

    return call


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
