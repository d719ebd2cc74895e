"""Tables of a growing set: each stage holds no more than the one before, and all ask for the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.findings import unwatched
from experiments.routing.schemas import nitf
from experiments.routing.tables import grow, merged

pytestmark = pytest.mark.data


@pytest.mark.usefixtures("data")
def test_each_stage_leaves_no_more_than_the_one_before() -> None:
    """Covering takes rows away, perfect merging more, imperfect merging no fewer."""
    growing = grow("A", nitf(), 400, 4, unwatched, (0.0, 0.1))
    assert [count for count, *_ in growing.sizes] == [100, 200, 300, 400]
    for count, covered, left in growing.sizes:
        assert count >= covered >= left[0.0] >= left[0.1]


@pytest.mark.usefixtures("data")
def test_the_last_part_may_be_smaller() -> None:
    """All XPEs come, however many parts there are."""
    assert [count for count, *_ in grow("B", nitf(), 10, 3, unwatched).sizes] == [4, 8, 10]


def test_data_is_found_or_the_error_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder of published data is named."""
    from twigcast.errors import SourceError

    monkeypatch.setenv("TWIGCAST_DATA", str(tmp_path))
    with pytest.raises(SourceError, match="TWIGCAST_DATA"):
        nitf.__wrapped__()


@pytest.mark.usefixtures("data")
def test_merged_tables_are_made_once() -> None:
    """Figure 7 and Table 1 ask for the same ones."""
    first = merged("A", nitf(), 20, unwatched)
    assert merged("A", nitf(), 20, unwatched) is first
    assert merged("A", nitf(), 21, unwatched) is not first
