"""The explanation as values, and its layout for people in 80 columns."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass

WIDTH = 80
_LEFT = 44  # columns; a longer step or predicate does not push the columns of the others to the right


@dataclass(frozen=True, slots=True)
class PredicateExplanation:
    """For how many nodes a predicate is true, and for how many it was evaluated.

    Where it is true of none, ``note`` says what was found instead: the ``values`` that were compared, of
    which ``more`` are left out.  ``hint`` names what the predicate may have meant, and ``parts`` are the
    operands of ``and``, ``or`` and ``not``.
    """

    predicate: str
    held: int
    asked: int
    note: str | None = None
    values: tuple[str, ...] = ()
    more: int = 0
    hint: str | None = None
    parts: tuple[PredicateExplanation, ...] = ()


@dataclass(frozen=True, slots=True)
class StepExplanation:
    """How many nodes the axis and name of a step reach (``found``), and how many satisfy it (``kept``).

    ``example`` is the path of the first kept node, or else of the first found node.  Where nothing is found,
    ``hint`` names what the step may have meant.
    """

    step: str
    reached: bool
    found: int
    kept: int
    example: str | None
    predicates: tuple[PredicateExplanation, ...]
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class AlternativeExplanation:
    """One path of the pattern: its steps, how many nodes it selects, and the step at which it fails."""

    path: str
    selected: int
    stopped: str | None
    steps: tuple[StepExplanation, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a pattern matches a document or does not; ``str`` is for people, ``to_dict`` for JSON.

    ``pattern`` is the canonical text, ``text`` the text that the user wrote, if it is known.
    """

    pattern: str
    matched: bool
    alternatives: tuple[AlternativeExplanation, ...]
    text: str | None = None

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The lines for people; a line may have a line end of a literal in it."""
        if self.text is None or len(self.alternatives) != 1:
            return [line for each in self.alternatives for line in _lines(each, each.path)]
        [only] = self.alternatives
        lines = _lines(only, self.text)
        if sorted(_bare(self.text)) != sorted(_bare(only.path)):  # predicates may be in another order
            lines.insert(1, f"  which means {only.path}")
        return lines

    def to_dict(self) -> dict[str, object]:
        """The explanation as values for JSON."""
        return asdict(self)


@dataclass(slots=True)
class _Row:
    """One line: three columns, and sentences below them."""

    left: str
    count: str = ""
    right: str = ""
    arrow: str = ""
    below: tuple[str, ...] = ()


def _lines(alternative: AlternativeExplanation, title: str) -> list[str]:
    rows: list[_Row] = []
    for step in alternative.steps:
        if not step.reached:
            rows.append(_Row(f"  · {step.step}"))
            continue
        count = f"{step.kept} of {step.found}" if step.found else "none"
        arrow = "" if step.kept else "← stopped here"
        hints = (step.hint,) if step.hint else ()
        rows.append(_Row(f"  {_mark(step.kept)} {step.step}", count, step.example or "", arrow, hints))
        for each in step.predicates:
            rows += _predicate_rows(each, 6)
    left = max([len(row.left) for row in rows if len(row.left) <= _LEFT], default=0)
    middle = max(len(row.count) for row in rows)
    lines = [f"{_mark(alternative.selected)} {title}"]
    for row in rows:
        lines += _row_lines(row, left, middle)
    return lines


def _predicate_rows(each: PredicateExplanation, indent: int) -> list[_Row]:
    if not each.asked:
        return [_Row(f"{' ' * indent}· {each.predicate}")]
    left = f"{' ' * indent}{_mark(each.held)} {each.predicate}"
    hints = (each.hint,) if each.hint else ()
    rows = [_Row(left, f"{each.held} of {each.asked}", each.note or "", "", hints)]
    for part in each.parts:
        rows += _predicate_rows(part, indent + 4)
    return rows


def _row_lines(row: _Row, left: int, middle: int) -> list[str]:
    begin = f"{row.left:{left}}   {row.count:{middle}}"
    right = "   ".join([part for part in (row.right, row.arrow) if part])
    lines = [f"{begin}   {right}".rstrip()]
    below = list(row.below)
    if len(lines[0]) > WIDTH and row.right:
        lines = [f"{begin}   {row.arrow}".rstrip()]
        below.insert(0, f"at {row.right}" if row.right.startswith("/") else row.right)
    indent = " " * (len(row.left) - len(row.left.lstrip()) + 4)
    for sentence in below:
        lines += textwrap.wrap(
            sentence,
            WIDTH,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines


def _mark(count: int) -> str:
    return "✓" if count else "✗"


def _bare(text: str) -> str:
    """The text without what may be written in one way or another: white space, parentheses, quotes."""
    return "".join(text.split()).replace('"', "'").replace("(", "").replace(")", "")
