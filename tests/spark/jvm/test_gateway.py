"""Signals to real processes, while Spark starts and later: no JVM is left behind, and nothing is printed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.spark.processes import TWIGCAST, Group, write_pipeline

pytestmark = pytest.mark.spark
Started = Callable[..., Group]

LAUNCHED = "spark"  # a shell script that becomes the JVM, a Java that makes its command line, or the JVM
JVM = "--add-opens"
"""What only the command line of the JVM has, and that of the script before it has not."""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    """Start a command of twigcast on a small pipeline, or any other one."""
    groups: list[Group] = []

    def start(*words: str, command: list[str] | None = None) -> Group:
        write_pipeline(tmp_path)
        groups.append(Group.start(command or [*TWIGCAST, *words], tmp_path))
        return groups[-1]

    yield start
    for group in groups:
        group.end()


def wait_for(group: Group, words: str, seconds: float) -> None:
    """Wait until the group has a process with these words, and then for some seconds."""
    deadline = time.monotonic() + 60
    while not group.find(words):
        assert group.process.poll() is None, group.process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(seconds)


def ended(group: Group) -> tuple[int, str]:
    """The exit code and stderr of a command, after which none of its processes may survive."""
    _, said = group.process.communicate(timeout=60)
    deadline = time.monotonic() + 10
    while left := group.alive():
        assert time.monotonic() < deadline, left
        time.sleep(0.05)
    return group.process.returncode, said


@pytest.mark.parametrize(
    ("words", "number", "at", "seconds"),
    [
        pytest.param(["run"], signal.SIGINT, LAUNCHED, 0.0, id="run-first"),
        pytest.param(["run", "--stream"], signal.SIGINT, JVM, 0.0, id="stream-jvm"),
        pytest.param(["dead-letters", "--retry"], signal.SIGINT, JVM, 1.2, id="retry-context"),
        pytest.param(["replay"], signal.SIGINT, JVM, 0.5, id="replay-gateway", marks=pytest.mark.soak),
        pytest.param(["run"], signal.SIGINT, JVM, 2.5, id="run-session", marks=pytest.mark.soak),
        pytest.param(["run"], signal.SIGTERM, LAUNCHED, 0.0, id="term-first", marks=pytest.mark.soak),
        pytest.param(["run", "--stream"], signal.SIGTERM, JVM, 0.5, id="term-gateway"),
        *(
            pytest.param(["run"], number, LAUNCHED, tenths / 10, marks=pytest.mark.soak)
            for number in (signal.SIGINT, signal.SIGTERM)
            for tenths in range(0, 60, 3)
        ),
    ],
)
def test_a_signal_while_spark_starts_leaves_nothing(
    started: Started, tmp_path: Path, words: list[str], number: int, at: str, seconds: float
) -> None:
    """A command that is told to stop ends its JVM and says nothing of Spark."""
    group = started(*words, "pipeline.toml")
    wait_for(group, at, seconds)
    if group.process.poll() is None:
        if number == signal.SIGINT:
            group.signal(number)
        else:
            os.kill(group.process.pid, number)
    code, said = ended(group)
    assert "Traceback" not in said
    assert "\tat " not in said
    assert "error" not in said.lower()
    if number == signal.SIGINT and code:
        assert code == 130
        assert said.endswith("Interrupted.\n")
    assert [path.name for path in (tmp_path / "tmp").glob("tmp*")] == []


@pytest.mark.soak
def test_a_supervisor_may_tell_all_processes_to_end(started: Started) -> None:
    """A stream whose JVM was told to end as well has ended well."""
    group = started("run", "--stream", "pipeline.toml")
    assert group.process.stdout is not None
    group.process.stdout.readline()
    group.signal(signal.SIGTERM)
    code, said = ended(group)
    assert (code, "error: " in said) == (0, False), said


@pytest.mark.parametrize(
    "seconds", [0.4, *(pytest.param(seconds, marks=pytest.mark.soak) for seconds in (0.0, 1.2, 2.4))]
)
def test_a_second_ctrl_c_leaves_nothing_either(started: Started, seconds: float) -> None:
    """Somebody who presses Ctrl-C until the prompt is back has the prompt, and no JVM."""
    group = started("run", "pipeline.toml")
    wait_for(group, LAUNCHED, seconds)
    for _ in range(6):
        group.signal(signal.SIGINT)
        time.sleep(0.03)
        if group.process.poll() is not None:
            break
    assert ended(group) == (130, "Interrupted.\n")


@pytest.mark.parametrize(
    ("at", "seconds"), [pytest.param(LAUNCHED, 0.0, marks=pytest.mark.soak), (JVM, 0.0), (JVM, 2.0)]
)
def test_a_jvm_ends_when_its_command_was_killed(started: Started, at: str, seconds: float) -> None:
    """It reads the standard input that its command has opened, and ends with that."""
    group = started("run", "--stream", "pipeline.toml")
    wait_for(group, at, seconds)
    os.kill(group.process.pid, signal.SIGKILL)
    assert ended(group)[0] == -signal.SIGKILL


AGAIN = """
import _thread, threading, time
from twigcast import spark as tc
from twigcast.spark.jvm import gateway
threading.Timer(1.0, _thread.interrupt_main).start()
try:
    tc.session(master="local[1]")
    raise SystemExit("not interrupted")
except KeyboardInterrupt:
    print("interrupted", flush=True)
spark = tc.session(master="local[1]")
print(spark.range(3).count())
spark.stop()
"""


def test_a_notebook_can_start_again(started: Started) -> None:
    """After an interrupted start the next one has a JVM of its own."""
    group = started(command=[sys.executable, "-c", AGAIN])
    said, errors = group.process.communicate(timeout=60)
    assert said == "interrupted\n3\n", errors
