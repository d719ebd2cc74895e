"""The base class of the errors that py4j raises for the JVM."""

from __future__ import annotations

from twigcast.spark.jvm.private_api import PY4J_ERRORS, MissingApi, using

try:
    with using(PY4J_ERRORS):
        from py4j import protocol

        JvmError: type[Exception] = protocol.Py4JError
except MissingApi:  # then errors of the JVM are not translated
    JvmError = type("JvmError", (Exception,), {})
