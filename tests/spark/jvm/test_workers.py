"""A session that the user made, with no setting of twigcast, has the same answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import twigcast
from twigcast.spark.jvm.java import java_home
from twigcast.spark.jvm.workers import import_path

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from pyspark.sql import SparkSession
from twigcast import Index, spark as tc
from twigcast.errors import StageError
from twigcast.spark.jvm import private_api
spark = SparkSession.builder.master("local[2]").getOrCreate()
index = Index([("ada", "//b"), ("bob", "/a")])
for hidden in ({}, *({each} for each in sys.argv[3:])):
    private_api.hidden = hidden
    try:
        docs = tc.read(spark, sys.argv[2])
        hits = tc.match(docs, index)
        outs = tc.deliveries(hits, index)
        print(sorted((row.subscriber, row.doc_id[-5:]) for row in outs.collect()))
        print([row.code for row in tc.dead_letters(hits).collect()])
        print(tc.match(docs.select("doc_id", "body"), index).where("size(matches) = 2").count())
    except StageError as error:
        print(error.code, error)
spark.stop()
"""


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    """A folder with two good documents and a broken one."""
    (tmp_path / "feed").mkdir()
    for name, body in (("1.xml", b"<a><b/></a>"), ("2.xml", b"<a/>"), ("3.xml", b"<a>")):
        (tmp_path / "feed" / name).write_bytes(body)
    return tmp_path / "feed"


@pytest.fixture
def other_python(tmp_path: Path) -> Path:
    """A ``python3`` that cannot import twigcast."""
    program = tmp_path / "bin" / "python3"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'no twigcast here' >&2\nexit 1\n")
    program.chmod(0o755)
    return program


def answers(feed: Path, other_python: Path, *hidden: str, **variables: str) -> list[str]:
    """The output of the program if the other Python is the first on the path."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYSPARK", "SPARK", "PYTHON"))
    }
    environment |= {"PATH": f"{other_python.parent}:{os.environ['PATH']}", "JAVA_HOME": str(java_home())}
    source = str(Path(twigcast.__file__).parent.parent)
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT, source, str(feed), *hidden],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment | variables,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr[-4000:]
    return answer.stdout.splitlines()


@pytest.mark.spark
def test_workers_run_the_python_of_the_driver(feed: Path, other_python: Path) -> None:
    """Workers run the driver's Python if no variable is set and another Python is first on the path."""
    assert answers(feed, other_python) == [
        "[('ada', '1.xml'), ('bob', '1.xml'), ('bob', '2.xml')]",
        "['truncated']",
        "1",
    ]


@pytest.mark.spark
def test_a_python_that_lacks_twigcast_is_named(feed: Path, other_python: Path) -> None:
    """One sentence says which Python the workers run, and what to set, with and without the private API."""
    sentences = answers(feed, other_python, "worker-interpreter", PYSPARK_PYTHON=str(other_python))
    sentence = (
        f"workers Spark's workers run {other_python}, which cannot import twigcast: set the environment "
        f"variable PYSPARK_PYTHON to {sys.executable} before the session is started"
    )
    assert sentences == [sentence, sentence]


def test_the_import_path_begins_with_the_running_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The entries that the user has in ``PYTHONPATH`` are kept after the path of twigcast."""
    source = str(Path(twigcast.__file__).resolve().parent.parent)
    monkeypatch.setenv("PYTHONPATH", f"/elsewhere:{source}")
    assert import_path() == f"{source}:/elsewhere"
