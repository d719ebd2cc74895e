"""``twigcast match`` prints the subscriptions that documents match."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli import documents
from twigcast.cli.fragment_matching import FragmentReading, ScheduleName, arrivals, failure
from twigcast.cli.index_building import build, document_limits
from twigcast.cli.match_answers import (
    DocumentAnswer,
    DocumentRefusal,
    Form,
    MatchedPart,
    Wanted,
    json_lines,
    print_answers,
    tab_lines,
    write,
)
from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    Limits,
    MappingFiles,
    MaximumBytes,
    MaximumDepth,
    Namespaces,
    OptionalSubscriptions,
    SubscriptionFormat,
    Unknown,
    UnknownRoots,
    examples,
    namespace_map,
)
from twigcast.cli.terminal import complain_of, limit_hint, progress
from twigcast.errors import DocumentError, EvaluationError, SourceError, StructureError

if TYPE_CHECKING:
    from twigcast.filtering import Index
    from twigcast.rewriting import Mappings

EXAMPLES = examples(
    "twigcast match --subscriptions news.txt article.xml",
    "twigcast match --subscriptions news.tsv --json feed/ > matches.jsonl",
    "gunzip -c article.xml.gz | twigcast match --index news.tci --count -",
    "twigcast match -s news.txt --select --id 12 article.xml",
    "twigcast match -s g2.txt -n n=http://iptc.org/std/nar/2006-10-01/ feed/",
    "twigcast match -s s.txt --mappings mappings/ feed/",
    "twigcast match -s news.txt --structure article.xml",
    "twigcast match -s s.txt --cores 0 huge.xml",
    "twigcast match -s s.txt --fragments --early parts/",
)


@dataclass(frozen=True, slots=True)
class MappingOptions:
    """The mappings by which documents are matched, if there are any."""

    mappings: Mappings | None
    unknown: Unknown


def command(
    document: Annotated[
        list[str],
        typer.Argument(metavar="DOCUMENT...", help="Files, directories (searched for *.xml), - for stdin."),
    ],
    subscriptions: OptionalSubscriptions = None,
    index: Annotated[
        Path | None,
        typer.Option("--index", "-i", metavar="FILE", help="Index file made by twigcast index build."),
    ] = None,
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    count: Annotated[
        bool, typer.Option("--count", "-c", help="Print only the number of matches of each document.")
    ] = False,
    select: Annotated[
        bool, typer.Option("--select", help="Print the selected parts: byte range, kind and text.")
    ] = False,
    structure: Annotated[
        bool,
        typer.Option(
            "--structure",
            help="Match only the structure of each document, as a router does that has not got the document, "
            "and print which subscriptions match for certain and which are left open.",
        ),
    ] = False,
    id: Annotated[
        list[str] | None,
        typer.Option("--id", metavar="ID", help="With --select, only this subscription; repeatable."),
    ] = None,
    parts: Annotated[
        Form | None,
        typer.Option(
            "--parts",
            help="With --select, print an element as a document, with the namespaces that it uses (default), "
            "or as the bare range of bytes.",
        ),
    ] = None,
    json: AsJson = False,
    show: Annotated[
        int, typer.Option("--show", min=1, metavar="N", help="Ids shown per document in the table.")
    ] = 5,
    cores: Annotated[
        int | None,
        typer.Option(
            "--cores",
            min=0,
            metavar="N",
            help="Match each document in parts on N cores (0: all); memory does not depend on its size.",
        ),
    ] = None,
    fragments: Annotated[
        bool,
        typer.Option("--fragments", help="The arguments are fragments (.tcf) or folders of them."),
    ] = False,
    schedule: Annotated[
        ScheduleName | None,
        typer.Option("--schedule", help="With --fragments, the order in which a window is evaluated."),
    ] = None,
    window: Annotated[
        int,
        typer.Option(
            "--window", min=0, metavar="W", help="With --fragments, how many wait together; 0: all."
        ),
    ] = 1,
    early: Annotated[
        bool,
        typer.Option("--early", help="With --fragments, print a match as soon as it is certain."),
    ] = False,
    trusted: Annotated[
        bool,
        typer.Option(
            "--trusted", help="With --fragments, do not parse those that make no difference by their headers."
        ),
    ] = False,
    mappings: MappingFiles = None,
    unknown: UnknownRoots = Unknown.DEAD_LETTER,
    max_bytes: MaximumBytes = None,
    max_depth: MaximumDepth = None,
    limit: Limits = None,
) -> None:
    """Print which subscriptions each document matches.

    On a terminal the answer is a table.
    Piped, it is one line for each match: document, tab, id (with --count: document, tab, number;
    with --select: document, id, start, end, kind, text; with --structure: document, id, certain or open).
    With --json it is one object for each document.

    With --fragments, documents are matched in the parts that twigcast fragment has made, in any order and
    without putting them together; the answers are those of the whole documents.

    With --mappings, subscriptions are written against the global schema, and parts are those of the original.

    A document that cannot be read is reported on stderr, and the other documents are still matched;
    the exit code is then 1.
    The same is true of a bad line in the file of subscriptions, and of a subscription that takes too much
    work to decide on a document (limit work), or whose selected parts are too large together (limit
    part_amplification); --limit raises a limit.
    """
    wanted = _wanted(count, select, structure, id, parts)
    reading = FragmentReading(schedule, window, early, trusted)
    _check_parts(wanted, cores, fragments, reading, mappings)
    if (subscriptions is None) == (index is None):
        raise typer.BadParameter("give either --subscriptions or --index", param_hint="--subscriptions")
    limits = document_limits(max_bytes, max_depth, limit)
    refused_lines = 0
    if index is not None:
        from twigcast.filtering import Index

        compiled = Index.open(index, limits=limits)
    else:
        assert subscriptions is not None
        compiled, refused_lines = build(
            subscriptions, format, namespace_map(namespace, default_namespace), limits
        )
    mediation = MappingOptions(_loaded(mappings), unknown)
    only = frozenset(id) if id else None
    streams = _streams(json)
    all_good = not refused_lines
    rows: list[DocumentAnswer] = []
    with contextlib.ExitStack() as stack:
        if fragments:
            answers = _of_fragments(compiled, [Path(each) for each in document], reading, stack)
        else:
            sources = list(documents.find(document))
            counted = stack.enter_context(progress("Matching", sources, total=len(sources)))
            answers = (
                _outcome(compiled, source, wanted, only, parts or Form.DOCUMENT, mediation, cores)
                for source in counted
            )
        for outcome in answers:
            if outcome.error is not None:
                all_good = False
                if streams:
                    complain_of(outcome.error, outcome.document, hint=limit_hint(outcome.error))
            for refused in outcome.refused:
                all_good = False
                where = f"{outcome.document}: {refused.id}"
                complain_of(refused.error, where, hint=limit_hint(refused.error))
            if streams:
                write(json_lines(outcome, wanted) if json else tab_lines(outcome, wanted))
            else:
                rows.append(outcome)
    if not streams:
        print_answers(rows, wanted, show)
    if not all_good:
        raise typer.Exit(1)


def _wanted(count: bool, select: bool, structure: bool, id: list[str] | None, parts: Form | None) -> Wanted:
    given = [option for option, is_given in (("--count", count), ("--select", select)) if is_given]
    given += ["--structure"] if structure else []
    if len(given) > 1:
        raise typer.BadParameter(f"{given[0]} and {given[1]} exclude each other", param_hint=given[0])
    if id and not select:
        raise typer.BadParameter("--id goes with --select", param_hint="--id")
    if parts and not select:
        raise typer.BadParameter("--parts goes with --select", param_hint="--parts")
    return {"--count": Wanted.COUNT, "--select": Wanted.PARTS, "--structure": Wanted.STRUCTURE}.get(
        "".join(given), Wanted.IDS
    )


def _check_parts(
    wanted: Wanted, cores: int | None, fragments: bool, reading: FragmentReading, mappings: list[Path] | None
) -> None:
    """Refuse options that do not go together with --cores or --fragments, or need them."""
    name = "--fragments" if fragments else "--cores"
    if fragments and cores is not None:
        raise typer.BadParameter("--fragments and --cores exclude each other", param_hint="--cores")
    if (fragments or cores is not None) and (wanted in (Wanted.PARTS, Wanted.STRUCTURE) or mappings):
        other = "--mappings" if mappings else "--select" if wanted is Wanted.PARTS else "--structure"
        raise typer.BadParameter(f"{name} and {other} exclude each other", param_hint=name)
    if reading != FragmentReading() and not fragments:
        message = "--schedule, --window, --early and --trusted go with --fragments"
        raise typer.BadParameter(message, param_hint="--fragments")


def _of_fragments(
    index: Index, paths: list[Path], reading: FragmentReading, stack: contextlib.ExitStack
) -> Iterator[DocumentAnswer]:
    """The answers for documents in fragments; with ``early`` also answers of what is certain on the way."""
    from twigcast.fragmenting import Certain

    def counted(files: list[Path]) -> Iterator[Path]:
        return stack.enter_context(progress("Matching fragments", files, total=len(files)))

    told: dict[str, set[Hashable]] = {}
    for arrival in arrivals(index, paths, reading, counted):
        if arrival.error is not None:
            name = getattr(arrival.error, "path", "")
            yield DocumentAnswer(name, [], 0, [], arrival.error)
        for news in arrival.news:
            if isinstance(news, Certain):
                told.setdefault(news.doc_id, set()).update(news.ids)
                yield DocumentAnswer(news.doc_id, list(news.ids), len(news.ids), [], share=news.share or 0.0)
            elif news.match is None:
                yield DocumentAnswer(news.doc_id, [], 0, [], failure(news))
            else:
                before = told.pop(news.doc_id, set())
                ids = [id for id in news.match.ids if id not in before]
                refused = [DocumentRefusal(each.id, each.error) for each in news.match.undecided]
                yield DocumentAnswer(news.doc_id, ids, len(ids), [], refused=refused)


def _streams(json: bool) -> bool:
    """Whether each answer is written at once; otherwise a table is printed at the end."""
    return json or not sys.stdout.isatty()


def _loaded(paths: list[Path] | None) -> Mappings | None:
    if paths is None:
        return None
    from twigcast.rewriting import Mappings

    return Mappings.load(paths)


def _outcome(
    index: Index,
    source: documents.DocumentFile,
    wanted: Wanted,
    only: frozenset[str] | None,
    form: Form,
    mediation: MappingOptions,
    cores: int | None,
) -> DocumentAnswer:
    mapping: str | None = None
    try:
        if cores is not None and source.name != "-":
            return _in_parts(index, source, cores)
        body = source.read(index.limits.bytes)
        if wanted is Wanted.STRUCTURE:
            return _told(index, source.text, body, mediation)
        match = index.match(body, rewriting=mediation.mappings, unknown=mediation.unknown.value)
        mapping = match.mapping
        ids = [id for id in match.ids if only is None or str(id) in only]
        refused = [DocumentRefusal(each.id, each.error) for each in match.undecided]
        parts: list[MatchedPart] = []
        if wanted is Wanted.PARTS:
            parts = list(_parts(index, body, ids, form, refused, mediation.mappings, mapping))
    except (DocumentError, SourceError, StructureError) as error:
        return DocumentAnswer(source.text, [], 0, [], error, mapping=mapping)
    return DocumentAnswer(source.text, ids, len(ids), parts, refused=refused, mapping=mapping)


def _in_parts(index: Index, source: documents.DocumentFile, cores: int) -> DocumentAnswer:
    """The answer for a document that is matched in parts; raises ``DocumentError`` or ``SourceError``."""
    from twigcast.fragmenting import match_large

    match = match_large(index, source.open, cores=cores)
    refused = [DocumentRefusal(each.id, each.error) for each in match.undecided]
    return DocumentAnswer(source.text, match.ids, len(match), [], refused=refused)


def _told(index: Index, name: str, body: bytes, mediation: MappingOptions) -> DocumentAnswer:
    """What the structure of a document tells; raises ``DocumentError`` or ``StructureError``."""
    structure = index.structure(body, rewriting=mediation.mappings, unknown=mediation.unknown.value)
    told = index.match_structure(structure)
    return DocumentAnswer(
        name,
        told.ids,
        len(told),
        [],
        open=told.open_ids,
        structure_bytes=len(structure),
        body_bytes=len(body),
    )


def _parts(
    index: Index,
    body: bytes,
    ids: Iterable[Hashable],
    form: Form,
    refused: list[DocumentRefusal],
    mappings: Mappings | None,
    applied: str | None,
) -> Iterator[MatchedPart]:
    """The parts that the subscriptions selected; the document is parsed once for all of them.

    With a mapping they are the nodes of the original from which the selected ones were made.
    """
    from twigcast.document import PartCutter, read
    from twigcast.pattern import select

    document = read(body, index.limits)
    cutter = PartCutter(document, form.value, index.limits)
    mapping = next((each for each in mappings or () if each.reference == applied), None)
    image = document if mapping is None else mapping.apply(document, index.limits)
    for id in ids:
        try:
            found = select(index.pattern(id), image, index.limits.steps(len(body)))
            sources = dict.fromkeys(source for node in found for source in image.sources(node))
            nodes = sorted(sources, key=lambda node: node.order)
            texts = cutter.texts(nodes)
        except (DocumentError, EvaluationError) as error:
            refused.append(DocumentRefusal(id, error))
            continue
        for node, text in zip(nodes, texts, strict=True):
            yield MatchedPart(id, node.start, node.end, type(node).__name__.lower(), text)
