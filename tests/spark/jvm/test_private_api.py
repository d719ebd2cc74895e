"""The private parts of Spark that are used exist in the installed version, and none of them is needed.

This is the canary for new versions of Spark: a test that fails here names what has changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import twigcast
from twigcast.errors import RunError
from twigcast.spark import Pipeline, SubscriptionStore, run
from twigcast.spark.jvm import private_api
from twigcast.spark.jvm.checkpoint_files import batch_files
from twigcast.spark.jvm.errors import JvmError
from twigcast.spark.jvm.filesystem import exists, is_file, is_local, remove
from twigcast.spark.jvm.lock import lock
from twigcast.spark.jvm.private_api import MissingApi, PrivateApi, using
from twigcast.spark.jvm.stream_log import LOGGERS


def probe_lock(spark: SparkSession, folder: Path) -> bool:
    jvm: Any = spark._jvm
    channel = jvm.java.io.RandomAccessFile(str(folder / "lock"), "rw").getChannel()
    held = channel.tryLock()
    channel.close()
    return held is not None and jvm.java.lang.ProcessHandle.current().pid() > 0


def probe_filesystem(spark: SparkSession, folder: Path) -> bool:
    located = spark._jvm.org.apache.hadoop.fs.Path(str(folder))  # type: ignore[union-attr]
    system = located.getFileSystem(spark._jsc.hadoopConfiguration())
    return bool(system.exists(located)) and len(system.globStatus(located)) == 1


def probe_file_index(spark: SparkSession, folder: Path) -> bool:
    files: Any = spark.read.format("binaryFile").load(str(folder))
    leaf = files._jdf.queryExecution().analyzed().collectLeaves().apply(0)
    status = leaf.relation().location().allFiles().apply(0).toString()
    return leaf.getClass().getSimpleName() == "LogicalRelation" and "isDirectory=false; length=4; " in status


def probe_micro_batch(spark: SparkSession, folder: Path) -> bool:
    seen: list[bool] = []

    def look(batch: Any, number: int) -> None:
        id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        query: Any = spark.streams.get(id)
        seen.append(query._jsq.streamingQuery().lastExecution().analyzed().collectLeaves().size() > 0)

    files = spark.readStream.format("text").load(str(folder))
    query = files.writeStream.foreachBatch(look).trigger(availableNow=True)
    query.option("checkpointLocation", str(folder / ".checkpoint")).start().awaitTermination()
    return seen == [True]


def probe_logger(spark: SparkSession, folder: Path) -> bool:
    jvm: Any = spark._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    found = [name for name in LOGGERS if loader.getResource(name.replace(".", "/") + ".class") is not None]
    return len(found) == 1 and jvm.org.apache.logging.log4j.core.config.Configurator is not None


def probe_daemon(spark: SparkSession, folder: Path) -> bool:
    import pyspark.daemon
    import pyspark.worker

    entry = spark._jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(  # type: ignore[union-attr]
        "spark.python.daemon.module"
    )
    return callable(pyspark.daemon.manager) and entry is not None


def probe_interpreter(spark: SparkSession, folder: Path) -> bool:
    return isinstance(spark.sparkContext.pythonExec, str) and isinstance(spark.sparkContext.environment, dict)


def probe_submission(spark: SparkSession, folder: Path) -> bool:
    SparkContext._ensure_initialized()
    return True


def probe_errors(spark: SparkSession, folder: Path) -> bool:
    from py4j.protocol import Py4JError, Py4JJavaError

    return issubclass(Py4JJavaError, Py4JError)


def probe_checkpoint_log(spark: SparkSession, folder: Path) -> bool:
    checkpoint = folder.parent / "checkpoint"
    files = spark.readStream.format("text").load(str(folder))
    query = files.writeStream.foreachBatch(lambda *_: None).trigger(availableNow=True)
    query.option("checkpointLocation", str(checkpoint)).start().awaitTermination()
    return batch_files(spark, str(checkpoint)) == {0: [str(folder / "good.xml")]}


REGISTRY = [each for each in vars(private_api).values() if isinstance(each, PrivateApi)]


def probe_process(spark: SparkSession, folder: Path) -> bool:
    from pyspark import java_gateway

    context: Any = SparkContext
    return callable(java_gateway.Popen) and context._gateway.proc.poll() is None and bool(context._jvm)  # type: ignore[attr-defined]


PROBES: dict[str, Callable[[SparkSession, Path], bool]] = {
    "jvm-file-lock": probe_lock,
    "hadoop-filesystem": probe_filesystem,
    "file-index": probe_file_index,
    "micro-batch-plan": probe_micro_batch,
    "stream-logger": probe_logger,
    "worker-daemon": probe_daemon,
    "worker-interpreter": probe_interpreter,
    "submitted-settings": probe_submission,
    "py4j-errors": probe_errors,
    "checkpoint-log": probe_checkpoint_log,
    "gateway-process": probe_process,
}


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A folder with a file of four bytes."""
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "good.xml").write_bytes(b"<a/>")
    return tmp_path / "feed"


def test_every_entry_has_a_probe() -> None:
    """Names are unique, and each is looked for below."""
    assert [api.name for api in REGISTRY] == list(PROBES)


@pytest.mark.parametrize("name", PROBES)
def test_each_part_exists_in_this_version(spark: SparkSession, feed: Path, name: str) -> None:
    """Each private part exists; if this fails, the fallback is in use and the entry needs attention."""
    assert PROBES[name](spark, feed)


def run_all(spark: SparkSession, folder: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """Run a pipeline on a good, a bad and an empty file; returns the deliveries and the dead letters."""
    feed = folder / "feed"
    feed.mkdir(exist_ok=True)
    (feed / "good.xml").write_bytes(b"<a/>")
    (feed / "bad.xml").write_bytes(b"<a>")
    (feed / "empty.xml").write_bytes(b"")
    SubscriptionStore(folder / "subscriptions.db").subscribe("all", "/*")
    sinks = [{"path": "out/deliveries"}, {"kind": "jsonl", "path": "out/lines"}]
    pipeline = Pipeline.of({"sink": sinks}, folder=folder)
    run(spark, pipeline)
    assert run(spark, pipeline) == []
    delivered = spark.read.parquet(str(folder / "out" / "deliveries")).collect()
    letters = spark.read.parquet(str(folder / "out" / "dead-letters")).collect()
    assert len((folder / "out" / "lines" / "batch=0.jsonl").read_text().splitlines()) == len(delivered)
    return (
        [Path(row.doc_id).name for row in delivered],
        sorted((Path(row.doc_id).name, row.code) for row in letters),
    )


EXPECTED = (["good.xml"], [("bad.xml", "truncated"), ("empty.xml", "empty")])
AT_START = {"worker-daemon", "worker-interpreter", "submitted-settings", "gateway-process"}


@pytest.mark.parametrize("name", [None, "all", *sorted(PROBES.keys() - AT_START)])
def test_a_pipeline_runs_without_each_part(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    """Deliveries and dead letters are the same if one private part is hidden, and if all are."""
    hidden = set(PROBES) if name == "all" else {name} - {None}
    monkeypatch.setattr(private_api, "hidden", hidden)
    assert run_all(spark, tmp_path) == EXPECTED


SCRIPT = """
import sys
from pathlib import Path
from twigcast import spark as tc
from twigcast.spark.jvm import private_api
from twigcast.spark.jvm.checkpoint_files import batch_files
private_api.hidden |= set(sys.argv[2:])
spark = tc.session(master="local[2]")
sys.path.insert(0, sys.argv[1])
from test_private_api import EXPECTED, run_all
assert run_all(spark, Path.cwd()) == EXPECTED
print(spark.conf.get("spark.python.daemon.module", "default"))
spark.stop()
"""


@pytest.mark.spark
@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param([*PROBES], id="all"),
        pytest.param(["worker-daemon"], id="worker-daemon", marks=pytest.mark.soak),
        pytest.param(["worker-interpreter"], id="worker-interpreter", marks=pytest.mark.soak),
        pytest.param(["submitted-settings"], id="submitted-settings", marks=pytest.mark.soak),
    ],
)
def test_a_session_starts_without_a_part(tmp_path: Path, hidden: list[str]) -> None:
    """Answers are the same if the private parts that start a session are hidden, one by one and together."""
    environment = {**os.environ, "PYTHONPATH": str(Path(twigcast.__file__).parent.parent)}
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), *hidden]
    answer = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment, check=False
    )
    daemon = "default" if "worker-daemon" in hidden else "twigcast.spark.jvm.daemon"
    assert (answer.returncode, answer.stdout) == (0, f"{daemon}\n"), answer.stderr[-4000:]


def test_the_lock_of_a_process_excludes_others(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the JVM, Python holds the lock, and another process is refused."""
    monkeypatch.setattr(private_api, "hidden", {"jvm-file-lock"})
    lock(spark, tmp_path / "lock")
    lock(spark, tmp_path / "lock")
    monkeypatch.setattr(private_api, "hidden", set())
    with pytest.raises(RunError, match="another process runs this pipeline"):
        lock(spark, tmp_path / "lock", patience=0.3)  # now the JVM tries, which is another process


def test_remote_paths_are_found_without_hadoop(
    spark: SparkSession, feed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Hadoop's API, a read by Spark finds a path, and removing a remote folder is refused."""
    monkeypatch.setattr("twigcast.spark.jvm.filesystem.is_local", lambda spark, path: False)
    for hidden in (set(), {"hadoop-filesystem"}):
        monkeypatch.setattr(private_api, "hidden", hidden)
        assert exists(spark, str(feed))
        assert exists(spark, str(feed.parent), "fe[ae]d")
        assert not exists(spark, str(feed.parent), "foo*")
        assert is_file(spark, f"file:{feed}/good.xml")
        assert not is_file(spark, f"file:{feed}")
    with pytest.raises(MissingApi):
        remove(spark, str(feed))
    monkeypatch.setattr(private_api, "hidden", set())
    remove(spark, str(feed))
    assert not feed.exists()


def test_paths_are_local_by_their_scheme(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path without a scheme is on the default file system."""
    for hidden in (set(), {"hadoop-filesystem"}):
        monkeypatch.setattr(private_api, "hidden", hidden)
        answers = [is_local(spark, path) for path in ("/a", "file:/a", "file:///a", "s3a://b/a", "hdfs:/a")]
        assert answers == [True, True, True, False, False]


def test_errors_of_java_are_no_missing_parts(spark: SparkSession) -> None:
    """A missing method, class or attribute is a missing API; an exception of Java code is raised as it is."""
    jvm: Any = spark._jvm
    for missing in (
        lambda: jvm.java.lang.System.noSuchMethod(),
        lambda: jvm.org.apache.spark.NoSuchClass(),
        lambda: spark._no_such_attribute,  # type: ignore[attr-defined]
    ):
        with pytest.raises(MissingApi), using(REGISTRY[0]):
            missing()
    with pytest.raises(JvmError, match="IndexOutOfBoundsException"), using(REGISTRY[0]):
        jvm.java.util.ArrayList().get(5)
