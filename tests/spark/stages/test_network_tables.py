"""After any change, the forwarding tables of index versions give the deliveries of flooding."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import Any

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
from twigcast.subscriptions import IndexVersion, SubscriptionStore, VersionBuilder


def delivered(version: IndexVersion, bodies: list[bytes], publishers: list[str | None]) -> list[set[str]]:
    """The subscribers that receive each document by the forwarding table of a version."""
    index = version.open_index()
    shipped = ShippedNetwork.of(version, "path", None)
    assert shipped is not None
    batch = pa.record_batch({"body": pa.array(bodies), "publisher": pa.array(publishers, pa.string())})
    found, hops, false_positives = shipped.carry(batch, index.match_batch(batch.column("body")).matches)
    assert all(set(b) <= set(a) for a, b in zip(hops.to_pylist(), false_positives.to_pylist(), strict=True))
    names = index.rows().column("subscription").to_pylist()
    return [{names[position] for position in positions} for positions in found.to_pylist()]


TECHNIQUES: list[dict[str, Any]] = [
    *({"strategy": name} for name in STRATEGIES),
    {"advertising": False, "covering": False, "aggregation": 0.3},
    {"merging": 0.5, "aggregation": 0.5},
    {"publication": "paths"},
    {"publication": "paths", "merging": 0.1, "annotations": "structure"},
    {"publication": "fragments", "annotations": ["answers", "absences"]},
]


@pytest.mark.parametrize("techniques", TECHNIQUES)
@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1 << 32))
def test_every_version_delivers_what_was_subscribed(techniques: dict[str, Any], seed: int) -> None:
    """Deliveries are right after subscriptions change, files of changes are merged, and a restart."""
    random = Random(seed)
    schema = graph(random)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(network, "SMALL", random.choice([1, 256]))
        patch.setattr(network, "read_schema", lambda path, root: schema)
        root = Path(folder)
        routers = [f"r{number}" for number in range(random.randint(1, 4))]
        section = NetworkSection.model_validate(
            {
                "routers": routers,
                "links": [[routers[random.randrange(i)], routers[i]] for i in range(1, len(routers))],
                **techniques,
                "schema": str(root / "any.dtd"),
                "subscribers": {f"u{number}": random.choice(routers) for number in range(3)},
                "publishers": {"wire": random.choice(routers)},
            }
        )
        store = SubscriptionStore(root / "subscriptions.db")
        builder = VersionBuilder(store, root / "versions", extension=NetworkTables(section))
        there: dict[str, Pattern] = {}
        for _ in range(random.randint(1, 5)):
            for _ in range(random.randint(0, 4)):
                if there and random.random() < 0.4:
                    id = random.choice(sorted(there))
                    store.unsubscribe(id)
                    del there[id]
                else:
                    id, pattern = f"s{random.randrange(12)}", subscription(random)
                    if id in there:
                        store.unsubscribe(id)
                    store.put(Subscription(id, render(pattern), f"u{random.randrange(4)}"))
                    there[id] = pattern
            if random.random() < 0.2:
                builder = VersionBuilder(store, root / "versions", extension=NetworkTables(section))
            (version,) = builder.at(builder.newest())
            bodies = [valid_document(random, schema) if n % 2 else any_document(random) for n in range(4)]
            publishers = [random.choice([None, "wire", "other"]) for _ in bodies]
            expected = [
                {id for id, pattern in there.items() if matches(pattern, read(body))} for body in bodies
            ]
            assert delivered(version, bodies, publishers) == expected


def test_a_version_of_another_network_is_made_again(tmp_path: Path) -> None:
    """A version that was made for another network is not used, even if its number is current."""
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    store.subscribe("ada", "//a")
    one = NetworkSection.model_validate({"routers": ["x", "y"], "links": [["x", "y"]]})
    other = NetworkSection.model_validate({"routers": ["x", "z"], "links": [["x", "z"]]})
    VersionBuilder(store, tmp_path, extension=NetworkTables(one)).newest()
    builder = VersionBuilder(store, tmp_path, extension=NetworkTables(other))
    (version,) = builder.at(builder.newest())
    assert version.extension["routers"] == ["x", "z"]
    (plain,) = VersionBuilder(store, tmp_path).at("1")
    assert plain.extension == {}
