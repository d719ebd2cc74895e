"""Explains why a pattern matches a document, or at which step it fails.

    ✗ /nitf/body//p[@lang='en'][em]/person
      ✓ /nitf            1 of 1   /nitf
      ✓ /body            1 of 1   /nitf/body
      ✗ //p              0 of 2   /nitf/body/p[1]   ← stopped here
          ✗ @lang='en'   0 of 2
          ✓ em           1 of 2
      · /person

For each step the explanation counts the nodes that its axis and name test reach, and how many of them satisfy
all its predicates.  Each predicate is also counted alone, which distinguishes a predicate that never holds
from two predicates that never hold together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from twigcast.document import Document, Element, Node, node_path
from twigcast.pattern.evaluating import Evaluation
from twigcast.pattern.rendering import render, render_absolute, render_name, render_predicate, render_tail
from twigcast.pattern.tree import Path, Pattern, Predicate


@dataclass(frozen=True, slots=True)
class PredicateExplanation:
    """For how many nodes a predicate is true, and for how many it was evaluated."""

    predicate: str
    held: int
    asked: int


@dataclass(frozen=True, slots=True)
class StepExplanation:
    """How many nodes the axis and name of a step reach (``found``), and how many satisfy it (``kept``).

    ``example`` is the path of the first kept node, or else of the first found node.
    """

    step: str
    reached: bool
    found: int
    kept: int
    example: str | None
    predicates: tuple[PredicateExplanation, ...]


@dataclass(frozen=True, slots=True)
class AlternativeExplanation:
    """One path of the pattern: its steps, how many nodes it selects, and the step at which it fails."""

    path: str
    selected: int
    stopped: str | None
    steps: tuple[StepExplanation, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pattern matches a document or does not; ``str`` is for people, ``to_dict`` for JSON."""

    pattern: str
    matched: bool
    alternatives: tuple[AlternativeExplanation, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The lines for people; a line may have a line end of a literal in it."""
        return [line for alternative in self.alternatives for line in _lines(alternative)]

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def explain(pattern: Pattern, document: Document, steps: int | None = None) -> Explanation:
    """Explain why ``pattern`` matches ``document``, or at which step each of its alternatives fails.

    Raises ``EvaluationError`` if this takes more than ``steps`` steps; by default there is no limit.
    """
    evaluation = Evaluation(steps)
    alternatives = tuple([_alternative(path, document, evaluation) for path in pattern.alternatives])
    return Explanation(render(pattern), any(each.selected for each in alternatives), alternatives)


def _alternative(path: Path, document: Document, evaluation: Evaluation) -> AlternativeExplanation:
    steps: list[StepExplanation] = []
    reached: list[Document | Element] = [document]
    if path.filters or not path.steps:
        kept = [node for node in reached if all(evaluation.holds(each, node) for each in path.filters)]
        steps.append(_step("/", reached, reached, kept, path.filters, evaluation))
        reached = kept
    for step in path.steps:
        found = evaluation.candidates(step, reached)
        satisfying = [element for element in found if evaluation.satisfies(step, element)]
        text = step.axis.value + render_name(step.test)
        steps.append(_step(text, reached, found, satisfying, step.predicates, evaluation))
        reached = list(satisfying)
    selected: list[Node] = list(reached)
    if path.tail is not None:
        selected = evaluation.end(path.tail, reached)
        steps.append(_step(render_tail(path.tail), reached, selected, selected, (), evaluation))
    stopped = next((step.step for step in steps if not step.kept), None)
    return AlternativeExplanation(render_absolute(path), len(selected), stopped, tuple(steps))


def _step(
    text: str,
    before: Sequence[Node],
    found: Sequence[Node],
    kept: Sequence[Node],
    predicates: Sequence[Predicate],
    evaluation: Evaluation,
) -> StepExplanation:
    example = next(iter([*kept[:1], *found[:1]]), None)
    return StepExplanation(
        step=text,
        reached=bool(before),
        found=len(found),
        kept=len(kept),
        example=None if example is None else node_path(example),
        predicates=tuple([_predicate(predicate, found, evaluation) for predicate in predicates]),
    )


def _predicate(predicate: Predicate, found: Sequence[Node], evaluation: Evaluation) -> PredicateExplanation:
    held = sum(evaluation.holds(predicate, node) for node in found if isinstance(node, Document | Element))
    return PredicateExplanation(render_predicate(predicate), held, len(found))


def _lines(alternative: AlternativeExplanation) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    for step in alternative.steps:
        if not step.reached:
            rows.append((f"  · {step.step}", "", ""))
            continue
        example = step.example or ""
        if not step.kept:
            example = f"{example}   ← stopped here".lstrip()
        count = f"{step.kept} of {step.found}" if step.found else "none"
        rows.append((f"  {_mark(step.kept)} {step.step}", count, example))
        for each in step.predicates:
            rows.append((f"      {_mark(each.held)} {each.predicate}", f"{each.held} of {each.asked}", ""))
    left = max(len(row[0]) for row in rows)
    middle = max(len(row[1]) for row in rows)
    title = f"{_mark(alternative.selected)} {alternative.path}"
    return [title, *[f"{a:{left}}   {b:{middle}}   {c}".rstrip() for a, b, c in rows]]


def _mark(count: int) -> str:
    return "✓" if count else "✗"
