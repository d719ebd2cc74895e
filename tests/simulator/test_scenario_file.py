"""Scenario files: their keys, and the errors of invalid files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from experiments.engines.mapping.publishers import provide
from twigcast.errors import RoutingError, SchemaError
from twigcast.routing import STRATEGIES, Strategy
from twigcast.simulator import SCENARIOS, load_scenario
from twigcast.simulator.cost import EVEN, PAPER, CostModel
from twigcast.simulator.dialects import DialectOptions
from twigcast.simulator.fragment_traffic import FragmentOptions

DTD = "<!ELEMENT a (b|c)*><!ELEMENT b (c*)><!ELEMENT c (#PCDATA)>"


def write(folder: Path, text: str) -> Path:
    path = folder / "network.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_describes_all_of_it(tmp_path: Path) -> None:
    """A file may set network, schema, subscribers, publishers, strategies, links and costs."""
    (tmp_path / "small.dtd").write_text(DTD, encoding="utf-8")
    path = write(
        tmp_path,
        """
        name = "mine"
        interval = 0.5
        seed = 3
        [network]
        links = [["x", "y"], ["y", "z"]]
        [schema]
        dtd = "small.dtd"
        [subscribers]
        at = ["x", "z"]
        count = 4
        leaving = 0.5
        min_steps = 1
        [publishers]
        at = ["y"]
        documents = 3
        elements = 5
        [strategies]
        names = ["no-Adv-no-Cov"]
        publication = "paths"
        [strategy]
        merging = 0.05
        [link]
        latency = 0.25
        [cost]
        row = 0.5
        """,
    )
    scenario = load_scenario(path)
    assert scenario.name == "mine"
    assert scenario.network.leaves == ("x", "z")
    assert scenario.strategies == {
        "no-Adv-no-Cov": Strategy(advertising=False, covering=False, publication="paths"),
        "strategy": Strategy(merging=0.05),
    }
    assert (scenario.link.latency, scenario.cost) == (0.25, CostModel(row=0.5))
    simulation = scenario.simulations()[0]
    assert simulation.network.clients == (
        ("subscriber x", "x"),
        ("subscriber z", "z"),
        ("publisher 1", "y"),
    )
    assert [len(each) for each in simulation.load.subscriptions.values()] == [4, 4]
    assert [len(each) for each in simulation.load.leaving.values()] == [2, 2]
    assert len(simulation.load.documents) == 3


def test_an_empty_file_is_the_usual_scenario(tmp_path: Path) -> None:
    """The defaults are seven routers, news, six strategies and whole documents."""
    scenario = load_scenario(write(tmp_path, ""))
    assert scenario.name == "network"
    assert scenario.network == SCENARIOS["seven"].network
    assert scenario.strategies == STRATEGIES


def test_time_can_be_measured_instead_of_modelled(tmp_path: Path) -> None:
    """Then there is no cost model."""
    assert load_scenario(write(tmp_path, "[cost]\nmeasured = true")).cost is None
    assert load_scenario(write(tmp_path, "[cost]\nmodel = 'measured'")).cost is None


def test_a_cost_model_has_a_name_and_values_of_its_own(tmp_path: Path) -> None:
    """Values that are given replace those of the model."""
    assert load_scenario(write(tmp_path, "[cost]\nmodel = 'paper'")).cost == PAPER
    assert load_scenario(write(tmp_path, "[cost]\nmodel = 'routing'")).cost == CostModel()
    path = write(tmp_path, "[cost]\nmodel = 'even'\nrow = 0.5")
    assert load_scenario(path).cost == replace(EVEN, row=0.5)


def test_a_file_compares_piggybacks(tmp_path: Path) -> None:
    """Each is combined with each strategy; if there is one strategy, the name of the piggyback is enough."""
    names = "[strategies]\nnames = ['no-Adv-no-Cov', 'no-Adv-with-Cov']\npiggyback = ['ES', 'L+ds']\n"
    assert list(load_scenario(write(tmp_path, names)).strategies) == [
        "no-Adv-no-Cov, ES",
        "no-Adv-no-Cov, L+sd",
        "no-Adv-with-Cov, ES",
        "no-Adv-with-Cov, L+sd",
    ]
    own = "[strategies]\npiggyback = ['ES', 'L+t']\n[strategy]\nadvertising = false\naggregation = 0.25"
    assert load_scenario(write(tmp_path, own)).strategies == {
        name: Strategy(advertising=False, aggregation=0.25, piggyback=name) for name in ("ES", "L+t")
    }


def test_a_file_sets_the_place_of_the_first_match_and_the_relay(tmp_path: Path) -> None:
    """The keys are those of generated documents and subscriptions, and of links."""
    text = "[publishers]\ntest_element = 0.5\n[subscribers]\ntest_condition = true\n"
    scenario = load_scenario(write(tmp_path, text + "[link]\nrelay = 'cut-through'"))
    assert scenario.publishers.options.test_element == 0.5
    assert scenario.subscribers.options.test_condition
    assert scenario.link.relay == "cut-through"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x", "network.toml"),
        ("routers = 7", "routers"),
        ("network = 7", "network"),
        ("[network]\ntopology = 'ring'", "topology"),
        ("[network]\nlinks = [['a']]", "links"),
        ("[network]\nlinks = [['a', 'b'], ['b', 'a']]", "a - b"),
        ("[network]\ntopology = 'line'\nrouters = 'many'", "network.routers"),
        ("[subscribers]\nwildcards = 1", "wildcards"),
        ("[subscribers]\nwildcard = 2", "subscribers"),
        ("[strategies]\nnames = ['none']", "strategies.names"),
        ("[strategy]\nmerging = 3.0", "merging"),
        ("[strategy]\npublication = 'words'", "strategy.publication"),
        ("[link]\nspeed = 3", "link.speed"),
        ("[link]\nlatency = '3'", "link.latency"),
        ("batch = 0", "batch"),
        ("[publishers]\nat = 7", "publishers.at"),
        ("[publishers]\ntest_element = 2.0", "publishers"),
        ("[strategies]\npiggyback = ['ES-s']", "strategies.piggyback"),
        ("[strategies]\npiggyback = 'ES'", "strategies.piggyback"),
        ("[network]\nannotations = 'structures'", "network.annotations"),
        ("[strategy]\npiggyback = 'X'", "piggyback"),
        ("[link]\nrelay = 'both'", "link.relay"),
        ("[cost]\nmodel = 'fast'", "cost.model"),
        ("[fragments]\nsize = 3", "fragments.size"),
        ("[fragments]\norder = 'S'", "fragments.order"),
        ("[fragments]\nloss = 1.0", "fragments"),
        ("[network]\nstrategy = 'with-Adv-with-Cov'\ncovering = false", "network.strategy"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, name: str) -> None:
    """The error begins with the name of the file."""
    with pytest.raises(RoutingError) as refused:
        load_scenario(write(tmp_path, text))
    assert name in refused.value.name
    assert "network.toml" in refused.value.message


def test_a_file_says_how_fragments_are_sent(tmp_path: Path) -> None:
    """Size, order, loss and delay are those of publishers and links; strategies say that there are any."""
    text = "[fragments]\nbytes = 1000\norder = 'novelty'\nloss = 0.1\ndelay = 0.5\n"
    scenario = load_scenario(write(tmp_path, text + "[strategies]\npublication = 'fragments'"))
    assert scenario.fragments == FragmentOptions(1000, "novelty", loss=0.1, delay=0.5)
    assert {each.publication for each in scenario.strategies.values()} == {"fragments"}


def test_a_file_that_is_not_there_and_a_schema_that_is_not_there(tmp_path: Path) -> None:
    """The error names the missing file."""
    with pytest.raises(RoutingError, match=r"none\.toml"):
        load_scenario(tmp_path / "none.toml")
    with pytest.raises(SchemaError, match=r"none\.dtd"):
        load_scenario(write(tmp_path, "[schema]\ndtd = 'none.dtd'")).simulations()


def test_a_misspelt_key_is_shown_the_right_one(tmp_path: Path) -> None:
    """This works also in a section whose keys belong to two values."""
    with pytest.raises(RoutingError, match=r"subscribers.wildcrad: unknown key; did you mean wildcard\?"):
        load_scenario(write(tmp_path, "[subscribers]\nwildcrad = 0.1"))


def test_a_file_asks_for_dialects(tmp_path: Path) -> None:
    """One approach may be given by itself."""
    provide()
    path = write(tmp_path, "[mediation]\ndialects = 4\napproach = ['SDR', 'QRA']")
    assert load_scenario(path).mediation == DialectOptions(4, ("SDR", "QRA"))
    path = write(tmp_path, "[mediation]\napproach = 'SDR'")
    assert load_scenario(path).mediation == DialectOptions(40, ("SDR",))


def test_an_unknown_approach_is_refused(tmp_path: Path) -> None:
    """The error names the key."""
    provide()
    with pytest.raises(RoutingError, match="mediation"):
        load_scenario(write(tmp_path, "[mediation]\napproach = 'XYZ'"))
