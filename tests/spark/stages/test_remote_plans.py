"""A network sends a remote site all documents that the site's subscriptions match, after any change."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.overlay import any_document, graph, subscription, valid_document
from twigcast.document import read
from twigcast.pattern import Pattern, Subscription, matches, render
from twigcast.routing import STRATEGIES
from twigcast.spark.pipeline import NetworkSection
from twigcast.spark.stages import network
from twigcast.spark.stages.network import NetworkTables, ShippedNetwork
from twigcast.spark.stages.remote_plans import EVERYTHING, newest_plan
from twigcast.subscriptions import SubscriptionStore, VersionBuilder


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1 << 32))
def test_a_site_gets_what_it_has_told(strategy: str, seed: int) -> None:
    """Its own subscriptions and those of the north are delivered as ever; both sites may be restarted."""
    random = Random(seed)
    schema = graph(random)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(network, "read_schema", lambda path, root: schema)
        root = Path(folder)
        plan = str(root / "south.json")
        described = {"strategy": strategy, "schema": str(root / "any.dtd")}
        remote = {"south": {"plan": plan, "to": str(root / "to"), "at": "hub"}}
        north = {"routers": ["north", "hub"], "links": [["north", "hub"]], "remote": remote}
        sections = {
            "north": NetworkSection.model_validate({**described, **north}),
            "south": NetworkSection.model_validate({**described, "routers": ["s"], "plan": plan}),
        }
        stores = {site: SubscriptionStore(root / f"{site}.db") for site in sections}
        tables = {site: NetworkTables(section) for site, section in sections.items()}
        builders = {
            site: VersionBuilder(stores[site], root / site, extension=tables[site]) for site in sections
        }
        there: dict[str, dict[str, Pattern]] = {"north": {}, "south": {}}
        for _ in range(3):
            for site, known in there.items():
                for _ in range(random.randint(0, 3)):
                    id, pattern = f"s{random.randrange(6)}", subscription(random)
                    if known.pop(id, None) is not None:
                        stores[site].unsubscribe(id)
                    if random.random() < 0.8:
                        stores[site].put(Subscription(id, render(pattern), id))
                        known[id] = pattern
                if random.random() < 0.2:
                    tables[site] = NetworkTables(sections[site])
                    builders[site] = VersionBuilder(stores[site], root / site, extension=tables[site])
            told = random.random() < 0.9
            if told:
                tables["south"].tell(builders["south"].at(builders["south"].newest())[0])
            else:
                Path(plan).unlink(missing_ok=True)
            (version,) = builders["north"].at(builders["north"].newest())
            index = version.open_index()
            shipped = ShippedNetwork.of(version, "path", None)
            assert shipped is not None
            bodies = [valid_document(random, schema) if n % 2 else any_document(random) for n in range(4)]
            batch = pa.record_batch({"body": pa.array(bodies)})
            found, hops, _ = shipped.carry(batch, index.match_batch(batch.column("body")).matches)
            names = index.rows().column("subscription").to_pylist()
            link = tables["north"].links.index(("hub", "south"))
            for body, delivered, taken in zip(bodies, found.to_pylist(), hops.to_pylist(), strict=True):
                wanted = {
                    site: {id for id, each in known.items() if matches(each, read(body))}
                    for site, known in there.items()
                }
                assert {names[position] for position in delivered} == wanted["north"]
                assert link in taken or (told and not wanted["south"])


def test_a_plan_that_is_not_there_asks_for_everything(tmp_path: Path) -> None:
    """Before a site has told anything, nothing is held back from it."""
    assert newest_plan(tmp_path / "south.json") is EVERYTHING
    (tmp_path / "south.json").write_bytes(b"\0")
    assert newest_plan(tmp_path / "south.json") is EVERYTHING
