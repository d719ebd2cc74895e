"""``twigcast schema match`` proposes how the schema of a publisher fits the global schema."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.index_building import document_limits
from twigcast.cli.options import AsJson, Limits, examples
from twigcast.cli.tables import Column, print_table
from twigcast.cli.terminal import complain, complain_of, json_line, limit_hint, plural

if TYPE_CHECKING:
    from twigcast.document import Document, DocumentLimits
    from twigcast.rewriting import MappingFile, Matching, SchemaTree, ValueProfile
    from twigcast.schema import ElementGraph

EXAMPLES = examples(
    "twigcast schema match cmu.xsd catalogue.dtd",
    "twigcast schema match cmu.xsd catalogue.dtd --documents cmu/ -o cmu.toml",
    "twigcast schema match feed/ catalogue.dtd --learn mappings/ -o feed.toml",
)
SCHEMAS = (".dtd", ".xsd")


def command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="The publisher's schema, a DTD or XSD; or its documents (a folder or a file), "
            "from which a DTD is inferred.",
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The global schema, a DTD or XSD.")],
    documents_at: Annotated[
        list[str] | None,
        typer.Option(
            "--documents", metavar="PATH", help="Documents of the publisher, for their values; repeatable."
        ),
    ] = None,
    learn: Annotated[
        list[Path] | None,
        typer.Option(
            "--learn",
            metavar="PATH",
            help="Mapping files, or folders of them, whose names and tests are evidence; repeatable.",
        ),
    ] = None,
    thesaurus: Annotated[
        Path | None,
        typer.Option(
            "--thesaurus", metavar="FILE", help="More synonyms: a group on each line, parted by commas."
        ),
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, max=1.0, help="The smallest score of a pair.")
    ] = 0.45,
    flooding: Annotated[
        float, typer.Option("--flooding", min=0.0, max=1.0, help="The weight of similarity flooding.")
    ] = 0.0,
    root: Annotated[
        str | None,
        typer.Option("--root", metavar="NAME", help="The root element of SOURCE, if it is not obvious."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The mapping file to write; one that is there keeps what it has decided.",
        ),
    ] = None,
    limit: Limits = None,
    json: AsJson = False,
) -> None:
    """Propose which places of a publisher's schema mean which places of the global schema, and why.

    Names are compared word by word with a thesaurus, and with the names above them.
    With --documents, also what the values look like: an element full of e-mail addresses is no name.
    The values and names of other publishers come from the mappings that --learn names.
    The proposal is for a person to review; twigcast schema check says what the pairs lead to.
    With --json the output is one object for each place of the source: source, target, score, why.
    """
    from twigcast.rewriting import SchemaTree, Thesaurus, match_schemas
    from twigcast.schema import read_schema

    limits = document_limits(None, None, limit)
    samples = list(documents_at or ())
    given = source
    if source.suffix.lower() in SCHEMAS:
        graph = read_schema(source, root)
    else:
        graph = _inferred(source, root, limits)
        samples.append(str(source))
    tree, goal = SchemaTree.of(graph), SchemaTree.of(read_schema(target))
    known = [_learnt(file, goal) for file in _files(learn or [], output)]
    matching = match_schemas(
        tree,
        goal,
        thesaurus=Thesaurus.read(thesaurus) if thesaurus is not None else None,
        source_profiles=_profiles_of(tree, samples, limits),
        target_profiles=_profiles(known),
        target_names=_names(known),
        threshold=threshold,
        flooding=flooding,
    )
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        if given.suffix.lower() not in SCHEMAS:
            source = _write_schema(graph, output.with_suffix(".dtd"))
        matching = _write(output, source, target, root, matching, tree, goal)
    _show(matching, tree, goal, json=json)


def _inferred(path: Path, root: str | None, limits: DocumentLimits) -> ElementGraph:
    from twigcast.errors import DocumentError, SourceError
    from twigcast.workload import SchemaInference

    inference, good = SchemaInference(limits), 0
    for name, document in _read([str(path)], limits):
        try:
            inference.add(document.body)
            good += 1
        except DocumentError as error:
            complain_of(error, name, hint=limit_hint(error))
    if not good:
        message = "expected a schema (*.dtd, *.xsd) or documents"
        raise SourceError(message, code="no-documents", path=str(path))
    graph = inference.graph()
    return graph if root is None else graph.rooted(root)


def _profiles_of(
    tree: SchemaTree, paths: list[str], limits: DocumentLimits
) -> dict[str, ValueProfile] | None:
    from twigcast.rewriting import profile_documents

    return profile_documents(tree, (document for _, document in _read(paths, limits))) if paths else None


def _read(paths: list[str], limits: DocumentLimits) -> Iterator[tuple[str, Document]]:
    """The documents that can be read, with their names; the others are reported."""
    from twigcast.document import read
    from twigcast.errors import DocumentError, SourceError

    for file in documents.find(paths):
        try:
            yield file.text, read(file.read(limits.bytes), limits)
        except SourceError as error:
            complain_of(error)
        except DocumentError as error:
            complain_of(error, file.text, hint=limit_hint(error))


def _files(paths: list[Path], output: Path | None) -> list[MappingFile]:
    """The mapping files to learn from, without the one that is written."""
    from twigcast.rewriting import mapping_paths, read_mapping_file

    found = mapping_paths(paths)
    if output is not None:
        found = [path for path in found if path.resolve() != output.resolve()]
    return [read_mapping_file(path) for path in found]


def _learnt(file: MappingFile, goal: SchemaTree) -> tuple[dict[str, str], dict[str, ValueProfile]]:
    """The pairs of a mapping file, and the profiles of the documents of its tests."""
    from twigcast.document import read
    from twigcast.rewriting import profile_documents

    tree = file.source_tree()
    bodies = (read(test.body()) for test in file.tests)
    return file.keys(tree, goal), profile_documents(tree, bodies)


def _profiles(known: list[tuple[dict[str, str], dict[str, ValueProfile]]]) -> dict[str, ValueProfile]:
    from twigcast.rewriting import pooled_profiles

    return pooled_profiles(known)


def _names(known: list[tuple[dict[str, str], dict[str, ValueProfile]]]) -> dict[str, frozenset[str]]:
    from twigcast.rewriting import pooled_names

    return pooled_names(pairs for pairs, _ in known)


def _write_schema(graph: ElementGraph, path: Path) -> Path:
    from twigcast.schema import write_dtd
    from twigcast.system import write_atomically

    write_atomically(path, write_dtd(graph).encode())
    complain(f"{path}: {plural(len(graph), 'element')}, inferred from the documents")
    return path


def _write(
    output: Path,
    source: Path,
    target: Path,
    root: str | None,
    matching: Matching,
    tree: SchemaTree,
    goal: SchemaTree,
) -> Matching:
    """Write the mapping file; returns the proposals for places on which it had decided nothing."""
    from twigcast.rewriting import Matching, ProposedPair, read_mapping_file, write_proposal

    decided: set[str] = set()
    if output.exists():
        file = read_mapping_file(output)
        decided.update(file.keys(tree, goal))
        decided.update(file.source_key(place, tree) for place in (*file.keep, *file.hide) if place != "*")
    new = {key: image for key, image in matching.pairs.items() if key not in decided}
    rest = tuple(key for key in matching.unmatched if key not in decided)
    proposals = [
        ProposedPair(_shown(key, tree), _shown(image, goal), str(matching.evidence[key]))
        for key, image in new.items()
    ]
    settings = {
        "mapping": output.stem,
        "source": os.path.relpath(source, output.parent),
        "target": os.path.relpath(target, output.parent),
    } | ({"root": root} if root is not None else {})
    write_proposal(output, settings, proposals, [_shown(key, tree) for key in rest])
    kept = f", {plural(len(decided), 'place')} decided before" if decided else ""
    complain(f"{output}: {plural(len(new), 'pair')} proposed, {plural(len(rest), 'place')} without{kept}")
    return Matching(new, {key: matching.evidence[key] for key in new}, rest)


def _show(matching: Matching, tree: SchemaTree, goal: SchemaTree, *, json: bool) -> None:
    rows = [
        (_shown(key, tree), _shown(image, goal), matching.evidence[key].score, str(matching.evidence[key]))
        for key, image in matching.pairs.items()
    ]
    rest = [_shown(key, tree) for key in matching.unmatched]
    if json:
        for source, image, score, why in rows:
            typer.echo(json_line({"source": source, "target": image, "score": round(score, 4), "why": why}))
        for place in rest:
            typer.echo(json_line({"source": place, "target": None, "score": None, "why": None}))
        return
    shown = [[source, image, why] for source, image, _, why in rows] + [[place, "", ""] for place in rest]
    if shown:
        print_table([Column("source"), Column("target"), Column("why")], shown)


def _shown(key: str, tree: SchemaTree) -> str:
    """A place with the prefixes of its schema."""
    from twigcast.rewriting import shown_path

    bindings = tree.graph.bindings if tree.graph is not None else {}
    return shown_path(key, {uri: prefix for prefix, uri in bindings.items()})
