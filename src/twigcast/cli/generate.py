"""``twigcast generate`` generates random documents and subscriptions from a DTD."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from twigcast.cli.options import examples
from twigcast.cli.terminal import complain, plural, progress
from twigcast.subscriptions import Format, format_of, written_bindings

if TYPE_CHECKING:
    from twigcast.schema import ElementGraph
    from twigcast.workload import DocumentOptions, SubscriptionOptions

Options = TypeVar("Options", bound="DocumentOptions | SubscriptionOptions")

Dtd: TypeAlias = Annotated[
    Path | None,
    typer.Option("--dtd", metavar="FILE", help="The DTD; without it, a built-in DTD for news."),
]
Root: TypeAlias = Annotated[
    str | None, typer.Option("--root", metavar="NAME", help="The root element, if it is not obvious.")
]
Seed: TypeAlias = Annotated[int, typer.Option("--seed", help="The same seed gives the same result.")]


def drawn(default: str, help: str) -> Any:
    """An option that overrides a value of the preset; ``default`` is shown in the help."""
    return typer.Option(help=help, show_default=default)


app = typer.Typer(
    no_args_is_help=True,
    help="Generate documents or subscriptions from a DTD.",
    epilog=examples(
        "twigcast generate documents --count 100 --output news",
        "twigcast generate subscriptions --count 1000 --output news.txt",
    ),
)


@app.command(
    "documents",
    epilog=examples(
        "twigcast generate documents",
        "twigcast generate documents --count 100 --output news",
        "twigcast generate documents --elements 500 --max-depth 20 --seed 7",
        "twigcast generate documents --dtd nitf.dtd --root nitf --count 9 -o nitf",
    ),
)
def documents_command(
    dtd: Dtd = None,
    root: Root = None,
    count: Annotated[int, typer.Option("--count", "-c", min=0, help="How many documents.")] = 1,
    first: Annotated[int, typer.Option("--first", min=1, help="The number of the first document.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="The folder for 000001.xml, 000002.xml, …"),
    ] = None,
    seed: Seed = 0,
    preset: Annotated[
        str,
        typer.Option("--preset", metavar="NAME", help="default, nitf-small, nitf-medium or nitf-large."),
    ] = "default",
    elements: Annotated[int | None, drawn("117", "Elements of a document, on average.")] = None,
    spread: Annotated[float | None, drawn("0.5", "Variation of that number, as a fraction of it.")] = None,
    max_depth: Annotated[int | None, drawn("10", "Maximal depth of elements.")] = None,
    optional: Annotated[float | None, drawn("0.5", "Probability of an optional child.")] = None,
    fan_out: Annotated[float | None, drawn("2.0", "Average repetitions where the DTD has no bound.")] = None,
    skew: Annotated[float | None, drawn("2.1", "Zipf skew of alternatives; 0 is uniform.")] = None,
    attributes: Annotated[float | None, drawn("0.25", "Probability of an optional attribute.")] = None,
    words: Annotated[float | None, drawn("8.0", "Words in a piece of text, on average.")] = None,
    single: Annotated[float | None, drawn("0.3", "Fraction of the texts that are one word.")] = None,
    test_element: Annotated[
        float | None, drawn("none", "Insert <test/> after this part of the document.")
    ] = None,
) -> None:
    """Generate random documents that are valid against a DTD.

    One document is written to stdout; for more than one, --output names a folder.
    The same options and seed give the same documents, on any machine.
    """
    from twigcast.workload import generate_documents, presets

    if output is None and count > 1:
        raise typer.BadParameter(
            "more than one document needs a folder: --output FOLDER", param_hint="--output"
        )
    options = _chosen(
        presets.DOCUMENTS,
        preset,
        seed=seed,
        elements=elements,
        spread=spread,
        max_depth=max_depth,
        optional=optional,
        fan_out=fan_out,
        skew=skew,
        attributes=attributes,
        words=words,
        single=single,
        test_element=test_element,
    )
    bodies = generate_documents(_graph(dtd, root), count, options, first=first - 1)
    if output is None:
        for body in bodies:
            sys.stdout.buffer.write(body)
        return
    output.mkdir(parents=True, exist_ok=True)
    with progress(f"Writing to {output}", bodies, total=count) as written:
        for number, body in enumerate(written, start=first):
            (output / f"{number:06d}.xml").write_bytes(body)
    complain(f"{output}: {plural(count, 'document')}")


@app.command(
    "subscriptions",
    epilog=examples(
        "twigcast generate subscriptions --count 10",
        "twigcast generate subscriptions --count 100000 --output news.txt.gz",
        "twigcast generate subscriptions --preset values -c 1000 -o values.tsv",
        "twigcast generate subscriptions --dtd nitf.dtd --root nitf --nested 0.2",
    ),
)
def subscriptions_command(
    dtd: Dtd = None,
    root: Root = None,
    count: Annotated[int, typer.Option("--count", "-c", min=0, help="How many subscriptions.")] = 100,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A file .txt, .tsv or .jsonl, also .gz."),
    ] = None,
    seed: Seed = 0,
    preset: Annotated[
        str,
        typer.Option(
            "--preset",
            metavar="NAME",
            help="linear, branching or values; or that of a paper: piggybacking, piggybacking-skewed, "
            "thesis-4.2, routing, rewriting or chunking.",
        ),
    ] = "linear",
    max_steps: Annotated[int | None, drawn("8", "Maximal number of steps of a path.")] = None,
    min_steps: Annotated[int | None, drawn("4", "Minimal number of steps, if the DTD allows.")] = None,
    wildcard: Annotated[float | None, drawn("0.1", "Probability that a step is *.")] = None,
    descendant: Annotated[float | None, drawn("0.1", "Probability that a step is reached by //.")] = None,
    nested: Annotated[float | None, drawn("0.0", "Probability that a step has a nested path.")] = None,
    nested_steps: Annotated[int | None, drawn("3", "Maximal number of steps of a nested path.")] = None,
    nesting: Annotated[int | None, drawn("1", "How deep nested paths are nested in each other.")] = None,
    value: Annotated[
        float | None, drawn("0.0", "Probability that a step has a condition on a value.")
    ] = None,
    skew: Annotated[float | None, drawn("0.0", "Zipf skew of the names; 0 is uniform.")] = None,
    max_depth: Annotated[int | None, drawn("10", "Maximal depth that a path reaches.")] = None,
    distinct: Annotated[
        bool | None,
        typer.Option(
            "--distinct/--repeating",
            help="Without or with duplicate subscriptions.",
            show_default="distinct",
        ),
    ] = None,
    test_condition: Annotated[
        bool | None,
        typer.Option("--test-condition", help="Demand <test/> in each document.", show_default="off"),
    ] = None,
) -> None:
    """Generate random subscriptions that documents of a DTD can match.

    Without --output they are written to stdout, one on each line.
    Each probability applies to each step.
    The same options and seed give the same subscriptions, on any machine.
    """
    from twigcast.workload import generate_subscriptions, presets

    options = _chosen(
        presets.SUBSCRIPTIONS,
        preset,
        seed=seed,
        max_steps=max_steps,
        min_steps=min_steps,
        wildcard=wildcard,
        descendant=descendant,
        nested=nested,
        nested_steps=nested_steps,
        nesting=nesting,
        value=value,
        skew=skew,
        max_depth=max_depth,
        distinct=distinct,
        test_condition=test_condition,
    )
    graph = _graph(dtd, root)
    texts = generate_subscriptions(graph, count, options)
    format = (format_of(output) if output else None) or Format.lines
    namespaces = graph.bindings
    if output is None:
        sys.stdout.writelines(_written(texts, format, namespaces))
    else:
        with progress(f"Writing {output}", texts, total=count) as written:
            _write(output, _written(written, format, namespaces))
        complain(f"{output}: {plural(count, 'subscription')}")


def _graph(dtd: Path | None, root: str | None) -> ElementGraph:
    from twigcast.schema import read_dtd
    from twigcast.workload import news

    if dtd is None:
        return news() if root is None else news().rooted(root)
    return read_dtd(dtd, root)


def _chosen(presets: Mapping[str, Options], name: str, **given: Any) -> Options:
    """The preset with the given options; a value that it refuses is a usage error."""
    if name not in presets:
        raise typer.BadParameter(f"choose one of {', '.join(presets)}", param_hint="--preset")
    try:
        return replace(presets[name], **{key: value for key, value in given.items() if value is not None})
    except ValueError as error:
        raise typer.BadParameter(str(error).replace("_", "-")) from None


def _written(texts: Iterable[str], format: Format, namespaces: Mapping[str, str]) -> Iterator[str]:
    """Subscriptions as lines of a file; in formats with ids, the ids count from 1.

    A file of plain lines begins with the bindings of the prefixes.
    """
    bindings = written_bindings(namespaces)
    if format is Format.lines:
        yield from (f"# namespace {prefix}={uri}\n" for prefix, uri in namespaces.items())
    for number, text in enumerate(texts, start=1):
        if format is Format.jsonl:
            fields = {"id": str(number), "xpath": text} | ({"namespaces": namespaces} if namespaces else {})
            yield json.dumps(fields, ensure_ascii=False) + "\n"
        elif format is Format.tsv:
            yield f"{number}\t{text}" + (f"\t{bindings}" if bindings else "") + "\n"
        else:
            yield text + "\n"


def _write(path: Path, lines: Iterable[str]) -> None:
    """Write a text file, compressed if its name ends in ``.gz``; the same lines give the same bytes."""
    if path.name.lower().endswith(".gz"):
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            packed.writelines(line.encode() for line in lines)
    else:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(lines)
