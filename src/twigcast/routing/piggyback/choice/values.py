"""What an annotation is worth and how much space it takes.

An annotation is of one of four kinds (thesis, section 4.4):

    PS   positive subscription   a told pattern matches, with these names in place of its wildcards
    PD   positive data           the last occurrence of a path of names ends at this end tag
    NS   negative subscription   a told pattern does not match
    ND   negative data           a path of names does not occur

A *benefit* ranks annotations of one kind; a *value* compares all kinds: it is the expected seconds saved for
one document, less the seconds for reading the annotation.  It can be negative: such an annotation costs more
than it saves.  The formulas of the thesis, which these correct, are in ``experiments/engines/piggyback``.

Values still do not add up where two annotations refute the same row; choosing the questions of a
plan by marginal gain (``marginal_greedy``) does not have this fault.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

PAPER_PD_BITS = 8
"""The printed size of a PD annotation: 4 bits for the path and 4 bits for the position.

Four bits distinguish 16 paths and 16 positions; two variable-length integers are the size that works.
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


def ps_benefit(rows: int, needed_binding_sizes: Sequence[float]) -> float:
    """``|S'| / Σ size(i)`` over the wildcards i that some row needs bound.

    A told pattern that is itself a row needs no binding: that it matches proves the row and takes no space,
    so its benefit is infinite.  Without rows the benefit is 0.
    """
    return ratio(rows, sum(needed_binding_sizes))


def nd_benefit(rows: int, length: int) -> float:
    """``freq(p) · ln(len(p) + 1)`` (T 4.4.2, 4.4.4): ``rows`` contain a path of ``length`` names."""
    return rows * math.log(length + 1)


# Values: meant to compare annotations of all kinds


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


def pd_value(position_share: float, rows: int, rates: Rates) -> float:
    """``(1 − ℓ/L)·|N(p)|·λ − α``: the rows are not matched on the part of the document after ℓ.

    ``position_share`` is ℓ/L, the end tag of the last occurrence as a share of all end tags.
    """
    return (1 - position_share) * rows * rates.row_seconds - rates.read_pd_seconds


def nd_value(match: float, rows: int, rates: Rates) -> float:
    """``(1 − ρ)·|N(p)|·λ − α``: the bit is read for every document and refutes rows if it says no."""
    return (1 - match) * rows * rates.row_seconds - rates.read_nd_seconds


# Sizes, in whole bits


def ratio(gain: int, cost: float) -> float:
    """A gain by its cost: infinite if there is none, and 0 if nothing is gained."""
    if not gain:
        return 0.0
    return gain / cost if cost else math.inf
