"""The stages that reduce the subscriptions forwarded to a neighbour: covering, merging and aggregation.

Each stage takes a change of its input and returns the change of its output, so only differences are sent.
"""

from twigcast.routing.stages.aggregating import Aggregating
from twigcast.routing.stages.change import Change
from twigcast.routing.stages.interest import Interest
from twigcast.routing.stages.merging import Merging
from twigcast.routing.stages.subscription_tree import SubscriptionTree

__all__ = ["Aggregating", "Change", "Interest", "Merging", "SubscriptionTree"]
