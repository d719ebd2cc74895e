"""The program as a whole: its help, its version, its start-up, and its exit codes."""

from __future__ import annotations

import json
import os
import pyexpat
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from twigcast.cli.program import app

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]
TWIGCAST = [sys.executable, "-c", "from twigcast.cli import main; main()"]


def commands(command: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The words of every command line, including the commands of groups."""
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *path, name)


ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_examples_to_copy(run: RunCommand, path: tuple[str, ...]) -> None:
    """The help of a command ends with examples, whose lines fit into 80 columns."""
    done = run(*path, "--help")
    assert done.exit_code == 0
    shown = [line.strip() for line in done.lines]
    examples = [line.strip() for line in ALL[path].epilog.replace(r"\[", "[").splitlines()[2:]]
    assert examples
    assert [example for example in examples if example not in shown] == []


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_help_names_no_types_of_python(run: RunCommand, path: tuple[str, ...]) -> None:
    """A switch has no value, and an argument is what its help says."""
    shown = run(*path, "--help").stdout
    assert [word for word in ("<bool>", "list[", "<path>", "{") if word in shown] == []
    assert f"Usage: {' '.join(('twigcast', *path))} [OPTIONS]" in shown.replace(
        "Usage: root", "Usage: twigcast"
    )


def test_paragraphs_of_help_fill_the_line(run: RunCommand) -> None:
    """The line ends of a docstring are not those of the terminal."""
    shown = run("match", "--help").stdout
    assert "On a terminal the answer is a table. Piped, it is one line for each match:" in shown


@pytest.mark.parametrize(
    ("path", "usage"),
    [
        (["match"], "[OPTIONS] DOCUMENT..."),
        (["subscriptions"], "[OPTIONS] [PIPELINE]"),
        (["unsubscribe"], "[OPTIONS] [PIPELINE] ID..."),
        (["schema", "compare"], "[OPTIONS] AUTOMATIC HAND"),
    ],
)
def test_the_line_of_usage_has_the_arguments_as_they_are_written(
    run: RunCommand, path: list[str], usage: str
) -> None:
    """Without braces, and with brackets around what may be left out."""
    (line,) = [line for line in run(*path, "--help").lines if "Usage:" in line]
    assert line.rstrip().endswith(f" {' '.join(path)} {usage}")


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_option_is_explained(path: tuple[str, ...]) -> None:
    """Every option and argument has a help text."""
    assert [parameter.name for parameter in ALL[path].params if not parameter.help] == []


def test_the_version_is_that_of_the_package(run: RunCommand) -> None:
    """``--version`` prints name and version, and the versions of Python, both expats and PySpark."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    *lines, pyspark = run("--version").lines
    names = dict(line.rsplit(" ", 1) for line in lines)
    assert names["twigcast"] == project["version"]
    assert list(names) == ["twigcast", "Python", "expat (kernel)", "expat (Python)"]
    assert pyspark.startswith("PySpark ")
    assert re.fullmatch(r"2\.\d+\.\d+", names["expat (kernel)"])
    assert names["expat (Python)"] == pyexpat.EXPAT_VERSION.removeprefix("expat_")


def test_the_package_is_the_program() -> None:
    """``python -m twigcast`` is the same program, and calls itself ``twigcast``."""
    command = [sys.executable, "-m", "twigcast", "mtach"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: twigcast [OPTIONS] COMMAND" in done.stderr


def test_help_does_not_wait_for_heavy_libraries() -> None:
    """Help imports neither Arrow nor lxml nor the kernel."""
    script = (
        "import sys\n"
        "from twigcast.cli.program import app\n"
        "app(['match', '--help'], standalone_mode=False)\n"
        "heavy = ('pyarrow', 'lxml', 'twigcast.filtering', 'twigcast.workload')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_an_unknown_command_is_an_error_of_usage(run: RunCommand) -> None:
    """A usage error has exit code 2 and prints nothing on stdout."""
    done = run("mtach")
    assert (done.exit_code, done.stdout) == (2, "")


def test_debug_shows_the_traceback(run: RunCommand, tmp_path: Path) -> None:
    """With ``--debug`` an error is raised as it is."""
    from twigcast.errors import SourceError

    with pytest.raises(SourceError):
        run("--debug", "check", tmp_path / "none.txt")


def test_an_interrupted_run_ends_with_130(
    run: RunCommand, monkeypatch: pytest.MonkeyPatch, write: Write
) -> None:
    """Ctrl-C ends a run with one word and exit code 130."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("twigcast.cli.check.read_subscriptions", interrupted)
    done = run("check", write("s.txt", "//a\n"))
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_an_output_that_cannot_be_written_is_one_line_on_stderr(run: RunCommand, tmp_path: Path) -> None:
    """A missing folder is reported in one line, with exit code 2."""
    path = tmp_path / "none" / "s.txt"
    done = run("generate", "subscriptions", "--count", 1, "--output", path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {path}: No such file or directory (ENOENT)\n"


def test_a_reader_that_goes_away_ends_the_run_in_silence(write: Write) -> None:
    """``twigcast … | head -1`` leaves no traceback."""
    path = write("s.txt", "//a[\n" * 20_000)
    reading, writing = os.pipe()
    run = subprocess.Popen([*TWIGCAST, "check", str(path)], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    os.read(reading, 10)
    os.close(reading)
    _, complaints = run.communicate(timeout=60)
    assert (run.returncode, complaints) == (141, b"")


WITHOUT_EXTRAS = """
import importlib.util, json, sys
extras = {"pyspark", "pandas", "simpy", "matplotlib", "networkx", "rapidfuzz", "tomlkit"}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in extras:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in extras else found(name, package)
from twigcast.cli.program import app
for command in json.load(sys.stdin):
    try:
        app(command, prog_name="twigcast")
        code = 0
    except SystemExit as ended:
        code = ended.code
    print("exit", code, flush=True)
    print("exit", code, file=sys.stderr, flush=True)
"""


def test_without_its_extra_a_command_names_it(tmp_path: Path, write: Write) -> None:
    """Matching needs no extra; every other command says in one line what to install."""
    document, subscriptions = str(write("d.xml", "<a/>")), str(write("s.txt", "//a\n"))
    pipeline = str(write("pipeline.toml", ""))
    write("feed/a.xml", "<a/>")
    store, schema = str(tmp_path / "subscriptions.db"), str(write("a.dtd", "<!ELEMENT a EMPTY>"))
    commands_and_extras = [
        (["match", "-s", subscriptions, document], None),
        (["explain", "-x", "//a", document], None),
        (["index", "build", "-s", subscriptions, "-o", str(tmp_path / "s.tci")], None),
        (["fragment", document, "-o", str(tmp_path / "parts")], None),
        (["chunk", document, "-q", subscriptions, "--sample", "--run"], None),
        (["subscribe", "--store", store, "--id", "a", "//a"], None),
        (["run", pipeline], "spark"),
        (["run", pipeline, "--stream"], "spark"),
        (["replay", pipeline], "spark"),
        (["dead-letters", pipeline], "spark"),
        (["simulate", "seven"], "simulator"),
        (["schema", "match", schema, schema], "schemas"),
    ]
    stdin = json.dumps([command for command, _ in commands_and_extras])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS], input=stdin, capture_output=True, text=True, check=True
    )
    assert "Traceback" not in done.stderr
    said = re.split(r"^exit (\d+)$\n", done.stderr, flags=re.MULTILINE)
    answers = list(zip(said[1::2], said[::2], strict=False))
    for (command, extra), (code, complaint) in zip(commands_and_extras, answers, strict=True):
        expected = "0" if extra is None else "2"
        assert (command, code) == (command, expected)
        if extra is not None:
            assert complaint.count("\n") == 1
            assert f"pip install 'twigcast[{extra}]' (missing-extra)" in complaint
