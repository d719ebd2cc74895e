"""The help of a command as people read it: paragraphs that fill the line, and no names of Python types.

Typer keeps the line ends of a docstring, writes ``<bool>`` after a switch and ``{FILE}`` for an argument that
is required.
"""

from __future__ import annotations

import inspect
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class _Page:
    """What a command and a group of commands have in common."""

    def get_params(self, ctx: Any) -> Any:
        found = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = _no_type
            elif parameter.is_flag and parameter.metavar is None:
                parameter.metavar = ""
        return found


class PageCommand(_Page, TyperCommand):
    """A command with such a page of help."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words of the line of usage: the metavars, in brackets if they may be left out."""
        arguments = [each for each in self.get_params(ctx) if each.param_type_name == "argument"]
        named = [(each.metavar or each.name.upper(), each.required) for each in arguments]
        return [
            self.options_metavar or "",
            *(name if required or "[" in name else f"[{name}]" for name, required in named),
        ]


class PageGroup(_Page, TyperGroup):
    """A group of commands with such a page of help."""


def as_pages(app: typer.Typer) -> None:
    """Give all commands below an application such pages."""
    for command in app.registered_commands:
        command.cls = PageCommand
        command.help = paragraphs(inspect.getdoc(command.callback) or "")
    for group in app.registered_groups:
        if group.typer_instance is not None:
            group.typer_instance.info.cls = PageGroup
            as_pages(group.typer_instance)


def paragraphs(text: str) -> str:
    """The text with the line ends inside of its paragraphs removed."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _no_type(ctx: object) -> None:
    """The type of an argument is said by its help."""
