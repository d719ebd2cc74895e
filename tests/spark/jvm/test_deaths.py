"""Processes of Spark are killed, and the error says which one has died and what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.processes import TWIGCAST, Group, write_pipeline
from twigcast import Index
from twigcast import spark as tc
from twigcast.errors import RunError, TwigcastError
from twigcast.spark.jvm.deaths import death

Command = Callable[..., tuple[int, str, str]]

KILLS = """
import os, signal

def parent(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(") ")[2].split()[1])

def worker(table):
    os.kill(os.getpid(), signal.SIGKILL)

def jvm(table):
    os.kill(parent(parent(os.getpid())), signal.SIGKILL)

def crash(table):
    import ctypes
    ctypes.string_at(0)
"""
PIPELINE = """
stream = { interval_seconds = 0.1 }
sink = { kind = "callable", function = "kills:KILLED" }
spark = { master = "local[1]", conf = { "spark.executorEnv.PYTHONPATH" = "FOLDER" } }
"""
WORKER_KILLED = (
    "a Python worker of Spark was killed, as systems do that run out of memory (dmesg would say so): let "
    "fewer workers run at a time (spark.master, such as local[2]), or set lower limits for documents"
)
JVM_KILLED = (
    "the JVM of Spark was killed, as systems do that run out of memory (dmesg would say so): lower the "
    "setting spark.driver.memory, or let fewer workers run at a time (spark.master, such as local[2])"
)


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """Run a command to its end in a session of its own; returns its exit code, stdout and stderr."""
    groups: list[Group] = []

    def run(words: list[str], pipeline: str = "") -> tuple[int, str, str]:
        (tmp_path / "kills.py").write_text(KILLS)
        write_pipeline(tmp_path, pipeline)
        groups.append(Group.start(words, tmp_path))
        out, err = groups[-1].process.communicate(timeout=120)
        return groups[-1].process.returncode, out, err

    yield run
    for group in groups:
        group.end()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("words", "killed", "said"),
    [
        (["run"], "jvm", f"error: {JVM_KILLED} (jvm-died)\n"),
        pytest.param(
            ["run", "--stream"], "worker", f"error: {WORKER_KILLED} (worker-died)\n", marks=pytest.mark.soak
        ),
        pytest.param(["run", "--stream"], "jvm", f"error: {JVM_KILLED} (jvm-died)\n", marks=pytest.mark.soak),
        pytest.param(["run"], "worker", f"error: {WORKER_KILLED} (worker-died)\n", marks=pytest.mark.soak),
    ],
)
def test_a_run_says_what_has_died(
    command: Command, tmp_path: Path, words: list[str], killed: str, said: str
) -> None:
    """The error is one line, and there is no trace of Java or Python."""
    pipeline = PIPELINE.replace("KILLED", killed).replace("FOLDER", str(tmp_path))
    assert command([*TWIGCAST, *words, "pipeline.toml"], pipeline) == (2, "", said)


LIBRARY = """
import os, signal
from pyspark import SparkContext
from pyspark.sql import SparkSession
from twigcast import Index, spark as tc
from twigcast.errors import TwigcastError

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
index = Index([("all", "/*")])
docs = tc.read(spark, os.path.abspath("feed"))
hits = tc.match(docs, index)
SparkContext._gateway.proc.kill()
for act in (lambda: tc.match(docs, index), lambda: tc.read(spark, "feed"), hits.collect):
    try:
        with tc.run_errors():
            act()
    except TwigcastError as error:
        print(error.code, error.message)
"""


@pytest.mark.spark
def test_functions_on_a_session_say_that_its_jvm_has_died(command: Command) -> None:
    """So do actions of a DataFrame, in a block of ``run_errors``."""
    code, out, err = command([sys.executable, "-c", LIBRARY])
    assert (code, out) == (0, f"jvm-died {JVM_KILLED}\n" * 3), err


OUT_OF_MEMORY = """
from twigcast import spark as tc
spark = tc.session(master="local[1]", conf={"spark.driver.memory": "500m"})
with tc.run_errors():
    spark.sql("select concat_ws('', collect_list(repeat('x', 20000000))) a from range(100)").collect()
"""


@pytest.mark.spark
@pytest.mark.soak
def test_a_jvm_without_memory_says_which_setting_to_raise(command: Command) -> None:
    """The JVM ends by itself if its heap is full."""
    code, _, err = command([sys.executable, "-c", OUT_OF_MEMORY])
    assert code == 1
    assert err.splitlines()[-1] == (
        "twigcast.errors.RunError: the JVM of Spark ran out of memory: raise the setting "
        "spark.driver.memory, such as 4g (spark.executor.memory on a cluster)"
    )


def test_a_worker_that_was_killed_is_named(spark: SparkSession) -> None:
    """The worker of any action in a session of the user, also after the stages of twigcast."""
    hits = tc.match(
        spark.createDataFrame([("a", b"<a/>")], "doc_id string, body binary"), Index([("all", "/*")])
    )

    def kill(batches):  # type: ignore[no-untyped-def]
        import os

        for _ in batches:
            os.kill(os.getpid(), 9)
            yield _

    with pytest.raises(RunError) as caught, tc.run_errors():
        hits.mapInArrow(kill, hits.schema).collect()
    assert (caught.value.code, caught.value.message) == ("worker-died", WORKER_KILLED)
    assert len(hits.collect()) == 1


def test_a_worker_that_crashed_says_how(spark: SparkSession) -> None:
    """The reason is the one that Python gives before it ends."""

    def crash(batches):  # type: ignore[no-untyped-def]
        import faulthandler

        for _ in batches:
            faulthandler._sigsegv()
            yield _

    with pytest.raises(RunError) as caught, tc.run_errors():
        spark.range(1).mapInArrow(crash, "id long").collect()
    assert caught.value.message == (
        "a Python worker of Spark died: Segmentation fault (stderr has its trace)"
    )


def test_an_executor_that_was_lost_says_why() -> None:
    """On a cluster the reason is that of its manager."""
    text = (
        "Job aborted due to stage failure: Task 3 in stage 7.0 failed 4 times, most recent failure: Lost "
        "task 3.3 in stage 7.0 (node2 executor 5): ExecutorLostFailure (executor 5 exited caused by one of "
        "the running tasks) Reason: Container killed by YARN for exceeding memory limits.\nDriver"
    )
    found = death(Exception(text))
    assert found is not None
    assert found.message == (
        "executor 5 of Spark was lost: Container killed by YARN for exceeding memory limits. (its log "
        "says more)"
    )


def test_other_errors_are_no_deaths(spark: SparkSession) -> None:
    """An error of an expression is told as before."""
    with pytest.raises(TwigcastError, match="DIVIDE_BY_ZERO") as caught, tc.run_errors():
        spark.sql("select raise_error('[DIVIDE_BY_ZERO] no')").collect()
    assert caught.value.code == "run-failed"
