"""What a predicate met where it never held: the values that it compared, or the step that selects nothing.

✗ @lang='en'   0 of 2   found 'fr', 'de'
✗ price>100    0 of 1   found 45.5
✗ a/b/c        0 of 1   there is a/b, but no c in it
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from twigcast.document import Document, Element, Node, node_path
from twigcast.errors import EvaluationError
from twigcast.pattern.evaluating import Evaluation
from twigcast.pattern.explaining.explanation import PredicateExplanation
from twigcast.pattern.explaining.found_values import Evidence, found_counts, found_values, shown_value
from twigcast.pattern.explaining.names import Names
from twigcast.pattern.explaining.prefixes import Prefixes, from_document
from twigcast.pattern.expression import (
    ANY_BELOW,
    AxisStep,
    Call,
    ContextNode,
    Date,
    Expression,
    Filtered,
    Negative,
    Number,
    Operation,
    Selection,
    SiblingCount,
    String,
    Union,
    parts,
)
from twigcast.pattern.expression_values import Focus, in_order, language
from twigcast.pattern.functions import ARITHMETIC, COMPARISONS, ORDERS, to_boolean, to_string
from twigcast.pattern.numbers import number
from twigcast.pattern.rendering import (
    render_expression,
    render_name,
    render_path,
    render_predicate,
    render_tail,
)
from twigcast.pattern.tree import (
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    Not,
    Onward,
    Or,
    Path,
    Position,
    Predicate,
    StringTest,
    Test,
    counted_among,
)

Condition: TypeAlias = Predicate | Expression
"""A predicate of a step of a pattern, or of a general step."""

_CALCULATIONS = frozenset({"number", "sum", "floor", "ceiling", "round"})
_PREDICATES = (Exists, Comparison, StringTest, Length, Count, Position, And, Or, Not, Test)


class Examiner:
    """Explains predicates at the nodes where they were evaluated."""

    def __init__(self, evaluation: Evaluation, prefixes: Prefixes, names: Names) -> None:
        self._evaluation = evaluation
        self._prefixes = prefixes
        self._names = names

    def holds(self, condition: Condition, focus: Focus) -> bool:
        """Whether a condition is true at a focus."""
        if isinstance(condition, _PREDICATES):
            assert isinstance(focus.node, Document | Element)
            return self._evaluation.holds(condition, focus.node)
        value = self._evaluation.expressions.value(condition, focus)
        return bool(value) if isinstance(value, list) else to_boolean(value)

    def explain(self, condition: Condition, foci: Sequence[Focus], held: int) -> PredicateExplanation:
        """The explanation of a condition that holds at so many of the foci."""
        text = self.text(condition, foci)
        if held or not foci:
            return PredicateExplanation(text, held, len(foci))
        try:
            operands = [self._operand(each, foci, _negates(condition)) for each in _operands(condition)]
            found = Evidence() if operands else self._evidence(condition, foci)
        except EvaluationError:  # the counts are known, only the reasons take more work than the limit allows
            return PredicateExplanation(text, held, len(foci))
        return PredicateExplanation(text, held, len(foci), *found, tuple(operands))

    def _operand(self, operand: Condition, foci: Sequence[Focus], negated: bool) -> PredicateExplanation:
        held = sum(self.holds(operand, focus) for focus in foci)
        if negated:  # an operand that does not hold is as it should be
            return PredicateExplanation(self.text(operand, foci), held, len(foci))
        return self.explain(operand, foci, held)

    def text(self, condition: Condition, foci: Sequence[Focus]) -> str:
        """The text of a condition, with prefixes; on the document, paths are absolute."""
        if isinstance(condition, _PREDICATES):
            canonical = render_predicate(condition)
            is_position = isinstance(condition, Position) or bool(counted_among(condition))
        else:
            canonical = render_expression(condition)
            is_position = _is_position(condition)
        if is_position:
            canonical = f"[{canonical}]"
        text = self._prefixes.text(canonical)
        return from_document(text) if foci and isinstance(foci[0].node, Document) else text

    def absence(self, expression: Expression, foci: Sequence[Focus]) -> Evidence:
        """Why an expression selects no node at any focus."""
        match expression:
            case Selection(start, steps):
                reached = in_order(node for focus in foci for node in self._nodes(start, focus))
                return self._steps_absence(start, steps, reached, foci)
            case Filtered(operand, predicates):
                if not any(self._nodes(operand, focus) for focus in foci):
                    return self.absence(operand, foci)
                shown = "".join(f"[{self.text(each, ())}]" for each in predicates)
                return Evidence(f"there is {self.text(operand, foci)}, but none with {shown}")
            case _:
                return Evidence(f"no {self.text(expression, foci)} here")

    # The predicates of a pattern

    def _evidence(self, condition: Condition, foci: Sequence[Focus]) -> Evidence:
        if not isinstance(condition, _PREDICATES):
            return self._of_expression(condition, foci)
        nodes = [focus.node for focus in foci if isinstance(focus.node, Document | Element)]
        match condition:
            case Exists(paths):
                return self._paths_absence(paths, nodes)
            case Comparison(paths, operator, value):
                texts = (self._string(each) for node in nodes for each in self._follow(paths, node))
                numeric = isinstance(value, float) or operator in ORDERS
                wanted = value if isinstance(value, float) or operator == "=" else None
                found = found_values("found", texts, numeric, wanted)
                return found if found.note else self._paths_absence(paths, nodes)
            case StringTest(_, paths, _):
                firsts = (self._string(all[0]) for node in nodes if (all := self._follow(paths, node)))
                found = found_values(f"the {self._subject(paths)} is", firsts, False)
                return found if found.note else self._paths_absence(paths, nodes)
            case Length(paths, _, _):
                lengths = [
                    str(len(self._string(found[0]))) if found else "0"
                    for found in [self._follow(paths, node) for node in nodes]
                ]
                return found_values("the length is", lengths, True)
            case Count(paths, _, _):
                counts = [len(self._follow(paths, node)) for node in nodes]
                hint = None if any(counts) else self._paths_absence(paths, nodes).hint
                return found_counts(counts, hint)
            case Position(test, _, _, among):
                parents = {each.parent.order: each.parent for each in nodes if isinstance(each, Element)}
                sizes = [
                    len(self._evaluation.sibling_positions(test, among, parent))
                    for parent in parents.values()
                ]
                return found_counts([max(sizes, default=0)], None, "only ")
            case Not(operand):
                if not isinstance(operand, Exists):
                    return self._evidence(operand, foci)
                there = [each for node in nodes for each in self._follow(operand.paths, node)]
                return Evidence(f"there is one at {node_path(there[0])}" if there else None)
            case Test(expression):
                return self._of_expression(expression, foci)
            case _:
                return Evidence()

    def _follow(self, paths: Iterable[Path], node: Document | Element) -> list[Node]:
        return self._evaluation.follow_all(paths, node)

    def _string(self, node: Node) -> str:
        return self._evaluation.string_value(node)

    def _subject(self, paths: Sequence[Path]) -> str:
        """The noun for what paths select."""
        text = " | ".join(self._prefixes.text(render_path(path)) for path in paths)
        return "text" if text in (".", "text()") else text

    def _paths_absence(self, paths: Sequence[Path], nodes: Sequence[Document | Element]) -> Evidence:
        """Why none of the paths selects a node."""
        reasons = [self._path_absence(path, nodes) for path in paths]
        if len(reasons) == 1:
            return reasons[0]
        hints = [each.hint for each in reasons if each.hint]
        return Evidence("none of them is here", hint=hints[0] if hints else None)

    def _path_absence(self, path: Path, nodes: Sequence[Document | Element]) -> Evidence:
        kept = [node for node in nodes if all(self._evaluation.holds(each, node) for each in path.filters)]
        if not kept:
            return self._unsatisfied("", path.filters, [Focus(node) for node in nodes])
        reached: list[Document | Element] = list(kept)
        before = ""
        for step in path.steps:
            name = self._prefixes.text(render_name(step.test))
            found = self._evaluation.candidates(step, reached)
            if not found:
                slashes = "//" if before else ".//"
                hint = self._names.element(step.test, reached, step.axis is Axis.CHILD, slashes)
                return Evidence(_missing(before, name), hint=hint)
            before = f"{before}{step.axis.value}{name}".removeprefix("/") if before else name
            satisfying = [each for each in found if self._evaluation.satisfies(step, each)]
            if not satisfying:
                return self._unsatisfied(before, step.predicates, [Focus(each) for each in found])
            reached = list(satisfying)
        match path.tail:
            case AttributeTail(test):
                name = f"@{self._prefixes.text(render_name(test))}"
                return Evidence(
                    _missing(before, name),
                    hint=self._names.attribute(test, reached, "//" if before else ".//"),
                )
            case Onward(steps, start):
                starts = in_order(node for each in reached for node in self._nodes(start, Focus(each)))
                return self._steps_absence(start, steps, starts, [Focus(node) for node in reached], before)
            case _:
                return Evidence(_missing(before, self._prefixes.text(render_tail(path.tail)).lstrip("/")))

    def _unsatisfied(self, before: str, conditions: Sequence[Condition], foci: Sequence[Focus]) -> Evidence:
        """Why there are nodes, but none for which all conditions hold."""
        for condition in conditions:
            if not any(self.holds(condition, focus) for focus in foci):
                found = Evidence() if _operands(condition) else self._evidence(condition, foci)
                note = f"no {before or 'node'} with {self.text(condition, foci)}"
                return found._replace(note=f"{note}: {found.note}" if found.note else note)
        return Evidence(f"no {before or 'node'} with all of these together")

    # General expressions

    def _nodes(self, expression: Expression, focus: Focus) -> list[Node]:
        found = self._evaluation.expressions.value(expression, focus)
        assert isinstance(found, list)
        return found

    def _of_expression(self, expression: Expression, foci: Sequence[Focus]) -> Evidence:
        match expression:
            case Operation(operator, left, right) if operator in COMPARISONS:
                sides = [each for each in (left, right) if not isinstance(each, Number | String | Date)]
                if len(sides) == 1:
                    literal = right if sides[0] is left else left
                    numeric = isinstance(literal, Number) or operator in ORDERS
                    return self._side(sides[0], foci, numeric, _wanted(literal, operator))
                return self._sides(sides, foci, operator in ORDERS)
            case Call("not", (operand,)):
                if not _selects(operand):
                    return self._of_expression(operand, foci)
                there = [each for focus in foci for each in self._nodes(operand, focus)]
                return Evidence(f"there is one at {node_path(there[0])}" if there else None)
            case Call("boolean", (operand,)):
                return self._of_expression(operand, foci)
            case Call("contains" | "starts-with" | "ends-with", arguments):
                sides = [each for each in arguments if not isinstance(each, Number | String | Date)]
                found = self._sides(sides, foci, False)
                is_value = len(sides) == 1 and found.values and _selects(sides[0])
                return found._replace(note=f"the {found.note}") if is_value else found
            case Call("lang"):
                languages = [each for focus in foci if (each := language(focus.node)) is not None]
                return (
                    found_values("the language is", languages, False)
                    if languages
                    else Evidence("no xml:lang here")
                )
            case _ if _selects(expression):
                return self.absence(expression, foci)
            case _:
                return self._side(expression, foci, False, None)

    def _sides(self, sides: Sequence[Expression], foci: Sequence[Focus], numeric: bool) -> Evidence:
        """The values of several expressions, each with its text before it."""
        notes: list[str] = []
        values: list[str] = []
        more = 0
        hint = None
        for side in sides:
            found = self._side(side, foci, numeric, None)
            note = found.note or ""
            if note.startswith("found "):
                subject = self.text(side, foci)
                note = f"{'text' if subject == '.' else subject} is {note.removeprefix('found ')}"
            notes.append(note)
            values += found.values
            more += found.more
            hint = hint or found.hint
        return Evidence(", ".join(notes) or None, tuple(values), more, hint)

    def _side(
        self, side: Expression, foci: Sequence[Focus], numeric: bool, wanted: str | float | Date | None
    ) -> Evidence:
        values = [self._evaluation.expressions.value(side, focus) for focus in foci]
        if _selects(side):
            nodes = in_order(each for value in values if isinstance(value, list) for each in value)
            if not nodes:
                return self.absence(side, foci)
            return found_values("found", (self._string(each) for each in nodes), numeric, wanted)
        atoms = [value for value in values if not isinstance(value, list)]
        if isinstance(side, SiblingCount) or (isinstance(side, Call) and side.function == "count"):
            counts = [int(each) for each in atoms if not isinstance(each, str)]
            hint = None
            if isinstance(side, Call) and not any(counts):
                hint = self.absence(side.arguments[0], foci).hint
            return found_counts(counts, hint)
        are_numbers = not any(isinstance(each, str) for each in atoms)
        found = found_values("found", [to_string(each) for each in atoms], are_numbers or numeric, wanted)
        return self._operands_of(side, found, foci)

    def _operands_of(self, side: Expression, found: Evidence, foci: Sequence[Focus]) -> Evidence:
        """The evidence, with the reason if a calculation has no number or a function no node to work on."""
        for part in parts(side) if isinstance(side, Operation | Negative | Call) else ():
            if not _selects(part):
                continue
            nodes = [each for focus in foci for each in self._nodes(part, focus)]
            if not nodes:
                missing = self.absence(part, foci)
                return found._replace(note=f"{found.note}: {missing.note}", hint=missing.hint)
            match side:
                case Operation(operator):
                    calculated = operator in ARITHMETIC
                case Call(function):
                    calculated = function in _CALCULATIONS
                case _:
                    calculated = True
            if calculated and number(text := self._string(nodes[0])) != number(text):
                return found._replace(
                    note=f"{found.note}: {self.text(part, foci)} is {shown_value(text, True)}"
                )
        return found

    def _steps_absence(
        self,
        start: Expression,
        steps: Sequence[AxisStep],
        reached: Sequence[Node],
        foci: Sequence[Focus],
        before: str = "",
    ) -> Evidence:
        """Why steps select nothing from the nodes of their start."""
        if not reached and not isinstance(start, ContextNode):
            return self.absence(start, foci)
        values = self._evaluation.expressions
        deep = False
        for at, step in enumerate(steps):
            if step == ANY_BELOW and at < len(steps) - 1:
                reached = in_order(node for each in reached for node in values.step(step, each))
                deep = True
                continue
            bare = AxisStep(step.axis, step.test)
            found = in_order(node for each in reached for node in values.step(bare, each))
            name = self.step_text(bare)
            if not found:
                return Evidence(
                    _missing(before, name),
                    hint=self.step_hint(step, reached, deep, "//" if before else ".//"),
                )
            before = f"{before}{'//' if deep else '/'}{name}" if before else name
            kept = in_order(node for each in reached for node in values.step(step, each))
            if not kept:
                shown = "".join(f"[{self.text(each, ())}]" for each in step.predicates)
                if len(step.predicates) > 1:
                    return Evidence(f"there is {before}, but none with {shown}")
                return self._unsatisfied(
                    before,
                    step.predicates,
                    [
                        Focus(node, position, len(nodes))
                        for nodes in [values.step(bare, each) for each in reached]
                        for position, node in enumerate(nodes, 1)
                    ],
                )
            reached = kept
            deep = False
        return Evidence(None)

    def step_text(self, step: AxisStep) -> str:
        """The text of one general step without its predicates."""
        return self._prefixes.text(render_tail(Onward((AxisStep(step.axis, step.test),)))).removeprefix("/")

    def step_hint(
        self, step: AxisStep, reached: Sequence[Node], deep: bool, slashes: str = "//"
    ) -> str | None:
        """A hint for a general step that finds nothing, if it is about a name."""
        if step.test.name is None:
            return None
        if step.axis == "attribute":
            return self._names.attribute(step.test.name, reached, slashes)
        if step.axis in ("child", "descendant", "descendant-or-self"):
            children_only = step.axis == "child" and not deep
            return self._names.element(step.test.name, reached, children_only, slashes)
        return None


def _operands(condition: Condition) -> tuple[Condition, ...]:
    """The operands of a condition that are explained one by one; none if it is explained as a whole."""
    match condition:
        case And(operands) | Or(operands):
            return operands
        case Not(And(operands) | Or(operands)):
            return operands
        case Test(expression):
            return _operands(expression)
        case Operation("and" | "or" as operator, left, right):
            found: list[Condition] = []
            for each in (left, right):
                same = isinstance(each, Operation) and each.operator == operator
                found += _operands(each) if same else (each,)
            return tuple(found)
        case Call("not", (operand,)):
            return _operands(operand)
        case _:
            return ()


def _negates(condition: Condition) -> bool:
    match condition:
        case Not() | Test(Call("not")) | Call("not"):
            return True
        case _:
            return False


def _is_position(condition: Condition) -> bool:
    """Whether a condition is the abbreviation of a position: ``[2]``."""
    match condition:
        case Operation("=", Call("position"), Number()):
            return True
        case _:
            return False


def _selects(expression: Expression) -> bool:
    """Whether the value of an expression is a set of nodes."""
    return isinstance(expression, Selection | Union | Filtered | ContextNode)


def _wanted(literal: Expression, operator: str) -> str | float | Date | None:
    """What the values of the other side are compared with, as their explanation needs it."""
    match literal:
        case Date():
            return literal
        case Number(value):
            return value
        case String(text) if operator == "=":
            return text
        case _:
            return None


def _missing(before: str, name: str) -> str:
    return f"there is {before}, but no {name} in it" if before else f"no {name} here"
