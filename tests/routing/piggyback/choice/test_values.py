"""Benefits, values and sizes of annotations: the printed formulas, and where the corrected ones differ."""

from __future__ import annotations

import math

import pytest

from experiments.engines.piggyback.values import (
    ns_benefit,
    ns_value,
    paper_ps_bits,
    pd_benefit,
    pd_bits,
    printed_nd_value,
    printed_ns_value,
    printed_pd_value,
    printed_ps_benefit,
    printed_ps_value,
)
from twigcast.routing.piggyback.choice.values import (
    ND_BITS,
    NS_BITS,
    PAPER_PD_BITS,
    Rates,
    nd_benefit,
    nd_value,
    pd_value,
    ps_benefit,
    ps_value,
)

RATES = Rates(
    row_seconds=2.0,
    forward_seconds=10.0,
    read_ps_seconds=4.0,
    read_pd_seconds=2.0,
    read_ns_seconds=1.0,
    read_nd_seconds=0.5,
)


def test_benefits_of_the_papers() -> None:
    """Each benefit is the formula of its section, on small numbers."""
    assert printed_ps_benefit(2, [3, 1]) == ps_benefit(2, [3, 1]) == 0.5
    assert pd_benefit(6, 4) == 1.5
    assert ns_benefit(7) == 7
    assert nd_benefit(3, 2) == pytest.approx(3 * math.log(3))


def test_a_path_that_does_not_occur_is_a_position_of_zero() -> None:
    """ND is PD at position 0, where the printed quotient is not defined; without rows nothing is gained."""
    assert pd_benefit(6, 0) == math.inf
    assert pd_benefit(0, 0) == ps_benefit(0, []) == 0


def test_trap_08_a_told_pattern_that_is_a_row_needs_no_binding() -> None:
    """The printed benefit divides by 0, and counts bindings that no row needs."""
    with pytest.raises(ZeroDivisionError):
        printed_ps_benefit(1, [])
    assert ps_benefit(1, []) == math.inf
    all_wildcards, needed = [5, 3], [3]  # //a/*/c for the rows //a/y/c and //a/z/c: the // stays
    assert ps_benefit(2, needed) > printed_ps_benefit(2, all_wildcards)


def test_printed_values() -> None:
    """Each printed value is the seconds saved, divided by the seconds for reading."""
    assert printed_ps_value(0.5, [0.5, 0.25], [0.25], RATES) == 0.5 * (2 * 0.75 + 10 * 0.25) / 4
    assert printed_pd_value(0.25, 8, RATES) == 0.25 * 8 * 2 / 2
    assert printed_ns_value(0.25, 8, RATES) == 0.75 * 8 * 2 / 1
    assert printed_nd_value(0.25, 8, RATES) == 0.75 * 8 * 2 / 0.5


def test_corrected_values_are_seconds() -> None:
    """Each corrected value is the seconds saved, less the seconds for reading; it can be negative."""
    assert pd_value(0.25, 8, RATES) == 0.75 * 8 * 2 - 2
    assert ns_value(0.25, 8, RATES) == 0.75 * 8 * 2 - 1
    assert nd_value(0.25, 8, RATES) == 0.75 * 8 * 2 - 0.5
    assert nd_value(1.0, 8, RATES) == -0.5
    assert ps_value(0.5, [0.5], [[0.25]], RATES) == 0.5 * (2 * 0.75 + 10 * 0.25 - 4)


def test_trap_09_an_early_last_occurrence_is_worth_more() -> None:
    """The printed value of PD grows with the position; the corrected one falls, as 4.4.2 says."""
    assert printed_pd_value(0.1, 10, RATES) < printed_pd_value(0.9, 10, RATES)
    assert pd_value(0.1, 10, RATES) > pd_value(0.9, 10, RATES)


def test_trap_10_eight_bits_cannot_name_the_paths_and_positions_of_the_papers() -> None:
    """640 paths and 129 positions need more than 4 bits each; two variable-length integers hold them."""
    assert 2 ** (PAPER_PD_BITS // 2) < 129 < 640
    assert pd_bits(0, 1) == pd_bits(127, 127) == 16
    assert pd_bits(639, 129) == 32


def test_trap_12_a_link_is_forwarded_to_once() -> None:
    """Ten rows of one link that surely fit save θ once; the printed value counts it ten times."""
    rates = Rates(0.0, 10.0, 1.0, 1.0, 1.0, 1.0)
    assert printed_ps_value(1.0, [1.0] * 10, [1.0] * 10, rates) == 100
    assert ps_value(1.0, [], [[1.0] * 10], rates) == 10 - 1
    assert ps_value(1.0, [], [[1.0] * 5, [1.0] * 5], rates) == 20 - 1
    assert ps_value(1.0, [], [[0.5, 0.5]], rates) == 10 * 0.75 - 1


def test_paper_sizes_are_whole_bits() -> None:
    """NS and ND take one bit, PS the mean number of bound names by its chance times the length of a name."""
    assert NS_BITS == ND_BITS == 1
    assert paper_ps_bits([0.75, 0.25], [1, 5], 7.0) == 8 * 2 * 7
    assert paper_ps_bits([1.0, 1.0, 1.0], [1, 1, 2], 1.0) == 11  # 10.67 bits
    assert paper_ps_bits([0.0], [3], 7.0) == 0
