"""``twigcast schema show`` draws a mapping."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli.options import AsJson, examples
from twigcast.cli.terminal import complain, escaped, json_line, plural

EXAMPLES = examples(
    "twigcast schema show mappings/cmu.toml",
    "twigcast schema show mappings/cmu.toml --all",
    "twigcast schema show mappings/cmu.toml --svg cmu.svg",
    "twigcast schema show mappings/cmu.toml --xslt cmu.xsl",
)


def command(
    mapping: Annotated[Path, typer.Argument(metavar="MAPPING", help="A mapping file.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Show also the source places that are not matched.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Write a drawing instead of text.")
    ] = None,
    xslt: Annotated[
        Path | None,
        typer.Option("--xslt", metavar="FILE", help="Write a stylesheet that makes the same images."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Show the places of the source, the operators that act on each, and the global places they become.

    A place in parentheses is made by an operator.
    """
    from twigcast.rewriting import mapping_rows, mapping_svg, read_mapping_file, to_xslt
    from twigcast.system import write_atomically

    file = read_mapping_file(mapping)
    found = file.mapping()
    target = file.target_tree()
    prefixes = file.prefixes(found.source, target)
    pairs = file.keys(found.source, target)
    rows = mapping_rows(found, pairs, prefixes, everything=everything)
    if svg is not None:
        write_atomically(svg, mapping_svg(rows, f"{found.name} → {file.target.name}").encode())
        complain(f"{svg}: {plural(len(rows), 'place')}")
    if xslt is not None:
        write_atomically(xslt, to_xslt(found).encode())
        complain(f"{xslt}: {plural(len(found.operators), 'operator')}")
    if svg is not None or xslt is not None:
        return
    if json:
        for row in rows:
            typer.echo(json_line({"place": row.key, "operators": row.operators, "image": row.image or None}))
        return
    left = [f"{row.branches}{row.name}" for row in rows]
    kinds = [" · ".join(row.operators) for row in rows]
    widths = max(map(len, left)), max(map(len, kinds))
    for row, text, kind in zip(rows, left, kinds, strict=True):
        line = f"{text:<{widths[0]}}  {kind:<{widths[1]}}  {row.image or '(unmatched)' * row.is_leaf}"
        typer.echo(escaped(line.rstrip()))
