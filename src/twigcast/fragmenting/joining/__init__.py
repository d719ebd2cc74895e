"""Joining fragments that were evaluated elsewhere, such as by other processes."""

from twigcast.fragmenting.joining.document_join import DocumentJoin
from twigcast.fragmenting.joining.evaluated_fragments import EvaluatedFragments
from twigcast.fragmenting.joining.fragment_evaluation import evaluate_fragment, evaluate_in_context
from twigcast.fragmenting.matching.arrivals import Arrival

__all__ = ["Arrival", "DocumentJoin", "EvaluatedFragments", "evaluate_fragment", "evaluate_in_context"]
