"""The registry of the private parts of Spark that twigcast uses, each with its purpose and its fallback.

    try:
        with using(JVM_FILE_LOCK):
            …                       # the private way
    except MissingApi:
        …                           # the public way

A canary test checks that each entry exists in the installed version, and hides each in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrivateApi:
    """A private part of Spark: what it is, what it is used for, and the fallback without it."""

    name: str
    what: str
    purpose: str
    fallback: str


JVM_FILE_LOCK = PrivateApi(
    "jvm-file-lock",
    "SparkSession._jvm: java.io.RandomAccessFile, java.nio FileChannel.tryLock, ProcessHandle",
    "The lock of a work folder is held until the JVM ends, which may outlive a killed Python process.",
    "The Python process holds the lock (fcntl): a restart within the moment until the JVM has ended could "
    "meet a write that is still under way.",
)
HADOOP_FILESYSTEM = PrivateApi(
    "hadoop-filesystem",
    "SparkSession._jvm: org.apache.hadoop.fs.Path; SparkSession._jsc.hadoopConfiguration()",
    "Looks for remote files and removes them, with the file systems and credentials that Spark has.",
    "A read by Spark's binaryFile format answers whether a path exists; an empty table replaces what would "
    "have been removed.  Local paths never need it.",
)
FILE_INDEX = PrivateApi(
    "file-index",
    "DataFrame._jdf.queryExecution().analyzed(): LogicalRelation, FileIndex, FileStatus.toString",
    "Finds the empty files that Spark lists and then leaves out, and the size of all, without a Spark job.",
    "DataFrame.inputFiles() minus the paths that are read, which is one Spark job.",
)
MICRO_BATCH_PLAN = PrivateApi(
    "micro-batch-plan",
    "StreamingQuery._jsq.streamingQuery().lastExecution(); the local property sql.streaming.queryId",
    "Finds the empty files of exactly the files that Spark put into a micro-batch.",
    "The source is listed again for every batch; empty files that no earlier batch took belong to this one.",
)
STREAM_LOGGER = PrivateApi(
    "stream-logger",
    "SparkSession._jvm: org.apache.logging.log4j; the logger name of MicroBatchExecution",
    "Keeps Spark from logging 200 lines about an error that is raised as one sentence.",
    "Spark logs them.",
)
WORKER_DAEMON = PrivateApi(
    "worker-daemon",
    "the setting spark.python.daemon.module; pyspark.daemon.manager; pyspark.worker",
    "Forks Python workers from a process that has imported everything: saves each worker about a second.",
    "Spark's own daemon.",
)
WORKER_INTERPRETER = PrivateApi(
    "worker-interpreter",
    "SparkContext.pythonExec, SparkContext.environment",
    "Local workers of a session that the user made run the driver's Python, not any python3 on the path.",
    "If the workers' Python cannot import twigcast, a StageError says to set PYSPARK_PYTHON.",
)
SUBMITTED_SETTINGS = PrivateApi(
    "submitted-settings",
    "the environment variable PYSPARK_GATEWAY_PORT; SparkContext._ensure_initialized()",
    "Reads what spark-submit set before the session is built, so that it takes precedence.",
    "The session is built as spark-submit asks, and then gets those settings that can still be changed.",
)
PY4J_ERRORS = PrivateApi(
    "py4j-errors",
    "py4j.protocol.Py4JError",
    "Errors of the JVM that PySpark does not translate become one sentence.",
    "They come out as they are.",
)
CHECKPOINT_LOG = PrivateApi(
    "checkpoint-log",
    "the folders sources/0 and offsets of a checkpoint: JSON lines with path and batchId, logOffset",
    "Finds the files that past batches had, where Spark lists the source, for replays.",
    "Such a replay is refused; run the pipeline with another work folder instead.",
)
GATEWAY_PROCESS = PrivateApi(
    "gateway-process",
    "pyspark.java_gateway.Popen; SparkContext._gateway.proc, _jvm, _active_spark_context",
    "Ends the JVM when a command is interrupted, also while it starts; says that a JVM has died, and how.",
    "A signal is held until Spark has started, and the session is then stopped; a JVM that has died is a "
    "refused connection.",
)


hidden: set[str] = set()
"""Names of entries to treat as missing; tests add them."""


class MissingApi(Exception):
    """A private part of Spark does not exist in this version; the caller uses its fallback."""


@contextmanager
def using(api: PrivateApi) -> Iterator[None]:
    """Run a block that uses a private part of Spark; raises ``MissingApi`` if that part does not exist.

    Exceptions of Java code and a lost connection to the JVM are raised unchanged.
    """
    if api.name in hidden:
        raise MissingApi(api.name)
    try:
        yield
    except (AttributeError, ImportError, TypeError) as error:
        raise MissingApi(f"{api.name}: {error}") from error
    except Exception as error:
        from twigcast.spark.jvm.errors import JvmError

        if type(error) is JvmError:  # py4j found no such method; for everything else it has subclasses
            raise MissingApi(f"{api.name}: {error}") from error
        raise
