"""Runs a page of the documentation from top to bottom and compares what it shows with what happens.

- A block after "… as `path`:" is saved under that path.
- In a ``console`` block, lines after ``$`` are commands; the lines below them are their output.
- ``pycon`` blocks are sessions and ``py`` blocks programs, all in one namespace.
- ``sh`` blocks install twigcast and are not run; any other block is a mistake of the page.

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
                path = Path(saved[1])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block["code"])
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


def _console(code: str, folder: Path, wrong: list[str]) -> Iterator[str]:
    """Run the commands of a block; yields the block as it should be."""
    for command in re.split(r"^(?=\$ )", code, flags=re.MULTILINE)[1:]:
        line, _, expected = command.removeprefix("$ ").partition("\n")
        before, interrupt, after = expected.partition(f"{INTERRUPT}\n")
        patience = max(1, len(before.splitlines())) if interrupt else None
        output = _output(line, patience).replace(f"{folder}/", "…/")
        if not _agrees(output, before + after):
            wrong.append(f"$ {line}\nexpected:\n{expected}\ngot:\n{output}\n")
            for pattern, replacement in VARYING:
                output = pattern.sub(replacement, output)
            lines = output.splitlines(keepends=True)
            expected = "".join([*lines[:patience], interrupt, *lines[patience:]]) if patience else output
        yield f"$ {line}\n{expected}"


def _output(line: str, patience: int | None) -> str:
    """What a command prints; ``twigcast`` runs in this process, which has a Spark session already."""
    words = shlex.split(line)
    if words[0] != "twigcast":
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        if patience:
            threading.Thread(target=_interrupt, args=(written, patience), daemon=True).start()
        with contextlib.suppress(SystemExit):
            app(words[1:], prog_name="twigcast")
    return written.getvalue().decode()


def _interrupt(written: io.BytesIO, lines: int) -> None:
    """Press Ctrl-C when a command has written so many lines, or after two minutes."""
    deadline = time.monotonic() + 120
    while written.getvalue().count(b"\n") < lines and time.monotonic() < deadline:
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)


def _agrees(output: str, expected: str) -> bool:
    pattern = ".*".join(map(re.escape, expected.rstrip().split("…")))
    return re.fullmatch(pattern, output.rstrip()) is not None
