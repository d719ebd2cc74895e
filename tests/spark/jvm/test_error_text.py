"""The one sentence in a long message of Spark."""

from __future__ import annotations

import pytest

from twigcast.spark.jvm.error_text import complaint


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("one line", "one line"),
        ("first\n\tat a.b.C\n", "first"),
        ("Job aborted\nTraceback (most recent call last):\n  File\nValueError: bad\n", "ValueError: bad"),
        (
            "An error occurred while calling o1.load.\n: a.B: job\n\tat a.b\nCaused by: a.C: x is bad\n",
            "x is bad",
        ),
        ("An error occurred while calling o1.load.\n: a.B: no such thing\n\tat a.b.C\n", "no such thing"),
        (
            "Traceback (most recent call last):\np.Py4JJavaError: An error occurred while calling o1.load.\n"
            ": a.B: job\nCaused by: a.C: x is bad\n"
            "Caused by: p.P: An exception was raised by the Python Proxy.\n",
            "x is bad",
        ),
        ("x" * 5000, "x" * 599 + "…"),
    ],
)
def test_a_complaint_is_one_sentence(text: str, sentence: str) -> None:
    """It is the last line of a Python traceback, the last cause of a Java exception, or the first line."""
    assert complaint(text) == sentence
