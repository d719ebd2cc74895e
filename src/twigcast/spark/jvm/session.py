"""Starts a Spark session with settings for documents, whose workers can import twigcast, and which logs only
errors.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.errors import ExtraError, StageError
from twigcast.spark.jvm.gateway import starting_jvm
from twigcast.spark.jvm.java import java_home, launching_home, private_folder
from twigcast.spark.jvm.private_api import SUBMITTED_SETTINGS, WORKER_DAEMON, MissingApi, using
from twigcast.spark.jvm.workers import import_path
from twigcast.system import write_atomically

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.python.worker.reuse": "true",
    "spark.python.worker.faulthandler.enabled": "true",
    # A batch of documents is handed to the kernel as one array: large enough that its cost per document is
    # small, small enough that a worker can have several at a time.
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",
    # Rows are documents: with Spark's default of 4,096, a column has tens of megabytes and is copied as it
    # grows.  Reading 148 MB of Parquet takes 0.40 s instead of 1.15 s.
    "spark.sql.parquet.columnarReaderBatchSize": "64",
    "spark.sql.adaptive.enabled": "false",
}
"""Defaults for settings that neither the caller nor spark-submit gives."""

LOCAL_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    # Over TCP a task waits 40 ms for the acknowledgement of a short message: an empty task on each of two
    # cores takes 11 ms instead of 29 ms.
    "spark.python.unix.domain.socket.enabled": "true",
    # The cost of opening a file, in bytes, when Spark divides files among tasks.  With its default of 4 MB a
    # task has 31 small files and takes longer to start than to match them: 10,000 files took three times as
    # long.
    "spark.sql.files.openCostInBytes": "64k",
}
"""Further defaults for a local master."""

CONNECT_SECONDS = 10.0  # until a master that does not answer is taken to be gone
MASTER_EXPECTED = 'expected "local[*]", "spark://host:port", "yarn" or "k8s://…"'
_MASTER = re.compile(
    r"local(\[\s*(\d+|\*)\s*(,\s*\d+\s*)?\])?|local-cluster\[[\d\s,]+\]|(spark|k8s|mesos)://.+|yarn"
)

DAEMON = "twigcast.spark.jvm.daemon"


def session(
    name: str = "twigcast", master: str | None = None, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """Start a session, or return the active one.

    The master is that of ``spark-submit``, else ``master``, else all cores of this machine.  Settings of
    ``spark-submit`` take precedence over ``conf``, and both over the defaults of this module.
    """
    if find_spec("pyspark") is None:
        raise ExtraError("pyspark", extra="spark")
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    asked = {**(conf or {}), **({"spark.master": master} if master is not None else {})}
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if submitted:
        try:
            settings = _submitted_settings()
        except MissingApi:
            return _adjusted(SparkSession.builder.getOrCreate(), {**SETTINGS, **asked})
        asked = {key: value for key, value in asked.items() if not settings.contains(key)}
    else:
        settings = SparkConf()
    for key, value in asked.items():
        settings.set(key, str(value))
    settings.setIfMissing("spark.app.name", name)
    settings.setIfMissing("spark.master", "local[*]")
    defaults = dict(SETTINGS)
    if settings.get("spark.master", "local").startswith("local"):
        defaults |= LOCAL_SETTINGS | _worker_settings()
    if not submitted and (quiet := _quiet_logging()) is not None:
        defaults["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={quiet.as_uri()}"
    for key, value in defaults.items():
        settings.setIfMissing(key, value)
    if submitted:
        spark = SparkSession.builder.config(conf=settings).getOrCreate()
    else:
        check_master(str(settings.get("spark.master")))
        home = java_home()
        os.environ["JAVA_HOME"] = str(launching_home(home))
        try:
            with starting_jvm():
                spark = SparkSession.builder.config(conf=settings).getOrCreate()
        finally:
            os.environ["JAVA_HOME"] = str(home)
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def check_master(master: str) -> None:
    """Raise ``StageError`` if there is no such master; Spark would say so with a trace, or after a minute."""
    if not is_master(master):
        raise StageError(f"{MASTER_EXPECTED} as the master of Spark, got {master!r}", code="master")
    if master == "yarn" and not ({"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & set(os.environ)):
        raise StageError(
            "the master of Spark is yarn, but neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set: one of them "
            "must name the folder with the configuration of the cluster",
            code="master",
        )
    if not master.startswith("spark://"):
        return
    problems: list[str] = []
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
        except (OSError, ValueError, OverflowError) as error:
            problems.append(f"{place}: {getattr(error, 'strerror', None) or error}")
        else:
            return
    raise StageError(f"the master of Spark cannot be reached: {'; '.join(problems)}", code="master")


def is_master(text: str) -> bool:
    """Whether a text has the form of a master of Spark."""
    return _MASTER.fullmatch(text) is not None


def _submitted_settings() -> SparkConf:
    """The settings of spark-submit, which the JVM knows; raises ``MissingApi``."""
    from pyspark import SparkConf, SparkContext

    with using(SUBMITTED_SETTINGS):
        SparkContext._ensure_initialized()
        return SparkConf()


def _adjusted(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    """Apply to a session those settings that are not set yet and can still be changed."""
    known = dict(spark.sparkContext.getConf().getAll())
    for key, value in settings.items():
        if key not in known and spark.conf.isModifiable(key):
            spark.conf.set(key, value)
    return spark


def _worker_settings() -> dict[str, str]:
    """Settings with which local workers can import twigcast; also sets environment variables for them."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    settings = {"spark.executorEnv.PYTHONPATH": import_path()}
    with suppress(MissingApi), using(WORKER_DAEMON):
        from pyspark import daemon

        if callable(daemon.manager) and find_spec("pyspark.worker") is not None:
            settings["spark.python.daemon.module"] = DAEMON
    return settings


# Without the traces of Java: an error is raised in Python, and the exception has its trace.  Two classes
# would complain of a context that is stopped while it starts.
_LOGGING = """\
status = error
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex{none}
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.context.name = org.apache.spark.SparkContext
logger.context.level = off
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = off
"""


def _quiet_logging() -> Path | None:
    """The path of a log4j configuration for errors only; none if it cannot be written."""
    try:
        path = private_folder() / "log4j2-quiet.properties"
        if path.is_symlink() or not path.is_file() or path.read_text() != _LOGGING:
            write_atomically(path, _LOGGING.encode())
    except OSError:
        return None
    return path
