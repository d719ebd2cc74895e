"""Reads a scenario from a TOML file.

    [network]                             line, star, balanced-tree, random-tree; or links = [["a", "b"], …]
    topology = "balanced-tree"
    arity = 2
    depth = 3
    merging = 0.1                         techniques, as in the [network] of a pipeline file: advertising,
    annotations = "structure"             covering, merging, aggregation, publication, annotations

    [schema]                              the default is the built-in news schema
    dtd = "psd.dtd"

    [subscribers]
    at = "leaves"                         or "all", or routers by name; one subscriber at each
    count = 1000                          subscriptions of each; the other keys are SubscriptionOptions
    wildcard = 0.1

    [publishers]
    at = "random"                         or routers by name; ``number`` says how many are random
    documents = 50                        of all publishers together; the other keys are DocumentOptions

    [strategies]
    names = ["no-Adv-no-Cov", "with-Adv-with-Cov"]
    publication = "paths"                 or "documents", "fragments"
    piggyback = ["ES", "L+s-sd"]          each with each of the strategies, whose documents must travel whole

    [strategy]                            a strategy of your own: the fields of Strategy
    merging = 0.05

    [link]                                the fields of LinkModel
    latency = 0.25
    relay = "cut-through"                 or "store": whether routers wait for a whole document

    [fragments]                           how publishers send documents that travel in fragments:
    bytes = 65536                         the fields of FragmentOptions
    order = "novelty"                     or "document", "random"
    loss = 0.01
    delay = 0.002

    [mediation]                           publishers write dialects of the schema, which routers rewrite;
    dialects = 40                         in experiments only: python -m experiments.engines simulate FILE
    approach = ["NDDR_data", "SDR"]       also NDDR_router, IDDR, QRA; each with each strategy

    [cost]                                the fields of CostModel
    model = "paper"                       or "routing", "even"; or "measured", which times the routers
    row = 0.5                             replaces a value of the model

Every key has a default, so that an empty file is a scenario: seven routers, news, and all strategies.
"""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar, get_type_hints

from pydantic import AfterValidator, BeforeValidator, Field, PositiveInt, create_model, model_validator

from twigcast.config import ConfigError, ConfigSection, read_toml, validated, wrong
from twigcast.errors import RoutingError
from twigcast.routing import STRATEGIES, Network, Strategy, TechniquesSection, protocol
from twigcast.simulator.cost import COST_MODELS, CostModel, LinkModel
from twigcast.simulator.dialects import DialectOptions, provided_dialects
from twigcast.simulator.fragment_traffic import FragmentOptions
from twigcast.simulator.scenario import Publishers, Scenario, Subscribers
from twigcast.simulator.topologies import balanced_tree, line, random_tree, star

Value = TypeVar("Value")


def load_scenario(path: Path) -> Scenario:
    """Read a scenario from a TOML file; raises ``RoutingError``, whose ``name`` is the wrong key."""
    try:
        return _scenario(validated(_FILE, read_toml(path)), path)
    except ConfigError as error:
        raise RoutingError(f"{path}: {error.message}", code="scenario", name=error.key or str(path)) from None
    except RoutingError as error:
        raise RoutingError(f"{path}: {error.message}", code=error.code, name=error.name) from None


class TopologySection(TechniquesSection):
    """The routers and links of the network: a topology with its size, or a list of links between names.

    With techniques, their combination is simulated, beside the ``[strategies]`` and the ``[strategy]``.
    """

    topology: Literal["line", "star", "balanced-tree", "random-tree"] = "balanced-tree"
    routers: PositiveInt = 7
    arity: PositiveInt = 2
    depth: PositiveInt = 3
    seed: int = 0
    links: list[Annotated[list[str], Field(min_length=2, max_length=2)]] | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self.check_techniques(has_schema=True)  # without a DTD it is the built-in one
        return self

    def network(self) -> Network:
        """Make the network without clients; raises ``RoutingError`` if the links do not form a tree."""
        if self.links is not None:
            names = dict.fromkeys(end for link in self.links for end in link)
            return Network(tuple(names), tuple((one, other) for one, other in self.links))
        match self.topology:
            case "line":
                return line(self.routers)
            case "star":
                return star(self.routers)
            case "balanced-tree":
                return balanced_tree(self.arity, self.depth)
            case "random-tree":
                return random_tree(self.routers, self.seed)


class SchemaSection(ConfigSection):
    """The schema of the documents; a relative path is relative to the folder of the scenario file."""

    dtd: str | None = None
    root: str | None = None


def _is_piggyback(name: str) -> str:
    try:
        return protocol(name).name
    except RoutingError as error:
        raise wrong("", error.message) from None


class StrategiesSection(ConfigSection):
    """The built-in strategies to compare: by default all, or none if there is a ``[strategy]`` section."""

    names: list[Literal[tuple(STRATEGIES)]] | None = None  # type: ignore[valid-type]
    publication: Literal["documents", "paths", "fragments"] = "documents"
    piggyback: list[Annotated[str, AfterValidator(_is_piggyback)]] | None = None


class DialectsSection(ConfigSection):
    """How many dialects the publishers write, and the approaches to compare."""

    dialects: PositiveInt = 40
    approach: str | list[str] = "NDDR_router"


def _section(*defaults: Any, **more: Any) -> type[ConfigSection]:
    """Make a section model whose keys and defaults are the fields of these dataclass values."""
    keys: dict[str, Any] = {}
    for value in defaults:
        hints = get_type_hints(type(value))
        keys |= {each.name: (hints[each.name], getattr(value, each.name)) for each in fields(value)}
    keys.pop("options", None)
    return create_model("Section", __base__=ConfigSection, **keys | more)


_Routers = Annotated[list[str], BeforeValidator(lambda at: [at] if isinstance(at, str) else at)]
_SUBSCRIBERS, _PUBLISHERS, _LINK, _COST = Subscribers(), Publishers(), LinkModel(), CostModel()
_FRAGMENTS = FragmentOptions()
_Model = Literal["routing", "paper", "even", "measured"]
_OWN_STRATEGY: Any = _section(Strategy()) | None
_FILE: type[ConfigSection] = create_model(
    "ScenarioFile",
    __base__=ConfigSection,
    name=(str | None, None),
    seed=(int, 0),
    interval=(float, Field(default=10.0, ge=0, allow_inf_nan=False)),
    batch=(PositiveInt | None, None),
    network=(TopologySection, {}),
    schema_=(SchemaSection, Field(default={}, alias="schema")),
    subscribers=(_section(_SUBSCRIBERS, _SUBSCRIBERS.options, at=(_Routers, _SUBSCRIBERS.at)), {}),
    publishers=(_section(_PUBLISHERS, _PUBLISHERS.options, at=(_Routers, _PUBLISHERS.at)), {}),
    strategies=(StrategiesSection, {}),
    strategy=(_OWN_STRATEGY, None),
    link=(_section(_LINK), {}),
    cost=(_section(_COST, model=(_Model, "routing"), measured=(bool, False)), {}),
    mediation=(DialectsSection | None, None),
    fragments=(_section(_FRAGMENTS), {}),
)


def _scenario(file: Any, path: Path) -> Scenario:
    return Scenario(
        file.name or path.stem,
        file.network.network(),
        None if file.schema_.dtd is None else path.parent / file.schema_.dtd,
        file.schema_.root,
        _with_options(_SUBSCRIBERS, file.subscribers, "subscribers"),
        _with_options(_PUBLISHERS, file.publishers, "publishers"),
        _strategies(file),
        _filled(_LINK, file.link, "link"),
        _cost(file.cost),
        file.interval,
        file.batch,
        file.seed,
        _mediation(file.mediation),
        _filled(_FRAGMENTS, file.fragments, "fragments"),
    )


def _mediation(section: DialectsSection | None) -> DialectOptions | None:
    if section is None:
        return None
    chosen = section.approach
    approaches = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    known = provided_dialects().networks
    for name in approaches:
        if name not in known:
            message = f"mediation.approach: expected one of {', '.join(known)}, not {name!r}"
            raise RoutingError(message, code="scenario", name="mediation.approach")
    return DialectOptions(section.dialects, approaches)


def _cost(section: Any) -> CostModel | None:
    """The model by name, with the values that are given."""
    if section.measured or section.model == "measured":
        return None
    given = {name: getattr(section, name) for name in section.model_fields_set - {"model", "measured"}}
    return replace(COST_MODELS[section.model], **given)


def _strategies(file: Any) -> dict[str, Strategy]:
    names = file.strategies.names
    if names is None:
        is_given = file.strategy is not None or file.network.has_techniques
        names = () if is_given else STRATEGIES
    chosen = {name: replace(STRATEGIES[name], publication=file.strategies.publication) for name in names}
    if file.network.has_techniques:
        chosen["network"] = file.network.techniques(has_schema=True)
    if file.strategy is not None:
        chosen["strategy"] = _filled(Strategy(), file.strategy, "strategy")
    if file.strategies.piggyback is None:
        return chosen
    return {
        piggyback if len(chosen) == 1 else f"{name}, {piggyback}": replace(each, piggyback=piggyback)
        for name, each in chosen.items()
        for piggyback in file.strategies.piggyback
    }


def _with_options(default: Any, section: ConfigSection, key: str) -> Any:
    """Fill a value and its ``options`` from the keys of one section."""
    filled = replace(_filled(default, section, key), options=_filled(default.options, section, key))
    return replace(filled, at=filled.at[0] if len(filled.at) == 1 else tuple(filled.at))


def _filled(default: Value, section: ConfigSection, key: str) -> Value:
    """Fill a dataclass value from a section; raises ``RoutingError`` if the dataclass refuses a value."""
    given = {each.name: getattr(section, each.name) for each in fields(default) if each.name != "options"}  # type: ignore[arg-type]
    try:
        return replace(default, **given)  # type: ignore[type-var]
    except ValueError as error:
        raise RoutingError(f"{key}: {error}", code="scenario", name=key) from None
