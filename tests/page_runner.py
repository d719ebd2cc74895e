"""Runs a page of the documentation from top to bottom and compares what it shows with what happens.

- A block after "… as `path`:" is saved under that path.
- In a ``console`` block, lines after ``$`` are commands; the lines below them are their output.
- ``pycon`` blocks are sessions and ``py`` blocks programs, all in one namespace.
- ``sh`` blocks install twigcast and are not run; any other block is a mistake of the page.

``run_commands`` runs only the commands of a page, on which most of them have no output: they must succeed.

In an output, ``…`` stands for any text within a line.  A command whose output has ``^C`` is interrupted when
the lines before it are there.  With ``TWIGCAST_REWRITE=1``, the page is rewritten with the real outputs.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from twigcast.cli.program import app

BLOCK = re.compile(r"^```(?P<language>\w*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r"\bas `([^`]+)`:$")
INTERRUPT = "^C"
INSTALLATION = "sh"  # what this process has done already
VARYING = (
    (re.compile(r"(?<=\t)\d+\.\d{3}(?=\t)"), "…"),  # seconds
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*"), "…"),
)


def run_page(page: Path, folder: Path, names: dict[str, Any]) -> list[str]:
    """Run a page in a folder; returns a message for each output that differs from the page."""
    text = page.read_text()
    rewritten, position = "", 0
    wrong: list[str] = []
    with contextlib.chdir(folder):
        for block in BLOCK.finditer(text):
            rewritten += text[position : block.start("code")]
            position = block.end("code")
            shown = block["code"]
            if saved := SAVED.search(text[: block.start()].rstrip()):
                _save(saved[1], block["code"])
            elif block["language"] == "console":
                shown = "".join(_console(block["code"], folder, wrong))
            elif block["language"] == "py":
                exec(compile(block["code"], page.name, "exec"), names)
            elif block["language"] == "pycon":
                session = doctest.DocTestParser().get_doctest(block["code"], names, page.name, str(page), 0)
                doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
                    session, out=wrong.append, clear_globs=False
                )
                names |= session.globs
            elif block["language"] != INSTALLATION:
                wrong.append(f"a block is neither saved nor run:\n{block['code']}\n")
            rewritten += shown
    if os.environ.get("TWIGCAST_REWRITE"):
        page.write_text(rewritten + text[position:])
    return wrong


def run_commands(page: Path, folder: Path) -> list[str]:
    """Run the commands of a page in a folder; returns a message for each that fails or prints something else.

    What a command prints is compared only if the page shows it.
    """
    text = page.read_text()
    wrong: list[str] = []
    with contextlib.chdir(folder):
        for block in BLOCK.finditer(text):
            if saved := SAVED.search(text[: block.start()].rstrip()):
                _save(saved[1], block["code"])
            elif block["language"] == "console":
                for _ in _console(block["code"], folder, wrong, all_print=False):
                    pass
    return wrong


def _save(name: str, text: str) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _console(code: str, folder: Path, wrong: list[str], *, all_print: bool = True) -> Iterator[str]:
    """Run the commands of a block; yields the block as it should be."""
    for command in re.split(r"^(?=\$ )", code, flags=re.MULTILINE)[1:]:
        line, _, expected = command.removeprefix("$ ").partition("\n")
        before, interrupt, after = expected.partition(f"{INTERRUPT}\n")
        patience = max(1, len(before.splitlines())) if interrupt else None
        output, exit_code = _output(line, patience)
        output = output.replace(f"{folder}/", "…/")
        if not all_print and exit_code:
            wrong.append(f"$ {line}\nexit code {exit_code}:\n{output}\n")
        if (all_print or before + after) and not _agrees(output, before + after):
            wrong.append(f"$ {line}\nexpected:\n{expected}\ngot:\n{output}\n")
            for pattern, replacement in VARYING:
                output = pattern.sub(replacement, output)
            lines = output.splitlines(keepends=True)
            expected = "".join([*lines[:patience], interrupt, *lines[patience:]]) if patience else output
        yield f"$ {line}\n{expected}"


def _output(line: str, patience: int | None) -> tuple[str, int]:
    """What a command prints, and its exit code.

    ``twigcast`` runs in this process, which has a Spark session already, but for lines with a redirection.
    """
    words = shlex.split(line)
    if words[0] != "twigcast" or {">", "|"} & set(words):
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, check=False, env=os.environ | {"PATH": path}
        )
        return done.stdout + done.stderr, done.returncode
    written, exit_code = io.BytesIO(), 0
    stream = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        if patience:
            threading.Thread(target=_interrupt, args=(written, patience), daemon=True).start()
        try:
            app(words[1:], prog_name="twigcast")
        except SystemExit as ended:
            exit_code = int(ended.code or 0)
    return written.getvalue().decode(), exit_code


def _interrupt(written: io.BytesIO, lines: int) -> None:
    """Press Ctrl-C when a command has written so many lines, or after two minutes."""
    deadline = time.monotonic() + 120
    while written.getvalue().count(b"\n") < lines and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)


def _agrees(output: str, expected: str) -> bool:
    pattern = ".*".join(map(re.escape, expected.rstrip().split("…")))
    shown = "\n".join(line.rstrip() for line in output.rstrip().splitlines())
    return re.fullmatch(pattern, shown) is not None
