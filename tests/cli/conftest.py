"""Running a command in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from twigcast.cli.program import app


@dataclass(frozen=True, slots=True)
class Run:
    """What a command did: its exit code and what it wrote where."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        return self.stdout.splitlines()


@pytest.fixture
def run() -> Callable[..., Run]:
    """Run ``twigcast`` with the arguments; an exception that is not a ``SystemExit`` fails the test."""

    def invoke(*arguments: object, stdin: bytes | None = None) -> Run:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Run(result.exit_code, result.stdout, result.stderr)

    return invoke
