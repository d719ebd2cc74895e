"""Finds the one sentence in an error message of Spark that says what is wrong.

An error in a worker or in the JVM reaches the driver as up to two hundred lines of traces in an undocumented
format.  The fallback for an unknown format is the first line.
"""

from __future__ import annotations

import re

LONGEST = 600  # characters of a sentence
_CALLED = "An error occurred while calling"  # how py4j reports an error in Java
_CALLED_BACK = "An exception was raised by the Python Proxy"  # how Java reports an error in Python


def complaint(text: str) -> str:
    """The sentence in a message of Spark, without the trace.

    That is the last line of a Python traceback, the last cause of a Java exception, or the first line.
    """
    raised = re.findall(
        r"^(?:pyspark\.\S+: )?((?:\w+\.)*\w*(?:Error|Exception|Warning): .*)$", text, re.MULTILINE
    )
    python = "Traceback (most recent call last)" in text
    causes = re.findall(r"^(?:Caused by)?: (?:[\w.$]+: )?(.+)$", text, re.MULTILINE)
    causes = [cause for cause in causes if not cause.startswith(_CALLED_BACK)]
    if python and raised and _CALLED not in raised[-1]:
        sentence = raised[-1]
    elif _CALLED in text and causes:
        sentence = causes[-1]
    else:
        sentence = text.strip().partition("\n")[0]
    return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1]}…"
