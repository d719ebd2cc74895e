"""A Spark session that starts fast, stays quiet, and whose workers know twigcast."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.spark.jvm.java import cache_folder, java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.worker.reuse": "true",
    "spark.python.worker.faulthandler.enabled": "true",
    # A batch of documents is handed to the kernel as one array: large enough that its cost per document is
    # small, small enough that several fit into a worker beside each other.
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    # Rows are documents: by Spark's own 4,096 a column would be tens of megabytes, copied as it grows.
    # Reading 148 MB of Parquet took 1.15 s so, and takes 0.40 s.
    "spark.sql.parquet.columnarReaderBatchSize": "64",
    "spark.sql.adaptive.enabled": "false",
}
"""What is set where neither the caller nor spark-submit says otherwise."""

LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    # Over TCP a task waits 40 ms for the acknowledgement of a short message: 29 ms for an empty task on each
    # of two cores, and 11 so.
    "spark.python.unix.domain.socket.enabled": "true",
    # What opening a file counts for when files are dealt to tasks.  By Spark's own 4 MB a task has 31 small
    # files, and takes longer to start than to match them: 10,000 of them took three times as long.
    "spark.sql.files.openCostInBytes": "64k",
}
"""What is set beside it where everything runs on this machine."""


def session(
    name: str = "twigcast", master: str | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """A session on what ``spark-submit`` says, else on ``master``, else on all cores of this machine.

    Of the settings too, those of ``spark-submit`` stand above ``conf``.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if submitted:
        SparkContext._ensure_initialized()  # else what was submitted is not known here, and overwritten
    else:
        os.environ["JAVA_HOME"] = str(java_home())
    settings = SparkConf()
    asked = {**(conf or {}), **({"spark.master": master} if master is not None else {})}
    for key, value in asked.items():
        if not (submitted and settings.contains(key)):
            settings.set(key, str(value))
    settings.setIfMissing("spark.app.name", name)
    settings.setIfMissing("spark.master", "local[*]")
    defaults = dict(SETTINGS)
    if settings.get("spark.master", "local").startswith("local"):
        defaults |= LOCAL_SETTINGS
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
        defaults["spark.executorEnv.PYTHONPATH"] = _import_path()
        defaults["spark.python.daemon.module"] = "twigcast.spark.jvm.daemon"
    if not submitted:
        defaults["spark.driver.extraJavaOptions"] = _java_options()
    for key, value in defaults.items():
        settings.setIfMissing(key, value)
    spark = SparkSession.builder.config(conf=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


COMPILING = {
    "Tier4InvocationThreshold": 200_000,
    "Tier4MinInvocationThreshold": 24_000,
    "Tier4CompileThreshold": 600_000,
    "Tier4BackEdgeThreshold": 1_600_000,
}
"""When the JVM compiles a method for the second time, optimising: forty times as late as by itself.

What runs for each row is there soon.  By default what plans and schedules a job is there too, bit by bit:
while 50,000 documents were matched in 6 s, that took 0.5 s of a core still in the sixth pass, and takes 0.15.
"""


def _java_options() -> str:
    options = [f"-XX:{name}={value}" for name, value in COMPILING.items()]
    if (quiet := _quiet_logging()) is not None:
        options.append(f"-Dlog4j2.configurationFile={quiet.as_uri()}")
    return " ".join(options)


_LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
"""


def _quiet_logging() -> Path | None:
    """A file that lets Spark speak of errors only, from its first moment on; none where none can be kept."""
    path = cache_folder() / "log4j2-quiet.properties"
    try:
        if not path.is_file() or path.read_text() != _LOGGING:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            part = path.with_suffix(f".{os.getpid()}")
            part.write_text(_LOGGING)
            part.replace(path)
    except OSError:
        return None
    return path


def _import_path() -> str:
    """Where workers find twigcast, also when it is run from a source tree."""
    import twigcast

    source = str(Path(twigcast.__file__).resolve().parent.parent)
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join([source, *(path for path in inherited if path and path != source)])
