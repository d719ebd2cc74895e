"""Routers of an overlay network: they forward subscriptions to neighbours and documents to subscribers.

Everything here is pure: there is no clock, no socket, no file and no randomness.
"""

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.routing.advertising import Advertisement, advertisement
    from twigcast.routing.border import SiteAnnotator, SiteBorder, SitePlan, SiteReader
    from twigcast.routing.delivery_table import DeliveryTable
    from twigcast.routing.forwarding import NOWHERE, Carried, Demand, ForwardingTable, Link, carry
    from twigcast.routing.mediation import (
        APPROACHES,
        Approach,
        KnownMappings,
        Mediator,
        NetworkMediation,
        Proposal,
        image_advertisement,
        pool_for,
    )
    from twigcast.routing.messages import (
        MAPPING,
        RULES,
        Advertise,
        Announce,
        Deliver,
        DeliverFragment,
        Envelope,
        Message,
        Paths,
        Publish,
        PublishFragment,
        RequestAnnotations,
        Send,
        Subscribe,
        Unadvertise,
        Unpublish,
        Unsubscribe,
    )
    from twigcast.routing.network import Network
    from twigcast.routing.overlay import Delivery, Overlay, join
    from twigcast.routing.path_publication import LeafPath, branches, leaf_paths, reassemble
    from twigcast.routing.piggyback import (
        AnnotationKind,
        AnnotationPlan,
        Annotations,
        DocumentWork,
        FragmentWork,
        RoutingExplanation,
        Timing,
        Work,
        accepted,
        protocol,
    )
    from twigcast.routing.pool import Pool
    from twigcast.routing.router import Router
    from twigcast.routing.stages.aggregating import Aggregating
    from twigcast.routing.stages.change import Change
    from twigcast.routing.stages.merging import Merging
    from twigcast.routing.stages.subscription_tree import SubscriptionTree
    from twigcast.routing.strategy import FLOODING, STRATEGIES, Strategy
    from twigcast.routing.tables import PublicationTable
    from twigcast.routing.techniques_section import TechniquesSection
    from twigcast.routing.transit.fragment_relay import FragmentRelay
    from twigcast.routing.transit.relayed_document import RelayedDocument

__all__ = [
    "APPROACHES",
    "FLOODING",
    "MAPPING",
    "NOWHERE",
    "RULES",
    "STRATEGIES",
    "Advertise",
    "Advertisement",
    "Aggregating",
    "AnnotationKind",
    "AnnotationPlan",
    "Annotations",
    "Announce",
    "Approach",
    "Carried",
    "Change",
    "Deliver",
    "DeliverFragment",
    "Delivery",
    "DeliveryTable",
    "Demand",
    "DocumentWork",
    "Envelope",
    "ForwardingTable",
    "FragmentRelay",
    "FragmentWork",
    "KnownMappings",
    "LeafPath",
    "Link",
    "Mediator",
    "Merging",
    "Message",
    "Network",
    "NetworkMediation",
    "Overlay",
    "Paths",
    "Pool",
    "Proposal",
    "PublicationTable",
    "Publish",
    "PublishFragment",
    "RelayedDocument",
    "RequestAnnotations",
    "Router",
    "RoutingExplanation",
    "Send",
    "SiteAnnotator",
    "SiteBorder",
    "SitePlan",
    "SiteReader",
    "Strategy",
    "Subscribe",
    "SubscriptionTree",
    "TechniquesSection",
    "Timing",
    "Unadvertise",
    "Unpublish",
    "Unsubscribe",
    "Work",
    "accepted",
    "advertisement",
    "branches",
    "carry",
    "image_advertisement",
    "join",
    "leaf_paths",
    "pool_for",
    "protocol",
    "reassemble",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.routing.advertising": [
            "Advertisement",
            "advertisement",
        ],
        "twigcast.routing.border": [
            "SiteAnnotator",
            "SiteBorder",
            "SitePlan",
            "SiteReader",
        ],
        "twigcast.routing.delivery_table": [
            "DeliveryTable",
        ],
        "twigcast.routing.forwarding": [
            "Carried",
            "Demand",
            "ForwardingTable",
            "Link",
            "NOWHERE",
            "carry",
        ],
        "twigcast.routing.mediation": [
            "APPROACHES",
            "Approach",
            "KnownMappings",
            "Mediator",
            "NetworkMediation",
            "Proposal",
            "image_advertisement",
            "pool_for",
        ],
        "twigcast.routing.messages": [
            "Advertise",
            "Announce",
            "Deliver",
            "DeliverFragment",
            "Envelope",
            "MAPPING",
            "Message",
            "Paths",
            "Publish",
            "PublishFragment",
            "RULES",
            "RequestAnnotations",
            "Send",
            "Subscribe",
            "Unadvertise",
            "Unpublish",
            "Unsubscribe",
        ],
        "twigcast.routing.network": [
            "Network",
        ],
        "twigcast.routing.overlay": [
            "Delivery",
            "Overlay",
            "join",
        ],
        "twigcast.routing.path_publication": [
            "LeafPath",
            "branches",
            "leaf_paths",
            "reassemble",
        ],
        "twigcast.routing.piggyback": [
            "AnnotationKind",
            "AnnotationPlan",
            "Annotations",
            "DocumentWork",
            "FragmentWork",
            "RoutingExplanation",
            "Timing",
            "Work",
            "accepted",
            "protocol",
        ],
        "twigcast.routing.pool": [
            "Pool",
        ],
        "twigcast.routing.router": [
            "Router",
        ],
        "twigcast.routing.stages.aggregating": [
            "Aggregating",
        ],
        "twigcast.routing.stages.change": [
            "Change",
        ],
        "twigcast.routing.stages.merging": [
            "Merging",
        ],
        "twigcast.routing.stages.subscription_tree": [
            "SubscriptionTree",
        ],
        "twigcast.routing.strategy": [
            "FLOODING",
            "STRATEGIES",
            "Strategy",
        ],
        "twigcast.routing.tables": [
            "PublicationTable",
        ],
        "twigcast.routing.techniques_section": [
            "TechniquesSection",
        ],
        "twigcast.routing.transit.fragment_relay": [
            "FragmentRelay",
        ],
        "twigcast.routing.transit.relayed_document": [
            "RelayedDocument",
        ],
    },
)
