"""Simulates networks of routers in virtual time, to compare costs of strategies and check deliveries.

A simulation takes a network, a load and a strategy:

    network = balanced_tree(2, 3).with_clients({"reader": "b4", "writer": "b7"})
    report = simulate(network, load, STRATEGIES["with-Adv-with-Cov"], cost=CostModel())
    report.messages, report.rows, report.delay, report.correct
"""

from twigcast.routing import Network
from twigcast.simulator.cost import COST_MODELS, EVEN, PAPER, CostModel, LinkModel
from twigcast.simulator.dialects import DialectOptions, PublisherDialects, provide_dialects
from twigcast.simulator.fragment_traffic import FragmentOptions
from twigcast.simulator.load import Load
from twigcast.simulator.plotting import plot
from twigcast.simulator.report import Delay, FragmentFigures, NetworkWork, Report, WorkFigures
from twigcast.simulator.scenario import (
    SCENARIOS,
    Publishers,
    Scenario,
    Subscribers,
    named_scenario,
)
from twigcast.simulator.scenario_file import load_scenario
from twigcast.simulator.simulation import Simulation, simulate
from twigcast.simulator.topologies import balanced_tree, line, random_tree, star

__all__ = [
    "COST_MODELS",
    "EVEN",
    "PAPER",
    "SCENARIOS",
    "CostModel",
    "Delay",
    "DialectOptions",
    "FragmentFigures",
    "FragmentOptions",
    "LinkModel",
    "Load",
    "Network",
    "NetworkWork",
    "PublisherDialects",
    "Publishers",
    "Report",
    "Scenario",
    "Simulation",
    "Subscribers",
    "WorkFigures",
    "balanced_tree",
    "line",
    "load_scenario",
    "named_scenario",
    "plot",
    "provide_dialects",
    "random_tree",
    "simulate",
    "star",
]
