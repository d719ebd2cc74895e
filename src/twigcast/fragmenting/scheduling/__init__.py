"""Which fragments of a document are worth an evaluation, by their headers, and in which order.

``Relevance`` says which nodes of many queries a fragment can match.  An ``Agenda`` gives fragments in the
order of one of the ``POLICIES``, a ``Window`` says which of them are scheduled together.
"""

from twigcast.fragmenting.scheduling.contexts import ContextElement, Contexts
from twigcast.fragmenting.scheduling.policies import POLICIES, Agenda, Outlook, Policy, PolicyName
from twigcast.fragmenting.scheduling.prefix_tree import PathState, PrefixTree, bits
from twigcast.fragmenting.scheduling.queries import Query, QueryNode, TextUse
from twigcast.fragmenting.scheduling.relevance import Relevance, lists_elements
from twigcast.fragmenting.scheduling.sending_order import by_novelty
from twigcast.fragmenting.scheduling.windows import Window

__all__ = [
    "POLICIES",
    "Agenda",
    "ContextElement",
    "Contexts",
    "Outlook",
    "PathState",
    "Policy",
    "PolicyName",
    "PrefixTree",
    "Query",
    "QueryNode",
    "Relevance",
    "TextUse",
    "Window",
    "bits",
    "by_novelty",
    "lists_elements",
]
