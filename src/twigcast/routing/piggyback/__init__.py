"""What routers tell each other about documents, so that the next one decides without parsing.

A router attaches ``Annotations`` to a document that it sends on; the neighbour has asked for them by an
``AnnotationPlan``, and reads them with a ``ClaimReader``.  Annotations change the cost, never a delivery.
"""

from twigcast.routing.piggyback.annotations import AnnotationKind, Annotations, DocumentFigures, accepted
from twigcast.routing.piggyback.explanation import RoutingExplanation, Statement
from twigcast.routing.piggyback.plan import AnnotationPlan, Wish
from twigcast.routing.piggyback.protocols import Protocol, Timing, annotations_named, protocol
from twigcast.routing.piggyback.told_set import ToldSet
from twigcast.routing.piggyback.verdict import Claim, ClaimReader, ClaimTable, Known
from twigcast.routing.piggyback.work import DocumentWork, FragmentWork, Work

__all__ = [
    "AnnotationKind",
    "AnnotationPlan",
    "Annotations",
    "Claim",
    "ClaimReader",
    "ClaimTable",
    "DocumentFigures",
    "DocumentWork",
    "FragmentWork",
    "Known",
    "Protocol",
    "RoutingExplanation",
    "Statement",
    "Timing",
    "ToldSet",
    "Wish",
    "Work",
    "accepted",
    "annotations_named",
    "protocol",
]
