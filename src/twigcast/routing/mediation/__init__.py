"""Mediation: documents of many schemas in one network, matched as if they had the global schema.

    publisher ──► edge router: which mapping?  ──► routers match the image ──► the publisher's own bytes

``NetworkMediation`` says which approach the network uses; a ``Mediator`` keeps the mappings of a schema.
"""

from twigcast.routing.mediation.approach import APPROACHES, Approach, NetworkMediation, pool_for
from twigcast.routing.mediation.image_schema import image_advertisement
from twigcast.routing.mediation.known_mappings import KnownMappings
from twigcast.routing.mediation.mediator import Mediator, Proposal

__all__ = [
    "APPROACHES",
    "Approach",
    "KnownMappings",
    "Mediator",
    "NetworkMediation",
    "Proposal",
    "image_advertisement",
    "pool_for",
]
