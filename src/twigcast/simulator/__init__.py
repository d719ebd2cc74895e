"""Simulates networks of routers in virtual time, to compare costs of strategies and check deliveries.

A simulation takes a network, a load and a strategy:

    network = balanced_tree(2, 3).with_clients({"reader": "b4", "writer": "b7"})
    load = Load(subscriptions={"reader": [("1", parse("//a"))]}, documents=[("writer", Envelope("d", body))])
    report = simulate(network, load, STRATEGIES["with-Adv-with-Cov"], cost=CostModel())
    report.messages, report.rows, report.delay, report.correct
"""

from twigcast.routing import Network
from twigcast.simulator.cost import CostModel
from twigcast.simulator.dialects import provide_dialects
from twigcast.simulator.load import Load
from twigcast.simulator.plotting import plot
from twigcast.simulator.report import Report
from twigcast.simulator.scenario import SCENARIOS, Scenario, named_scenario
from twigcast.simulator.scenario_file import load_scenario
from twigcast.simulator.simulation import simulate
from twigcast.simulator.topologies import balanced_tree, line

__all__ = [
    "SCENARIOS",
    "CostModel",
    "Load",
    "Network",
    "Report",
    "Scenario",
    "balanced_tree",
    "line",
    "load_scenario",
    "named_scenario",
    "plot",
    "provide_dialects",
    "simulate",
]
