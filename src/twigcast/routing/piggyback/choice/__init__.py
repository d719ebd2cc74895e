"""Which annotations a router asks for: what each is worth, and the choice under a size limit."""

from twigcast.routing.piggyback.choice.plan_making import Chooser, make_plan
from twigcast.routing.piggyback.choice.selecting import (
    choose_questions,
    greedy,
    highest,
    knapsack,
    marginal_greedy,
    refuted_pairs,
)
from twigcast.routing.piggyback.choice.values import (
    ND_BITS,
    NS_BITS,
    PAPER_PD_BITS,
    Rates,
    nd_benefit,
    nd_value,
    pd_value,
    ps_benefit,
    ps_value,
)

__all__ = [
    "ND_BITS",
    "NS_BITS",
    "PAPER_PD_BITS",
    "Chooser",
    "Rates",
    "choose_questions",
    "greedy",
    "highest",
    "knapsack",
    "make_plan",
    "marginal_greedy",
    "nd_benefit",
    "nd_value",
    "pd_value",
    "ps_benefit",
    "ps_value",
    "refuted_pairs",
]
