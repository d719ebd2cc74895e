"""The names of the piggyback strategies."""

from __future__ import annotations

import pytest

from experiments.engines.piggyback.protocols import PAPER_PROTOCOLS, PIGGYBACK
from twigcast.errors import RoutingError
from twigcast.routing import Strategy
from twigcast.routing.piggyback import Protocol, Timing, protocol


@pytest.mark.parametrize("name", PIGGYBACK)
def test_each_name_is_canonical(name: str) -> None:
    """It is read and written without a change."""
    assert protocol(name).name == name
    assert Strategy(piggyback=name).piggyback == name


def test_the_papers_have_21_names() -> None:
    """Four eager ones, sixteen lazy ones, and adaptive."""
    assert len(set(PAPER_PROTOCOLS)) == 21
    assert sum(name.startswith("ES") for name in PAPER_PROTOCOLS) == 4
    assert protocol("adaptive") == Protocol(Timing.ADAPTIVE, "s", "sd")


def test_letters_come_in_any_order() -> None:
    """The canonical name has them in that of the papers, ours last."""
    assert protocol("L+tds-rds").name == "L+sdt-sdr"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "l",
        "ES-s",
        "ES-d",
        "ES+s-d",
        "ES+t",
        "ES+a",
        "L+",
        "L-",
        "L+x",
        "L+ss",
        "L-s+d",
        "L+r",
        "L-t",
        "L+s-sd ",
    ],
)
def test_other_names_are_refused(name: str) -> None:
    """The error says which part is wrong."""
    with pytest.raises(RoutingError, match="is no piggyback strategy") as caught:
        protocol(name)
    assert caught.value.code == "strategy"


@pytest.mark.parametrize(
    ("name", "has_plan"),
    [
        ("ES", False),
        ("L", False),
        ("L+t", False),
        ("L-s", True),
        ("L+d", True),
        ("L+ta", True),
        ("L-r", True),
    ],
)
def test_structure_alone_needs_no_plan(name: str, has_plan: bool) -> None:
    """It depends on the document alone."""
    assert protocol(name).has_plan == has_plan
