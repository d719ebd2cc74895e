"""The program ``twigcast``: its commands, and the exit code of each outcome.

0    success
1    a document or subscription was bad; stderr says which
2    the command could not run
130  interrupted by Ctrl-C
141  the reader of the output closed the pipe
"""

from __future__ import annotations

import os
import platform
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from twigcast import __version__
from twigcast.cli import (
    assemble,
    check,
    chunk,
    dead_letters,
    explain,
    fragment,
    generate,
    index,
    match,
    replay,
    run,
    schema,
    simulate,
    subscribe,
    subscriptions,
    unsubscribe,
)
from twigcast.cli.help_pages import PageGroup, as_pages
from twigcast.cli.options import examples
from twigcast.cli.terminal import complain, complain_of, escaped
from twigcast.errors import DocumentError, EvaluationError, PatternError, TwigcastError

BAD_INPUT = 1
CANNOT_RUN = 2
INTERRUPTED = 130
OUTPUT_CLOSED = 141
VERSIONS_HELP = "Print the versions of twigcast, Python, expat and PySpark, and exit."
LONGEST = 300  # characters of the text of an unexpected error


@contextmanager
def exit_codes(*, debug: bool = False) -> Iterator[None]:
    """Turn an error of a command into a sentence on stderr and an exit code; with ``debug``, raise it."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()
        raise typer.Exit(OUTPUT_CLOSED) from None
    except KeyboardInterrupt:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # another one would end in a trace of what ends now
        complain("Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except (typer.Exit, typer.Abort):
        raise
    except (TwigcastError, OSError) as error:
        if debug:
            raise
        complain_of(error)
        bad_input = isinstance(error, PatternError | DocumentError | EvaluationError)
        raise typer.Exit(BAD_INPUT if bad_input else CANNOT_RUN) from None
    except Exception as error:
        if debug or hasattr(error, "exit_code"):  # errors of usage have one
            raise
        complain(f"error: {_unexpected(error)}")
        raise typer.Exit(CANNOT_RUN) from None


def _unexpected(error: Exception) -> str:
    """A sentence about an error that no part of twigcast raises on purpose."""
    if isinstance(error, MemoryError):
        return "there is not enough memory (memory)"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply (recursion)"
    text = escaped(" ".join(str(error).split()))[:LONGEST]
    return f"{type(error).__name__}: {text} (internal); twigcast --debug shows where, please report it"


class CommandGroup(PageGroup):
    """The group of all commands; their errors become exit codes."""

    def invoke(self, ctx: Any) -> Any:
        with exit_codes(debug=ctx.params.get("debug", False)):
            return super().invoke(ctx)


app = typer.Typer(
    name="twigcast",
    cls=CommandGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "twigcast generate subscriptions --count 1000 --output news.txt",
        "twigcast generate documents --count 100 --output news",
        "twigcast match --subscriptions news.txt news",
    ),
)
app.command("match", epilog=match.EXAMPLES)(match.command)
app.command("check", epilog=check.EXAMPLES)(check.command)
app.command("chunk", epilog=chunk.EXAMPLES)(chunk.command)
app.command("explain", epilog=explain.EXAMPLES)(explain.command)
app.add_typer(generate.app, name="generate")
app.add_typer(index.app, name="index")
app.add_typer(schema.app, name="schema")
app.command("fragment", epilog=fragment.EXAMPLES)(fragment.command)
app.command("assemble", epilog=assemble.EXAMPLES)(assemble.command)
app.command("run", epilog=run.EXAMPLES)(run.command)
app.command("replay", epilog=replay.EXAMPLES)(replay.command)
app.command("subscribe", epilog=subscribe.EXAMPLES)(subscribe.command)
app.command("unsubscribe", epilog=unsubscribe.EXAMPLES)(unsubscribe.command)
app.command("subscriptions", epilog=subscriptions.EXAMPLES)(subscriptions.command)
app.command("dead-letters", epilog=dead_letters.EXAMPLES)(dead_letters.command)
app.command("simulate", epilog=simulate.EXAMPLES)(simulate.command)
as_pages(app)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(_versions())
        raise typer.Exit


def _versions() -> str:
    """The versions of twigcast and of what it depends on most; expat reads every document."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as version_of
    from pyexpat import EXPAT_VERSION

    from twigcast.filtering import expat_version

    try:
        pyspark = version_of("pyspark")
    except PackageNotFoundError:
        pyspark = "not installed"
    lines = {
        "twigcast": __version__,
        "Python": platform.python_version(),
        "expat (kernel)": expat_version(),
        "expat (Python)": EXPAT_VERSION.removeprefix("expat_"),
        "PySpark": pyspark,
    }
    return "\n".join(f"{name} {version}" for name, version in lines.items())


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help=VERSIONS_HELP,
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Carry XML documents to exactly the subscribers whose XPath they match."""


def _discard_stdout() -> None:
    """Point stdout at the null device, so that Python does not report the closed pipe again at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (lives until exit)
