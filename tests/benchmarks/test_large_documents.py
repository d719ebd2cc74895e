"""The measurement of large documents: what a run reports, on a small one."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.auctions import auction_document
from benchmarks.large_documents import mapped_run, peak_anonymous_bytes, subscribed


def test_a_mapped_file_has_the_answer_of_its_bytes(tmp_path: Path) -> None:
    """Some of the subscriptions match."""
    file = tmp_path / "small.xml"
    file.write_bytes(auction_document(0.2))
    run = mapped_run(file)
    assert run.ids == subscribed().match(file.read_bytes()).ids != []
    assert run.cpu_seconds > 0


def test_the_peak_of_memory_is_that_of_the_action() -> None:
    """Memory that is given back before the end counts, too, if it is held for some samples."""

    def take(size: int) -> int:
        held = b"x" * size
        time.sleep(0.5)
        return len(held)

    least, _ = peak_anonymous_bytes(lambda: take(0))
    peak, size = peak_anonymous_bytes(lambda: take(50 << 20))
    assert size == 50 << 20
    assert peak - least > 20 << 20
