"""``twigcast schema check`` reports what is wrong with mapping files, and where an image may surprise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twigcast.cli.options import (
    AsJson,
    DefaultNamespace,
    Namespaces,
    OptionalSubscriptions,
    SubscriptionFormat,
    examples,
    namespace_map,
)
from twigcast.cli.schema.subscribed import subscribed_patterns
from twigcast.cli.terminal import complain, escaped, json_line, plural

if TYPE_CHECKING:
    from twigcast.rewriting import CheckedMapping, MappingFinding

EXAMPLES = examples(
    "twigcast schema check mappings/",
    "twigcast schema check mappings/cmu.toml --operators",
    "twigcast schema check mappings/ --subscriptions s.txt",
    "twigcast schema check mappings/cmu.toml --accept",
)


def command(
    mappings: Annotated[
        list[Path], typer.Argument(metavar="MAPPING...", help="Mapping files, or folders of them.")
    ],
    subscriptions: OptionalSubscriptions = None,
    format: SubscriptionFormat = None,
    namespace: Namespaces = None,
    default_namespace: DefaultNamespace = None,
    operators: Annotated[
        bool, typer.Option("--operators", help="Print the operators that are derived from the pairs.")
    ] = False,
    accept: Annotated[
        bool,
        typer.Option(
            "--accept",
            help="Write the hashes of source schema and operators, as they are now, into the files.",
        ),
    ] = False,
    json: AsJson = False,
) -> None:
    """Check mapping files: places, operators, collisions, changes of the source schema, and their tests.

    An error makes a mapping unusable; the exit code is then 1.
    A warning says where the answers of subscriptions may surprise.
    With --subscriptions, those that no document of the global schema can match are reported, too.
    With --json the output is one object for each finding: file, level, code, message, place.
    """
    from twigcast.errors import MappingError
    from twigcast.rewriting import (
        MappingFinding,
        check_mapping,
        check_together,
        mapping_paths,
        read_mapping_file,
    )

    checked: list[CheckedMapping] = []
    bad = warnings = 0
    paths = mapping_paths(mappings)
    for path in paths:
        try:
            file = read_mapping_file(path)
        except MappingError as error:
            if not path.exists():
                raise
            finding = MappingFinding("error", error.code, error.message.removeprefix(f"{path}: "))
            typer.echo(_line(str(path), finding, json=json))
            bad += 1
            continue
        each = check_mapping(file)
        if accept and each.mapping is not None:
            each = _accepted(each)
        checked.append(each)
        for finding in each.findings:
            typer.echo(_line(str(path), finding, json=json))
        bad += not each.is_good
        warnings += sum(finding.level == "warning" for finding in each.findings)
        if operators and each.mapping is not None:
            _print_operators(each)
    for finding in check_together(checked):
        typer.echo(_line("", finding, json=json))
        bad += finding.level == "error"
        warnings += finding.level == "warning"
    if subscriptions is not None:
        bindings = namespace_map(namespace, default_namespace)
        bad += _outside(checked, subscriptions, format, bindings, json=json)
    verdict = f"{bad:,} bad" if bad else "all good"
    warned = f", {plural(warnings, 'warning')}" if warnings else ""
    complain(f"{plural(len(paths), 'mapping')}, {verdict}{warned}")
    if bad:
        raise typer.Exit(1)


def _accepted(checked: CheckedMapping) -> CheckedMapping:
    from twigcast.rewriting import check_mapping, read_mapping_file, update_mapping_file

    file, mapping = checked.file, checked.mapping
    assert mapping is not None
    update_mapping_file(file.path, settings={"reviewed": file.source_hash(), "derived": mapping.hash[:8]})
    return check_mapping(read_mapping_file(file.path))


def _print_operators(checked: CheckedMapping) -> None:
    from twigcast.rewriting import shown_operator

    file, mapping = checked.file, checked.mapping
    assert mapping is not None
    prefixes = file.prefixes(mapping.source, file.target_tree())
    typer.echo(f"{file.path}: {escaped(mapping.reference)}")
    for operator in mapping.operators:
        typer.echo(f"  {escaped(shown_operator(operator, prefixes))}")


def _outside(
    checked: list[CheckedMapping],
    path: Path,
    format: str | None,
    namespaces: dict[str, str],
    *,
    json: bool,
) -> int:
    """Report subscriptions that the global schema has no place for; the number of bad lines."""
    from twigcast.rewriting import MappingFinding, outside_schema
    from twigcast.schema import read_schema

    targets = sorted({each.file.target for each in checked})
    graphs = [read_schema(target) for target in targets]
    patterns, refused = subscribed_patterns(path, format, namespaces)
    for subscription, pattern in patterns:
        reasons = [outside_schema(pattern, graph) for graph in graphs]
        if reasons and all(reasons):
            message = f"{subscription.id}: {subscription.text}: {reasons[0]}"
            finding = MappingFinding("warning", "outside", message, str(subscription.id))
            typer.echo(_line(str(path), finding, json=json))
    return refused


def _line(path: str, finding: MappingFinding, *, json: bool) -> str:
    if json:
        fields = {"file": path, "level": finding.level, "code": finding.code}
        return json_line(fields | {"message": finding.message, "place": finding.place})
    message = finding.message.removeprefix(f"{path}: ")
    where = f"{path}: " if path else ""
    return escaped(f"{where}{finding.level}: {message} ({finding.code})")
