"""Options that several commands share, and the examples at the end of their help."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from twigcast.subscriptions import Format, check_binding

SUBSCRIPTIONS_HELP = (
    "File of subscriptions: lines (one XPath on each line, its id is the line number), TSV (id, XPath, "
    "optional prefix=uri pairs) or JSONL (objects with id, xpath, namespaces); also .gz; - is stdin. "
    "In lines and TSV, '# namespace prefix=uri' binds a prefix for the lines that follow."
)


class Unknown(Enum):
    """What happens to documents without a mapping."""

    DEAD_LETTER = "dead-letter"
    AS_IS = "as-is"


Namespaces: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace", "-n", metavar="PREFIX=URI", help="Bind a prefix used in subscriptions; repeatable."
    ),
]
DefaultNamespace: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--default-namespace", metavar="URI", help="The namespace of element names without a prefix."
    ),
]
SubscriptionFormat: TypeAlias = Annotated[
    Format | None,
    typer.Option(
        "--format", "-f", help="Format of the subscriptions; by default from the extension or the first line."
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Write JSON for machines.")]
OptionalSubscriptions: TypeAlias = Annotated[
    Path | None, typer.Option("--subscriptions", "-s", metavar="FILE", help=SUBSCRIPTIONS_HELP)
]
RequiredSubscriptions: TypeAlias = Annotated[
    Path, typer.Option("--subscriptions", "-s", metavar="FILE", help=SUBSCRIPTIONS_HELP)
]
MaximumBytes: TypeAlias = Annotated[
    int | None, typer.Option("--max-bytes", min=1, metavar="N", help="Refuse documents larger than this.")
]
MaximumDepth: TypeAlias = Annotated[
    int | None,
    typer.Option("--max-depth", min=1, metavar="N", help="Refuse documents nested deeper than this."),
]
Limits: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=N",
        help="Set a limit by the name that messages give it, such as work, amplification or attributes; "
        "repeatable.",
    ),
]


MappingFiles: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--mappings",
        metavar="PATH",
        help="Mapping files or folders of them: documents are matched as the mapping of their root element "
        "rewrites them, and delivered as they are; repeatable.",
    ),
]
UnknownRoots: TypeAlias = Annotated[
    Unknown,
    typer.Option(
        "--unknown",
        help="With --mappings, a document whose root has no mapping is an error, or matched as it is.",
    ),
]


def namespace_map(bindings: list[str] | None, default: str | None) -> dict[str, str]:
    """The prefix map of ``--namespace`` and ``--default-namespace``; the empty prefix is the default."""
    bound: dict[str, str] = {}
    for binding in bindings or ():
        prefix, equals, uri = binding.partition("=")
        if not (prefix and equals and uri):
            raise typer.BadParameter(f"expected PREFIX=URI, got {binding!r}", param_hint="--namespace")
        _check(prefix, uri, "--namespace")
        bound[prefix] = uri
    if default:
        _check("", default, "--default-namespace")
        bound[""] = default
    return bound


def _check(prefix: str, uri: str, option: str) -> None:
    try:
        check_binding(prefix, uri)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def examples(*commands: str) -> str:
    """The Examples section of a command's help: lines to copy and paste."""
    lines = "\n".join(f"  {command}" for command in commands).replace("[", r"\[")
    return f"\b\n[bold]Examples[/bold]\n{lines}"
