"""Starts the JVM of a session so that no signal leaves it behind, and ends it.

PySpark waits until its JVM has written a file.  If it is interrupted meanwhile, it deletes the folder of that
file; the JVM then fails to write it, prints a trace, and lives for ever, because only afterwards would it
wait for the end of Python.  So signals are held while Spark starts, and the JVM is told to end.

An interrupted session is not stopped as usual either: a call to the JVM that was cut off leaves its answer to
the next call.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

from twigcast.spark.jvm.private_api import GATEWAY_PROCESS, MissingApi, using

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE_SECONDS = 5.0
"""How long a JVM may take to end by itself: it deletes its temporary files and leaves its cluster."""

Process = subprocess.Popen[bytes]


@contextmanager
def starting_jvm() -> Iterator[None]:
    """End the JVM that the block starts if SIGINT, SIGTERM or Ctrl-C in a notebook comes meanwhile.

    The signal then acts as it would have before.  A signal for which there is a handler is left to that.
    """
    launched: list[Process] = []

    def stop(count: int) -> None:
        for process in launched:
            process.terminate() if count == 1 else process.kill()

    silence_calls()
    with holding_signals(stop) as asked:
        try:
            with _noting(launched, asked):
                yield
        except Exception:
            if not asked:
                raise
        except BaseException:
            _end(launched)
            raise
        if asked:
            _end(launched)


@contextmanager
def holding_signals(act: Callable[[int], None]) -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM during the block, and let them act as usual after it.

    ``act`` is called with the number of signals so far.  A signal that has another handler is left to that.
    """
    asked: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        act(len(asked))

    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    held = [number for number, handler in usual.items() if signal.getsignal(number) is handler]
    for number in held:
        signal.signal(number, hold)
    try:
        yield asked
    finally:
        for number in held:
            if signal.getsignal(number) is hold or asked:  # a new context has a handler of its own
                signal.signal(number, usual[number])
        if asked:
            signal.raise_signal(asked[0])


@contextmanager
def plain_interrupts() -> Iterator[None]:
    """Let SIGINT only raise ``KeyboardInterrupt`` in the block.

    The handler of PySpark also calls the JVM, which fails if the signal came during another call.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)


def silence_calls() -> None:
    """Keep py4j from printing a trace of each call that is cut off because the JVM ends; it raises them too.

    This is for good, because threads of py4j print such traces until the process ends.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_of_others)
    warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM", RuntimeWarning)


def _is_of_others(record: logging.LogRecord) -> bool:
    return f"{os.sep}py4j{os.sep}" not in record.pathname


def stop_session(spark: SparkSession) -> None:
    """Stop the queries of a session, and then the session itself; a signal meanwhile ends its JVM."""
    found = jvm_process()

    def stop(count: int) -> None:
        if found is not None:
            found.terminate() if count == 1 else found.kill()

    with holding_signals(stop) as asked:
        try:
            for query in spark.streams.active:
                query.stop()
            spark.stop()
        except Exception:
            if found is not None and (asked or found.poll() is not None):
                end_session(spark)  # the error that ended the block, or the signal, says why
            else:
                raise


def end_session(spark: SparkSession) -> None:
    """End a session that was interrupted during a call, or whose JVM has died; others end their own JVM."""
    found = jvm_process()
    if found is None:
        stop_session(spark)
        return
    with holding_signals(lambda count: found.kill()):
        _end([found])
        with suppress(Exception):
            spark.stop()
        _forget()


def jvm_process() -> Process | None:
    """The JVM that this process has started; none if it was started by others, or not at all."""
    with suppress(MissingApi), using(GATEWAY_PROCESS):
        from pyspark import SparkContext

        found: Process | None = getattr(SparkContext._gateway, "proc", None)
        return found
    return None


@contextmanager
def _noting(launched: list[Process], asked: list[int]) -> Iterator[None]:
    """Append the process of each JVM that PySpark starts in the block, and end it if a signal came before."""
    try:
        with using(GATEWAY_PROCESS):
            from pyspark import java_gateway

            gateway: Any = java_gateway
            former = gateway.Popen
    except MissingApi:
        yield
        return

    def start(*args: Any, **options: Any) -> Process:
        process: Process = former(*args, **options)
        launched.append(process)
        if asked:
            process.terminate()
        return process

    gateway.Popen = start
    try:
        yield
    finally:
        gateway.Popen = former


def _end(processes: list[Process]) -> None:
    for process in processes:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if processes:
        _forget()


def _forget() -> None:
    """Let PySpark start a new JVM when it needs one."""
    with suppress(MissingApi), using(GATEWAY_PROCESS):
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None
