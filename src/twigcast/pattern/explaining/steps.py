"""Counts the nodes of each step and predicate of a pattern, and explains where there are none.

    ✗ /nitf/body//p[@lang='en'][em]/person
      ✓ /nitf            1 of 1   /nitf
      ✓ /body            1 of 1   /nitf/body
      ✗ //p              0 of 2   /nitf/body/p[1]   ← stopped here
          ✗ @lang='en'   0 of 2   found 'de'
          ✓ em           1 of 2
      · /person

For each step the explanation counts the nodes that its axis and name test reach, and how many of them satisfy
all its predicates.  Each predicate is also counted alone, which distinguishes a predicate that never holds
from two predicates that never hold together.

All counts are made first.  The reasons come after them, so a pattern whose counts are within the limit of
work is explained, if need be without reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from twigcast.document import Document, Element, Node, node_path
from twigcast.errors import EvaluationError
from twigcast.pattern.evaluating import Evaluation
from twigcast.pattern.explaining.evidence import Condition, Examiner
from twigcast.pattern.explaining.explanation import (
    AlternativeExplanation,
    Explanation,
    StepExplanation,
)
from twigcast.pattern.explaining.names import Names
from twigcast.pattern.explaining.prefixes import Prefixes, from_document
from twigcast.pattern.expression import ANY_BELOW, AxisStep, ContextNode, DocumentNode
from twigcast.pattern.expression_values import Focus, in_order
from twigcast.pattern.rendering import (
    render,
    render_absolute,
    render_name,
    render_predicate,
    render_tail,
)
from twigcast.pattern.tree import AttributeTail, Axis, Onward, Path, Pattern


def explain(
    pattern: Pattern,
    document: Document,
    steps: int | None = None,
    *,
    namespaces: Mapping[str, str] | None = None,
    text: str | None = None,
) -> Explanation:
    """Explain why ``pattern`` matches ``document``, or at which step each of its alternatives fails.

    Names are written with the prefixes of ``namespaces``, or else with those of the document.  ``text`` is
    the expression as its user wrote it.

    Raises ``EvaluationError`` if this takes more than ``steps`` steps; by default there is no limit.
    """
    evaluation = Evaluation(steps)
    prefixes = Prefixes(namespaces, document)
    examiner = Examiner(evaluation, prefixes, Names(document, evaluation, prefixes))
    counting = _Counting(evaluation, prefixes, examiner, document)
    counted = [(path, *counting.alternative(path)) for path in pattern.alternatives]
    alternatives = tuple([_alternative(*each, prefixes, examiner) for each in counted])
    matched = any(each.selected for each in alternatives)
    return Explanation(render(pattern), matched, alternatives, text)


@dataclass(frozen=True, slots=True)
class _Counted:
    """A step with the nodes before it, those it reaches and those that satisfy it.

    For each condition there are the foci at which it was evaluated, and the number at which it holds.
    ``hint`` looks for what the step may have meant, if it reaches nothing.
    """

    text: str
    before: Sequence[Node]
    found: Sequence[Node]
    kept: Sequence[Node]
    conditions: Sequence[tuple[Condition, Sequence[Focus], int]] = ()
    hint: Callable[[], str | None] = lambda: None


class _Counting:
    """Follows the paths of a pattern through a document, one step after the other."""

    def __init__(
        self, evaluation: Evaluation, prefixes: Prefixes, examiner: Examiner, document: Document
    ) -> None:
        self._evaluation = evaluation
        self._prefixes = prefixes
        self._examiner = examiner
        self._names = Names(document, evaluation, prefixes)
        self._document = document

    def alternative(self, path: Path) -> tuple[list[_Counted], int]:
        """The steps of a path, and the number of nodes that it selects."""
        steps: list[_Counted] = []
        reached: list[Document | Element] = [self._document]
        if path.filters or not (path.steps or path.tail):
            kept = [node for node in reached if all(self._evaluation.holds(f, node) for f in path.filters)]
            steps.append(_Counted("/", reached, reached, kept, self._conditions(path.filters, reached)))
            reached = kept
        for step in path.steps:
            before = reached
            found = self._evaluation.candidates(step, before)
            kept = [element for element in found if self._evaluation.satisfies(step, element)]
            text = self._prefixes.text(step.axis.value + render_name(step.test))
            hint = partial(self._names.element, step.test, before, step.axis is Axis.CHILD)
            conditions = self._conditions(step.predicates, found)
            steps.append(_Counted(text, before, found, kept, conditions, hint))
            reached = list(kept)
        if path.tail is None:
            return steps, len(reached)
        if isinstance(path.tail, Onward):
            return self._onward(path.tail, reached, steps)
        tail = path.tail
        selected = self._evaluation.end(tail, reached)
        text = self._prefixes.text(render_tail(tail))
        steps.append(
            _Counted(
                text,
                reached,
                selected,
                selected,
                hint=lambda: (
                    self._names.attribute(tail.test, reached) if isinstance(tail, AttributeTail) else None
                ),
            )
        )
        return steps, len(selected)

    def _conditions(
        self, conditions: Iterable[Condition], nodes: Sequence[Node]
    ) -> list[tuple[Condition, Sequence[Focus], int]]:
        foci = [Focus(node) for node in nodes]
        return [(each, foci, self._held(each, foci)) for each in conditions]

    def _held(self, condition: Condition, foci: Sequence[Focus]) -> int:
        return sum(self._examiner.holds(condition, focus) for focus in foci)

    def _onward(
        self, tail: Onward, before: Sequence[Node], steps: list[_Counted]
    ) -> tuple[list[_Counted], int]:
        values = self._evaluation.expressions
        reached: list[Node] = list(before)
        if not isinstance(tail.start, ContextNode):
            foci = [Focus(node) for node in before]
            reached = in_order(node for each in before for node in values.follow((), tail.start, each))
            if not isinstance(tail.start, DocumentNode):
                text = self._examiner.text(tail.start, foci)
                start = tail.start
                steps.append(
                    _Counted(
                        text, before, reached, reached, hint=lambda: self._examiner.absence(start, foci).hint
                    )
                )
        deep = False
        for at, step in enumerate(tail.steps):
            if step == ANY_BELOW and at < len(tail.steps) - 1:
                reached = in_order(node for each in reached for node in values.step(step, each))
                deep = True
                continue
            counted = self._general_step(step, reached, deep)
            steps.append(counted)
            reached = list(counted.kept)
            deep = False
        return steps, len(reached)

    def _general_step(self, step: AxisStep, before: list[Node], deep: bool) -> _Counted:
        bare = AxisStep(step.axis, step.test)
        lists = [self._evaluation.expressions.step(bare, node) for node in before]
        found = in_order(node for nodes in lists for node in nodes)
        conditions: list[tuple[Condition, Sequence[Focus], int]] = []
        for predicate in step.predicates:
            numbered = [[Focus(n, at, len(nodes)) for at, n in enumerate(nodes, 1)] for nodes in lists]
            held = [[each for each in foci if self._examiner.holds(predicate, each)] for foci in numbered]
            lists = [[each.node for each in foci] for foci in held]
            asked = [each for foci in numbered for each in foci]
            conditions.append((predicate, asked, sum(map(len, lists))))
        kept = in_order(node for nodes in lists for node in nodes)
        text = f"{'//' if deep else '/'}{self._examiner.step_text(step)}"
        return _Counted(
            text,
            before,
            found,
            kept,
            conditions,
            hint=lambda: self._examiner.step_hint(step, before, deep),
        )


def _alternative(
    path: Path, counted: Sequence[_Counted], selected: int, prefixes: Prefixes, examiner: Examiner
) -> AlternativeExplanation:
    steps = tuple([_step(each, examiner) for each in counted])
    stopped = next((step.step for step in steps if not step.kept), None)
    return AlternativeExplanation(_path_text(path, prefixes), selected, stopped, steps)


def _step(counted: _Counted, examiner: Examiner) -> StepExplanation:
    example = next(iter([*counted.kept[:1], *counted.found[:1]]), None)
    hint = None
    if counted.before and not counted.found:
        try:
            hint = counted.hint()
        except EvaluationError:  # the counts are known, only the hint takes too much work
            hint = None
    return StepExplanation(
        step=counted.text,
        reached=bool(counted.before),
        found=len(counted.found),
        kept=len(counted.kept),
        example=None if example is None else node_path(example),
        predicates=tuple([examiner.explain(*each) for each in counted.conditions]),
        hint=hint,
    )


def _path_text(path: Path, prefixes: Prefixes) -> str:
    """The text of an alternative; a condition on the document as it is written at the top."""
    if path.filters and not path.steps and path.tail is None:
        return from_document(prefixes.text(" and ".join([render_predicate(each) for each in path.filters])))
    return prefixes.text(render_absolute(path))
