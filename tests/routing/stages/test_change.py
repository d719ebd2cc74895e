"""Changes of a set of subscriptions."""

from __future__ import annotations

import pytest

from twigcast.errors import SubscriptionError
from twigcast.pattern import parse
from twigcast.routing.stages.change import Change, check_ids, net_change

A, B = parse("/a"), parse("/b")


def test_a_net_change_is_what_differs() -> None:
    """A new id is forwarded, an absent one is withdrawn, a changed one is both; others are not mentioned."""
    before = {"same": A, "went": A, "changed": A, "came": None, "never": None}
    assert net_change(before, {"same": A, "changed": B, "came": B, "other": A}) == Change(
        (("changed", B), ("came", B)), ("went", "changed")
    )
    assert not net_change({"same": A}, {"same": A})


@pytest.mark.parametrize(
    ("added", "removed", "code"),
    [
        ([], ["x"], "unknown-id"),
        ([], ["held", "held"], "unknown-id"),
        ([("held", A)], [], "duplicate-id"),
        ([("new", A), ("new", B)], [], "duplicate-id"),
    ],
)
def test_ids_that_do_not_fit_are_refused(
    added: list[tuple[str, object]], removed: list[str], code: str
) -> None:
    """An unknown id cannot be removed, and a known id cannot be added again."""
    with pytest.raises(SubscriptionError) as raised:
        check_ids(added, removed, {"held"})  # type: ignore[arg-type]
    assert raised.value.code == code
    check_ids([("held", B)], ["held"], {"held"})
