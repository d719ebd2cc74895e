"""``twigcast schema try`` shows the image of a document, and what subscriptions find in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.index_building import document_limits
from twigcast.cli.options import (
    DefaultNamespace,
    Limits,
    MaximumBytes,
    MaximumDepth,
    Namespaces,
    examples,
    namespace_map,
)
from twigcast.cli.terminal import complain, errors_of, escaped, limit_hint, plural

if TYPE_CHECKING:
    from twigcast.document import Element, Node
    from twigcast.rewriting import Image

EXAMPLES = examples(
    "twigcast schema try mappings/cmu.toml cmu.xml",
    'twigcast schema try mappings/cmu.toml cmu.xml -x "//course[place/room]"',
    'twigcast schema try ubl.toml invoice.xml --no-image -x "//line[price]"',
)
LONGEST = 200  # characters of a text that are shown


def command(
    mapping: Annotated[Path, typer.Argument(metavar="MAPPING", help="A mapping file.")],
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="A file, or - for stdin.")],
    subscription: Annotated[
        list[str] | None,
        typer.Option("--subscription", "-x", metavar="XPATH", help="A subscription to try; repeatable."),
    ] = None,
    no_image: Annotated[bool, typer.Option("--no-image", help="Do not print the image.")] = False,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    max_bytes: MaximumBytes = None,
    max_depth: MaximumDepth = None,
    limit: Limits = None,
) -> None:
    """Print the image of a document, whether subscriptions match it, and what they select in the original.

    In the image, a plus sign marks elements that an operator made; names that no mapping touched keep their
    prefixes.
    The exit code is 1 if a subscription does not match.
    """
    from twigcast.document import read
    from twigcast.pattern import parse, select
    from twigcast.rewriting import read_mapping_file

    bindings = namespace_map(namespace, default_namespace)
    limits = document_limits(max_bytes, max_depth, limit)
    patterns = [(text, parse(text, bindings)) for text in subscription or ()]
    found = read_mapping_file(mapping).mapping()
    body = documents.DocumentFile(document).read(limits.bytes)
    with errors_of(document, limit_hint):
        result = found.apply(read(body, limits), limits)
    if not no_image:
        for line in image_lines(result):
            typer.echo(line)
    if result.strangers:
        are = "is" if result.strangers == 1 else "are"
        complain(f"{document}: {plural(result.strangers, 'element')} {are} not in the source schema")
    missed = False
    for text, pattern in patterns:
        nodes = select(pattern, result, limits.steps(len(body)))
        missed |= not nodes
        typer.echo(f"{'matches' if nodes else 'does not match'}\t{escaped(text)}")
        ranges = dict.fromkeys(
            (source.start, source.end)
            for node in nodes
            for source in result.sources(node)
            if source is not None
        )
        for start, end in ranges:
            part = body[start:end].decode("utf-8", "replace")
            typer.echo(f"  {start}..{end}\t{escaped(_cut(part))}")
    if missed:
        raise typer.Exit(1)


def image_lines(image: Image) -> Iterator[str]:
    """The image as indented XML, each element that was made with a plus sign before it."""
    from twigcast.document import Element

    waiting: list[tuple[Node | str, int]] = [(child, 0) for child in reversed(image.children)]
    while waiting:
        node, depth = waiting.pop()
        indent = "  " * depth
        if isinstance(node, str):
            yield f"  {indent}{node}"
            continue
        if not isinstance(node, Element):
            text = escaped(_cut(" ".join(str(getattr(node, "value", "")).split())))
            if text:
                yield f"  {indent}{text}"
            continue
        mark = " " if image.origins.get(node) else "+"
        start = f"{_name(node)}{_attributes(node)}"
        inside = [child for child in node.children if _shown(child)]
        if not inside:
            yield f"{mark} {indent}<{start}/>"
        elif len(inside) == 1 and not isinstance(inside[0], Element):
            text = escaped(_cut(" ".join(str(getattr(inside[0], "value", "")).split())))
            yield f"{mark} {indent}<{start}>{text}</{_name(node)}>"
        else:
            yield f"{mark} {indent}<{start}>"
            waiting.append((f"</{_name(node)}>", depth))
            waiting += [(child, depth + 1) for child in reversed(inside)]


def _shown(node: Node) -> bool:
    from twigcast.document import Element, Text

    return isinstance(node, Element) or (isinstance(node, Text) and bool(node.value.strip()))


def _name(element: Element) -> str:
    if not element.namespace:
        return element.local
    return (
        f"{element.prefix}:{element.local}" if element.prefix else f"Q{{{element.namespace}}}{element.local}"
    )


def _attributes(element: Element) -> str:
    return "".join(f' {each.local}="{escaped(each.value)}"' for each in element.attributes)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
