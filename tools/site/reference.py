"""Pages made from the program: its commands, its error codes, and the names of its rooms."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer

from twigcast import errors
from twigcast.cli.program import app

ROOMS = (
    "twigcast",
    "twigcast.spark",
    "twigcast.chunking",
    "twigcast.simulator",
    "twigcast.errors",
    "twigcast.document",
    "twigcast.schema",
    "twigcast.pattern",
    "twigcast.analysis",
    "twigcast.filtering",
    "twigcast.rewriting",
    "twigcast.workload",
    "twigcast.subscriptions",
    "twigcast.fragmenting",
    "twigcast.routing",
)
MARKUP = re.compile(r"\[/?(?:bold|dim|italic|cyan|green|yellow|red)[^\]]*\]")
PYTHON_TYPE = re.compile(r"<(?:bool|float|int|path|str|list\[\w+\])(?: range)?>", re.IGNORECASE)
CODES = re.compile(r"Codes?: (.*)", re.DOTALL)
CODE = re.compile(r"``([a-z-]+)``(?: \(((?:[^()]|\([^()]*\))*)\))?")


def command_page() -> str:
    """All commands with their arguments, options and examples, as ``--help`` has them."""
    group = typer.main.get_command(app)
    lines = [
        "# Command line",
        "",
        "This page is made from the `--help` of each command.",
        "The exit code is 0 for success, 1 if a document or subscription was bad, "
        "2 if the command could not run, 130 after Ctrl-C, "
        "and 141 if the reader of the output closed the pipe.",
    ]
    for name, command in _commands(group, "twigcast"):
        lines += ["", *_command_lines(name, command)]
    return "\n".join(lines) + "\n"


def error_page() -> str:
    """All error classes with their codes."""
    lines = [
        "# Error codes",
        "",
        "Every error has a stable `code`, a sentence, and a position.",
        "This page is made from the docstrings of [`twigcast.errors`](python/twigcast.errors.md).",
    ]
    for name, error in vars(errors).items():
        if not (inspect.isclass(error) and issubclass(error, errors.TwigcastError)):
            continue
        docstring = inspect.getdoc(error) or ""
        codes = CODES.search(docstring)
        lines += ["", f"## {name}", "", CODES.sub("", docstring).strip(), ""]
        rows = CODE.findall(" ".join(codes[1].split())) if codes else [(error.code, "")]
        if any(meaning for _, meaning in rows):
            lines += ["| code | meaning |", "|---|---|"]
            lines += [f"| `{code}` | {meaning} |" for code, meaning in rows]
        else:
            lines += [
                f"{'Codes' if len(rows) > 1 else 'Code'}: {', '.join(f'`{code}`' for code, _ in rows)}."
            ]
    return "\n".join(lines) + "\n"


def room_pages() -> Iterator[tuple[str, str]]:
    """For each room, its name and a page with its public names.

    A name that an earlier page has is only linked.
    """
    seen: dict[int, str] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        names = [name for name in getattr(module, "__all__", _classes(module)) if not name.startswith("__")]
        lines = [f"# {room}", "", inspect.getdoc(module) or ""]
        elsewhere, here = [], []
        for name in names:
            value = getattr(module, name)
            page = seen.get(id(value)) if callable(value) else None
            if page:
                elsewhere.append(f"[`{name}`]({page}.md)")
            else:
                seen[id(value)] = room
                here += ["", *_name_lines(room, name, value)]
        if elsewhere:
            lines += ["", f"Names that are also on other pages: {', '.join(elsewhere)}."]
        yield room, "\n".join([*lines, *here]) + "\n"


def _classes(module: Any) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__
    ]


def _name_lines(room: str, name: str, value: Any) -> list[str]:
    """A directive for mkdocstrings, or for a name of the compiled kernel its docstring."""
    if ".kernel._" in (getattr(value, "__module__", None) or ""):
        return [f"## {name}", "", inspect.getdoc(value) or "A name of the compiled kernel."]
    return [f"::: {room}.{name}"]


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "commands"):
        yield name, command
    for below, each in getattr(command, "commands", {}).items():
        yield from _commands(each, f"{name} {below}")


def _command_lines(name: str, command: Any) -> Iterator[str]:
    context = command.make_context(name, [], resilient_parsing=True)
    yield f"## {name}"
    yield ""
    yield _plain(command.help or "")
    yield from ("", "```text", f"{name} {' '.join(command.collect_usage_pieces(context))}", "```")
    for kind in ("argument", "option"):
        records = [each.get_help_record(context) for each in command.params if each.param_type_name == kind]
        if any(records):
            yield from ("", f"| {kind} | meaning |", "|---|---|")
            yield from (
                f"| `{_usage(names)}` | {_cell(_plain(text))} |" for names, text in filter(None, records)
            )
    examples = [line.strip() for line in _plain(command.epilog or "").splitlines() if line.startswith(" ")]
    if examples:
        yield from ("", "```console", *(f"$ {line}" for line in examples), "```")


def _usage(names: str) -> str:
    """The names of an option with its placeholder, without a type of Python."""
    return " ".join(PYTHON_TYPE.sub("", names).split())


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _plain(text: str) -> str:
    """Text of ``--help`` without the markup of rich."""
    return MARKUP.sub("", inspect.cleandoc(text)).replace("\\[", "[").replace("<", "&lt;")
