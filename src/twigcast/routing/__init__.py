"""The overlay: which subscriptions travel where, and which documents follow them.

Everything here is pure: no clock, no socket, no file, no randomness of its own.
"""

from twigcast.routing.advertising import Advertisement, advertisement
from twigcast.routing.aggregating import Aggregating
from twigcast.routing.change import Change
from twigcast.routing.counting import PathCounter, degree
from twigcast.routing.covering import covers
from twigcast.routing.expressions import (
    Kind,
    PathExpression,
    kind,
    parse_path_expression,
    render_expression,
)
from twigcast.routing.generalizing import common_pattern
from twigcast.routing.mergers import merge_one_difference, merge_two_differences, merge_with_descendant
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
from twigcast.routing.overlapping import admissible_paths, overlaps
from twigcast.routing.overlay import Delivery, Overlay
from twigcast.routing.paths import LeafPath, branches, leaf_paths, reassemble
from twigcast.routing.pool import Pool
from twigcast.routing.router import Router
from twigcast.routing.selectivity import Selectivity, sample_selectivity, schema_selectivity
from twigcast.routing.strategy import FLOODING, STRATEGIES, Strategy
from twigcast.routing.subscription_tree import SubscriptionTree
from twigcast.routing.unfolding import path_expressions

__all__ = [
    "FLOODING",
    "STRATEGIES",
    "Advertise",
    "Advertisement",
    "Aggregating",
    "Change",
    "Deliver",
    "Delivery",
    "Envelope",
    "Kind",
    "LeafPath",
    "Merging",
    "Message",
    "Network",
    "Overlay",
    "PathCounter",
    "PathExpression",
    "Paths",
    "Pool",
    "Publish",
    "Router",
    "Selectivity",
    "Send",
    "Strategy",
    "Subscribe",
    "SubscriptionTree",
    "Unadvertise",
    "Unsubscribe",
    "admissible_paths",
    "advertisement",
    "branches",
    "common_pattern",
    "covers",
    "degree",
    "kind",
    "leaf_paths",
    "merge_one_difference",
    "merge_two_differences",
    "merge_with_descendant",
    "overlaps",
    "parse_path_expression",
    "path_expressions",
    "reassemble",
    "render_expression",
    "sample_selectivity",
    "schema_selectivity",
]
