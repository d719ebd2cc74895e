"""How a document passes a router: evidence grows, and a link is sent the document as soon as it is proven."""

from twigcast.routing.transit.evidence import ClaimedFacts, DocumentEvidence, Facts, ReadFacts
from twigcast.routing.transit.tables import TablesByLink, TransitTables
from twigcast.routing.transit.transit import Transit

__all__ = [
    "ClaimedFacts",
    "DocumentEvidence",
    "Facts",
    "ReadFacts",
    "TablesByLink",
    "Transit",
    "TransitTables",
]
