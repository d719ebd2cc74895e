"""What an annotation is worth and how much space it takes, as the papers print it and as corrected.

An annotation is of one of four kinds (thesis, section 4.4):

    PS   positive subscription   a told pattern matches, with these names in place of its wildcards
    PD   positive data           the last occurrence of a path of names ends at this end tag
    NS   negative subscription   a told pattern does not match
    ND   negative data           a path of names does not occur

A *benefit* ranks annotations of one kind; a *value* is meant to compare all kinds.  The functions whose names
begin with ``printed_`` or ``paper_`` are the formulas of the thesis, kept for comparison.  The others are
corrected: their values are expected seconds saved for one document, less the seconds for reading the
annotation.  They can be negative: such an annotation costs more than it saves.

Corrected values still do not add up where two annotations refute the same row; choosing the questions of a
plan by marginal gain (``marginal_greedy``) does not have this fault.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

PAPER_PD_BITS = 8
"""The printed size of a PD annotation: 4 bits for the path and 4 bits for the position.

Four bits distinguish 16 paths and 16 positions; ``pd_bits`` is the size that works.
"""

NS_BITS = 1
"""The size of an NS annotation, as printed: one bit of a bit string."""

ND_BITS = 1
"""The size of an ND annotation, as printed: one bit of a bit string."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The seconds that a router saves by an annotation, and those for reading one."""

    row_seconds: float
    """λ: saved for each row that is not matched."""
    forward_seconds: float
    """θ: saved for each link to which the document is forwarded at once."""
    read_ps_seconds: float
    """α of PS: reading one annotation of the kind."""
    read_pd_seconds: float
    """α of PD."""
    read_ns_seconds: float
    """α of NS."""
    read_nd_seconds: float
    """α of ND."""


# Benefits: the order among annotations of one kind


def printed_ps_benefit(rows: int, binding_sizes: Sequence[float]) -> float:
    """``|S'| / Σ size(i)`` over *all* wildcards i of the told pattern, as printed (T 4.4.1).

    ``rows`` is |S'|, the number of rows of which the told pattern is a simple aggregation.  Raises
    ``ZeroDivisionError`` for a told pattern without wildcards.
    """
    return rows / sum(binding_sizes)


def ps_benefit(rows: int, needed_binding_sizes: Sequence[float]) -> float:
    """``|S'| / Σ size(i)`` over the wildcards i that some row needs bound.

    A told pattern that is itself a row needs no binding: that it matches proves the row and takes no space,
    so its benefit is infinite.  Without rows the benefit is 0.
    """
    return _ratio(rows, sum(needed_binding_sizes))


def pd_benefit(rows: int, position: int) -> float:
    """``freq(p) / pos(p)`` (T 4.4.2), with ``position`` the number of the end tag, counted from 1.

    At position 0, which stands for a path that does not occur, the benefit is infinite, unless no row
    contains the path.  When a plan is made no position is known: ``nd_benefit`` ranks the paths then.
    """
    return _ratio(rows, position)


def ns_benefit(rows: int) -> float:
    """``|T_agg(s)|``: the number of rows that the told pattern covers (T 4.4.3)."""
    return float(rows)


def nd_benefit(rows: int, length: int) -> float:
    """``freq(p) · ln(len(p) + 1)`` (T 4.4.2, 4.4.4): ``rows`` contain a path of ``length`` names."""
    return rows * math.log(length + 1)


# Values: meant to compare annotations of all kinds


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


def ps_value(
    match: float, local_fits: Sequence[float], fits_by_link: Sequence[Sequence[float]], rates: Rates
) -> float:
    """``ρ·(λ·Σ k_j + θ·Σ_links (1 − Π (1 − k_j)) − α)``: the seconds that a PS annotation saves.

    A document is forwarded to a link once, however many of its rows fit; Π is over the rows of one link,
    whose fits are taken as independent.  The annotation is attached only if the told pattern matches, so
    reading it costs ρ·α.
    """
    rows = sum(local_fits) + sum(sum(fits) for fits in fits_by_link)
    links = sum(1 - math.prod(1 - fit for fit in fits) for fits in fits_by_link)
    saved = rates.row_seconds * rows + rates.forward_seconds * links
    return match * (saved - rates.read_ps_seconds)


def printed_pd_value(position_share: float, rows: int, rates: Rates) -> float:
    """``(ℓ/L)·|N(p)|·λ / α`` (T 4.4.5): grows with the position ℓ, though an early end saves more."""
    return position_share * rows * rates.row_seconds / rates.read_pd_seconds


def pd_value(position_share: float, rows: int, rates: Rates) -> float:
    """``(1 − ℓ/L)·|N(p)|·λ − α``: the rows are not matched on the part of the document after ℓ.

    ``position_share`` is ℓ/L, the end tag of the last occurrence as a share of all end tags.
    """
    return (1 - position_share) * rows * rates.row_seconds - rates.read_pd_seconds


def printed_ns_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(s)|·λ / α`` (T 4.4.5), with ρ the probability that the told pattern matches."""
    return (1 - match) * rows * rates.row_seconds / rates.read_ns_seconds


def ns_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(s)|·λ − α``: the bit is read for every document and refutes rows if it says no."""
    return (1 - match) * rows * rates.row_seconds - rates.read_ns_seconds


def printed_nd_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(p)|·λ / α`` (T 4.4.5), with ρ the probability that the path occurs."""
    return (1 - match) * rows * rates.row_seconds / rates.read_nd_seconds


def nd_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(p)|·λ − α``: the bit is read for every document and refutes rows if it says no."""
    return (1 - match) * rows * rates.row_seconds - rates.read_nd_seconds


# Sizes, in whole bits


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
    return 8 * (_varint_bytes(question) + _varint_bytes(position))


def _ratio(gain: int, cost: float) -> float:
    if not gain:
        return 0.0
    return gain / cost if cost else math.inf


def _varint_bytes(value: int) -> int:
    """The bytes of an integer with 7 bits in each byte."""
    return max(1, -(-value.bit_length() // 7))
