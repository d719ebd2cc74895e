"""What a neighbour is told of the subscriptions of all other links, by covering, merging and aggregation.

Each stage answers a change of its input with the change of its output, so that what is sent is only what has
changed.
"""

from twigcast.routing.stages.aggregating import Aggregating
from twigcast.routing.stages.change import Change
from twigcast.routing.stages.interest import Interest
from twigcast.routing.stages.merging import Merging
from twigcast.routing.stages.subscription_tree import SubscriptionTree

__all__ = ["Aggregating", "Change", "Interest", "Merging", "SubscriptionTree"]
