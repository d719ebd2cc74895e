"""Run the W3C XML conformance suite through the kernel and ``document.read``, with expat as the judge.

    python -m tests.conformance [--cache build/conformance] [--verbose]

The suite is fetched with npm the first time.  Exit status: 0 if the kernel and ``read`` give expat's verdict
on every case but the deliberate refusals, 1 if not, 2 if there is no suite.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from xml.parsers import expat

from tests.conformance.suite import PACKAGE, SuiteCase, SuiteError, fetch, read_cases
from tests.conformance.verdicts import DELIBERATE, Outcome, Readers

PROJECT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__.split("\n")[0])
    parser.add_argument(
        "--cache", type=Path, default=PROJECT / "build" / "conformance", help="folder of the fetched suite"
    )
    parser.add_argument("--verbose", action="store_true", help="also list refusals, and expat's own answers")
    arguments = parser.parse_args()
    try:
        cases = read_cases(fetch(arguments.cache))
    except SuiteError as error:
        print(error, file=sys.stderr)
        return 2
    readers = Readers()
    outcomes = [(case, readers.compare(case.body)) for case in cases]
    print(f"{PACKAGE}, {expat.EXPAT_VERSION}")
    print_table(outcomes)
    print_suite(outcomes, arguments.verbose)
    if arguments.verbose:
        print_refusals(outcomes)
    return print_disagreements(outcomes)


def print_table(outcomes: list[tuple[SuiteCase, Outcome]]) -> None:
    """For each kind of case, how many there are, and how kernel and ``read`` answered them."""
    columns = ["cases", "agreed", *(refusal.code for refusal in DELIBERATE), "disagreements"]
    rows: dict[str, Counter[str]] = {}
    for case, outcome in outcomes:
        for name in (f"XML {case.version} {case.kind}", "all"):
            row = rows.setdefault(name, Counter())
            row["cases"] += 1
            if outcome.disagreement:
                row["disagreements"] += 1
            else:
                row[outcome.refusal.code if outcome.refusal else "agreed"] += 1
    columns = [column for column in columns if rows["all"][column] or column in ("agreed", "disagreements")]
    print(f"\n{'':16}" + "".join(f"{column:>19}" for column in columns))
    for name in sorted(rows, key=lambda name: (name == "all", name)):
        print(f"{name:16}" + "".join(f"{rows[name][column]:>19,}" for column in columns))
    print("\nDeliberate refusals of documents that expat accepts without reading anything external:")
    for refusal in DELIBERATE:
        if count := rows["all"][refusal.code]:
            print(f"  {refusal.code:20} {count:5,}  the document {refusal.reason}")


def print_suite(outcomes: list[tuple[SuiteCase, Outcome]], verbose: bool) -> None:
    """Where expat itself does not answer as the suite expects, grouped by why."""
    groups: dict[str, list[str]] = {}
    for case, outcome in outcomes:
        if case.version == "1.0" and case.kind != "error":
            accepted = not outcome.judgement.error
            if accepted == (case.kind == "not-wf"):
                groups.setdefault(explanation(case, outcome), []).append(case.id)
    print("\nCases of XML 1.0 that expat itself answers otherwise than the suite:")
    for why, ids in sorted(groups.items(), key=lambda group: -len(group[1])):
        print(f"  {len(ids):5,}  {why}")
        if verbose:
            print("         " + " ".join(ids))


def explanation(case: SuiteCase, outcome: Outcome) -> str:
    """The most likely reason why expat's answer is not that of the suite."""
    if case.kind != "not-wf":
        if not case.namespaces:
            return "refused: well-formed only without namespaces"
        if case.editions == "5":
            return "refused: a name or version of the fifth edition, which expat does not implement"
        return f"refused: {outcome.judgement.error.split(':')[0]}"
    if case.entities != "none" or outcome.judgement.incomplete or outcome.judgement.external:
        return "accepted: the fault may be in an external entity, which is not read"
    if "5" not in case.editions:
        return "accepted: not well-formed in the first four editions only"
    return "accepted: expat does not check this rule"


def print_refusals(outcomes: list[tuple[SuiteCase, Outcome]]) -> None:
    for refusal in DELIBERATE:
        ids = [case.id for case, outcome in outcomes if outcome.refusal is refusal]
        if ids:
            print(f"\n{refusal.code}: " + " ".join(ids))


def print_disagreements(outcomes: list[tuple[SuiteCase, Outcome]]) -> int:
    wrong = [(case, outcome) for case, outcome in outcomes if outcome.disagreement]
    print(f"\nDisagreements: {len(wrong)}")
    for case, outcome in wrong:
        print(f"  {case.id} ({case.path.name}): {outcome.disagreement}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
