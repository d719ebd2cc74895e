"""The overlay: which subscriptions travel where, and which documents follow them.

Everything here is pure: no clock, no socket, no file, no randomness of its own.
"""

from twigcast.routing.advertising import Advertisement, advertisement
from twigcast.routing.aggregating import Aggregating
from twigcast.routing.change import Change
from twigcast.routing.delivery_table import DeliveryTable
from twigcast.routing.forwarding import NOWHERE, Carried, Demand, ForwardingTable, Link, carry
from twigcast.routing.merging import Merging
from twigcast.routing.messages import (
    Advertise,
    Deliver,
    Envelope,
    Message,
    Paths,
    Publish,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from twigcast.routing.network import Network
from twigcast.routing.overlay import Delivery, Overlay, join
from twigcast.routing.path_publication import LeafPath, branches, leaf_paths, reassemble
from twigcast.routing.pool import Pool
from twigcast.routing.router import Router
from twigcast.routing.strategy import FLOODING, STRATEGIES, Strategy
from twigcast.routing.subscription_tree import SubscriptionTree
from twigcast.routing.tables import PublicationTable

__all__ = [
    "FLOODING",
    "NOWHERE",
    "STRATEGIES",
    "Advertise",
    "Advertisement",
    "Aggregating",
    "Carried",
    "Change",
    "Deliver",
    "Delivery",
    "DeliveryTable",
    "Demand",
    "Envelope",
    "ForwardingTable",
    "LeafPath",
    "Link",
    "Merging",
    "Message",
    "Network",
    "Overlay",
    "Paths",
    "Pool",
    "PublicationTable",
    "Publish",
    "Router",
    "Send",
    "Strategy",
    "Subscribe",
    "SubscriptionTree",
    "Unadvertise",
    "Unsubscribe",
    "advertisement",
    "branches",
    "carry",
    "join",
    "leaf_paths",
    "reassemble",
]
