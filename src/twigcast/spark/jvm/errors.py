"""The base class of the errors that py4j raises for the JVM."""

from __future__ import annotations

try:
    from py4j import protocol

    JvmError: type[Exception] = protocol.Py4JError
except (ImportError, AttributeError):  # then errors of the JVM are not translated
    JvmError = type("JvmError", (Exception,), {})
