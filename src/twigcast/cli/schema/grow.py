"""``twigcast schema grow`` adds places to the global schema that a source has and the schema lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twigcast.cli.options import examples
from twigcast.cli.terminal import complain, escaped, plural

EXAMPLES = examples(
    "twigcast schema grow catalogue.dtd mappings/gatech.toml",
    "twigcast schema grow catalogue.dtd a.toml --place a/Course/CRN --write",
)


def command(
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="The global schema, a DTD.")],
    mapping: Annotated[Path, typer.Argument(metavar="MAPPING", help="The mapping file of the source.")],
    place: Annotated[
        list[str] | None,
        typer.Option(
            "--place", metavar="PATH", help="Add only this source place and what is below it; repeatable."
        ),
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Change the schema and the mapping file; else only say what.")
    ] = False,
) -> None:
    """Add to the global schema what a source has and the schema lacks, and match the new places.

    Without --place, all places are added that no line of the mapping file decides on.
    Places are only added, and are optional, so that no subscription changes its meaning.
    """
    from twigcast.errors import MappingError
    from twigcast.rewriting import grow_schema, grown_dtd, read_mapping_file, update_mapping_file
    from twigcast.schema import read_schema
    from twigcast.system import write_atomically

    if schema.suffix.lower() == ".xsd":
        message = f"{schema}: expected a DTD; an XSD is grown by hand"
        raise MappingError(message, code="mapping-file", name=str(schema))
    file = read_mapping_file(mapping)
    growth = grow_schema(file, read_schema(schema), place or ())
    for source, image in growth.pairs.items():
        typer.echo(f"{escaped(source)}\t{escaped(image)}")
    for source, reason in growth.skipped.items():
        complain(f"not added: {source}: {reason}")
    changed = grown_dtd(schema.read_text("utf-8"), growth)
    if write:
        write_atomically(schema, changed.encode())
        update_mapping_file(mapping, pairs=growth.pairs)
    complain(f"{schema}: {plural(len(growth.pairs), 'place')} {'added' if write else 'to add with --write'}")
