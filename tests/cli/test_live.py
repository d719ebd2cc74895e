"""The display of a running pipeline."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pytest
from rich.console import Console

from twigcast.cli.live import COLUMNS, LEFT_OUT, SHOWN, Display, live, size


@dataclass(frozen=True, slots=True)
class Done:
    """The figures of a batch."""

    batch: int
    documents: int = 1000
    bytes: int = 2_500_000
    matches: int = 20
    deliveries: int = 30
    dead_letters: int = 4
    seconds: float = 2.0
    index_version: str = "7"


def drawn(display: Display, width: int = 120) -> list[list[str]]:
    """The lines that the display draws, as words."""
    console = Console(file=io.StringIO(), width=width)
    console.print(display)
    return [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_a_batch_is_a_line_above_the_totals() -> None:
    """The last line has the sums over all batches, and their overall rate."""
    display = Display()
    display.add(Done(0))
    display.add(Done(1, seconds=3.0))
    _, *lines = drawn(display)
    assert lines == [
        ["0", "1,000", "2.5", "MB", "20", "30", "4", "2.0", "500", "7"],
        ["1", "1,000", "2.5", "MB", "20", "30", "4", "3.0", "333", "7"],
        ["total", "2,000", "5.0", "MB", "40", "60", "8", "5.0", "400"],
    ]


def test_only_the_last_batches_are_shown() -> None:
    """The display is bounded, because a stream may run for months."""
    display = Display()
    for number in range(SHOWN + 5):
        display.add(Done(number))
    lines = drawn(display)
    assert (lines[1][0], len(lines)) == ("5", SHOWN + 2)
    assert display.totals.batches == SHOWN + 5


@pytest.mark.parametrize(("width", "left_out"), [(80, {"index"}), (160, set()), (40, set(LEFT_OUT))])
def test_no_figure_is_cut_where_the_terminal_is_narrow(width: int, left_out: set[str]) -> None:
    """The columns that matter least are left out; what remains is whole."""
    display = Display()
    display.add(Done(0, documents=1_000_000, matches=51_204_000, deliveries=51_204_000))
    lines = drawn(display, width)
    header, batch, total = (" ".join(line) for line in lines)
    assert {name for name in COLUMNS if name not in header} == left_out
    assert "…" not in header + batch + total
    assert "1,000,000" in batch
    assert "51,204,000" in batch


def test_what_is_going_on_is_shown_with_its_tasks() -> None:
    """The current activity is shown with its tasks, also before the first batch."""
    display = Display()
    assert drawn(display) == []
    display.say("Matching")
    display.tasks = lambda: (3, 8)
    assert drawn(display)[0][1:] == ["Matching,", "3", "of", "8", "tasks"]


def test_a_batch_without_time_has_no_rate() -> None:
    """A batch that took no time has no rate, and no division by zero."""
    display = Display()
    display.add(Done(0, seconds=0.0))
    assert drawn(display)[1][-2:] == ["0.0", "7"]


def test_nothing_is_drawn_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal nothing is drawn, but the totals are computed."""
    with live() as display:
        display.say("Matching")
        display.add(Done(0))
    assert display.totals.documents == 1000
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2_500_000, "2.5 MB"), (3 * 10**9, "3.0 GB")],
)
def test_sizes_are_said_as_people_do(count: int, text: str) -> None:
    """Sizes are shown in units of powers of 1,000."""
    assert size(count) == text
