"""What a router can ask about a document: chains of names, bindings of wildcards, ranges of values."""

from twigcast.routing.piggyback.questions.bindings import Binding, Pieces, bound, pieces, wildcards
from twigcast.routing.piggyback.questions.data_patterns import (
    LONGEST,
    Chain,
    chain_pattern,
    chains_of,
    closing_chains,
    demanded_chains,
    last_positions,
)
from twigcast.routing.piggyback.questions.embeddings import embeddings
from twigcast.routing.piggyback.questions.ranges import (
    NumberBounds,
    RangeDemand,
    RangeQuestion,
    Ranges,
    ValueSet,
    demanded_ranges,
    measure,
    refutes,
)

__all__ = [
    "LONGEST",
    "Binding",
    "Chain",
    "NumberBounds",
    "Pieces",
    "RangeDemand",
    "RangeQuestion",
    "Ranges",
    "ValueSet",
    "bound",
    "chain_pattern",
    "chains_of",
    "closing_chains",
    "demanded_chains",
    "demanded_ranges",
    "embeddings",
    "last_positions",
    "measure",
    "pieces",
    "refutes",
    "wildcards",
]
