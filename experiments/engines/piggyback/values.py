"""What an annotation is worth and how much space it takes, as the papers print it.

The functions whose names begin with ``printed_`` or ``paper_`` are the formulas of the thesis (section 4.4),
to be compared with those of ``twigcast.routing.piggyback.choice.values``, which are corrected.  The others
rank annotations by what is known only when a document is there, or are of a kind that no plan chooses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from twigcast.routing.piggyback.choice.values import Rates, ratio


def printed_ps_benefit(rows: int, binding_sizes: Sequence[float]) -> float:
    """``|S'| / Σ size(i)`` over *all* wildcards i of the told pattern, as printed (T 4.4.1).

    ``rows`` is |S'|, the number of rows of which the told pattern is a simple aggregation.  Raises
    ``ZeroDivisionError`` for a told pattern without wildcards.
    """
    return rows / sum(binding_sizes)


def pd_benefit(rows: int, position: int) -> float:
    """``freq(p) / pos(p)`` (T 4.4.2), with ``position`` the number of the end tag, counted from 1.

    At position 0, which stands for a path that does not occur, the benefit is infinite, unless no row
    contains the path.  When a plan is made no position is known: ``nd_benefit`` ranks the paths then.
    """
    return ratio(rows, position)


def ns_benefit(rows: int) -> float:
    """``|T_agg(s)|``: the number of rows that the told pattern covers (T 4.4.3)."""
    return float(rows)


def printed_ps_value(
    match: float, fits: Sequence[float], downstream_fits: Sequence[float], rates: Rates
) -> float:
    """``(ρ·λ·Σ k_j + ρ·θ·Σ' k_j) / α`` (T 4.4.5), with Σ' over the rows of downstream routers only.

    ``match`` is ρ, the probability that the told pattern matches; ``fits`` has for each row j the probability
    k_j that the row fits the binding.  θ is counted once for each row, and a quotient of seconds by seconds
    is a number that cannot be added to that of another kind in any meaningful unit.
    """
    saved = match * (rates.row_seconds * sum(fits) + rates.forward_seconds * sum(downstream_fits))
    return saved / rates.read_ps_seconds


def printed_pd_value(position_share: float, rows: int, rates: Rates) -> float:
    """``(ℓ/L)·|N(p)|·λ / α`` (T 4.4.5): grows with the position ℓ, though an early end saves more."""
    return position_share * rows * rates.row_seconds / rates.read_pd_seconds


def printed_ns_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(s)|·λ / α`` (T 4.4.5), with ρ the probability that the told pattern matches."""
    return (1 - match) * rows * rates.row_seconds / rates.read_ns_seconds


def ns_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(s)|·λ − α``: the bit is read for every document and refutes rows if it says no."""
    return (1 - match) * rows * rates.row_seconds - rates.read_ns_seconds


def printed_nd_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(p)|·λ / α`` (T 4.4.5), with ρ the probability that the path occurs."""
    return (1 - match) * rows * rates.row_seconds / rates.read_nd_seconds


def paper_ps_bits(fits: Sequence[float], names_bound: Sequence[int], mean_name_bytes: float) -> int:
    """``Σ k_s·n_s / Σ k_s`` × mean length of a name (T 4.4.5), rounded up to whole bits.

    ``names_bound`` has for each row s the number n_s of names in the bindings that it needs.  If no row can
    fit, nothing is ever attached, and the size is 0.
    """
    chance = sum(fits)
    if not chance:
        return 0
    names = sum(fit * bound for fit, bound in zip(fits, names_bound, strict=True)) / chance
    return math.ceil(8 * names * mean_name_bytes)


def pd_bits(question: int, position: int) -> int:
    """The size of a PD annotation that names a question and an end tag as two variable-length integers."""
    return 8 * (_varint_size(question) + _varint_size(position))


def _varint_size(value: int) -> int:
    """The bytes of an integer with 7 bits in each byte."""
    return max(1, -(-value.bit_length() // 7))
