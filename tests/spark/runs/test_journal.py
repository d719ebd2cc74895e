"""The journal: the index version with which a batch was started, across restarts."""

from __future__ import annotations

from pathlib import Path

from twigcast.spark.runs.journal import Journal


def test_a_batch_keeps_the_version_it_was_begun_with(tmp_path: Path) -> None:
    """Starting a batch again, also after a restart, returns its first entry, not the current version."""
    first = Journal(tmp_path).begin(7, "3")
    assert Journal(tmp_path).begin(7, "4") == first
    assert first.version == "3"


def test_a_batch_that_was_not_begun_has_no_entry(tmp_path: Path) -> None:
    """Looking for an entry does not make one."""
    journal = Journal(tmp_path)
    assert journal.find(0) is None
    assert journal.batches() == []


def test_what_a_kill_left_half_written_is_no_entry(tmp_path: Path) -> None:
    """An entry that was being written when the process died does not count."""
    (tmp_path / ".3.json.99").write_text('{"bat')
    journal = Journal(tmp_path)
    assert journal.batches() == []
    assert journal.begin(3, "1").version == "1"


def test_entries_are_listed_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """Retries, which count downwards, come first."""
    journal = Journal(tmp_path)
    for batch in (10, 9, -1):
        journal.begin(batch, "1")
    assert list(journal.entries()) == [-1, 9, 10]


def test_old_entries_are_dropped(tmp_path: Path) -> None:
    """A stream that runs for years keeps a bounded journal, and all its retries."""
    journal = Journal(tmp_path, kept=2)
    journal.begin(-1, "1")
    for batch in range(5):
        journal.begin(batch, "1")
    assert journal.batches() == [-1, 3, 4]


def test_a_retry_is_done_when_it_was_noted(tmp_path: Path) -> None:
    """A batch that was started is not finished."""
    journal = Journal(tmp_path)
    journal.begin(-1, "1")
    assert not journal.is_finished(-1)
    journal.finish(-1)
    assert Journal(tmp_path).is_finished(-1)
    assert journal.batches() == [-1]
