"""The network of a pipeline: real routers in the driver, their frozen tables with the workers.

    subscriptions ─► routers in the driver ─► <versions>/<version>-network/ ─► workers
                     told of what changed       index.tci     all patterns; the version's own comes first
                                                asked.npy     who asks whom for which of them
                                                home.npy      where the subscriber of each is
                                                network.json  routers, links, entries, the advertisement

A folder with its final name is whole and never changes, as that of an index version.  All subscribers at a
router are one client of it, and so are all publishers: to whom a document goes is in the version's own table.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.analysis import describes
from twigcast.document import DocumentLimits
from twigcast.filtering import Index
from twigcast.pattern import Pattern, parse
from twigcast.routing import (
    Advertise,
    Advertisement,
    Message,
    Overlay,
    Subscribe,
    Unsubscribe,
    advertisement,
)
from twigcast.schema import read_schema
from twigcast.spark.pipeline import NetworkTable
from twigcast.spark.stages.forwarding import Forwarding, Hop, forwarding
from twigcast.spark.stages.shipping import Ship, sent_file
from twigcast.subscriptions import INDEX, IndexVersion, opened_once, subscribers_of

ASKED, HOME, NETWORK = "asked.npy", "home.npy", "network.json"


class Networked:
    """The routers of a pipeline's network, following its index versions."""

    def __init__(self, table: NetworkTable, root: Path) -> None:
        self.table = table
        self._root = root
        graph = read_schema(table.schema_path, table.root) if table.schema_path is not None else None
        clients = {f"subscribers at {router}": router for router in table.routers}
        entries = {table.entry_router, *table.publishers.values()}
        clients |= {f"publishers at {router}": router for router in entries}
        network = table.network.with_clients(clients)
        self._overlay = Overlay(network, table.chosen_strategy, schema=graph)
        self._advertised: Advertisement | None = None
        if table.chosen_strategy.advertising and graph is not None:
            self._advertised = advertisement("schema", graph)
            for router in sorted(entries):
                named = advertisement(f"schema at {router}", graph)
                self._overlay.send(f"publishers at {router}", Advertise(named))
        self._known: dict[str, tuple[str, Pattern]] = {}  # the router and the pattern of each subscription

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The links by number, as the hops of documents name them: from a router to the next."""
        return tuple(
            (name, neighbour)
            for name, router in self._overlay.routers.items()
            for neighbour in router.neighbours
        )

    def at(self, version: IndexVersion) -> Path:
        """The folder of the tables for a version, made where it is not there yet."""
        described = json.dumps(self.table.model_dump(mode="json"), sort_keys=True)
        digest = blake2b(described.encode(), digest_size=6).hexdigest()
        folder = self._root / f"{version.version}-network-{digest}"
        if not folder.is_dir():
            self._follow(version)
            self._save(version, folder)
        return folder

    def _follow(self, version: IndexVersion) -> None:
        """Tell the routers what has changed since the version before."""
        index = Index.open(version.path / INDEX)
        wanted: dict[str, tuple[str, Pattern]] = {}
        rows = subscribers_of(version)
        names, owners = rows.column("subscription").to_pylist(), rows.column("subscriber").to_pylist()
        for id, owner in zip(names, owners, strict=True):
            wanted[_id(id)] = self.table.subscribers.get(owner, self.table.home_router), index.pattern(id)
        said: dict[str, list[Message]] = {}
        for id, (router, pattern) in self._known.items():
            if wanted.get(id) != (router, pattern):
                said.setdefault(router, []).append(Unsubscribe(id))
        for router, messages in said.items():
            self._overlay.send(f"subscribers at {router}", *messages)
        said = {}
        for id, (router, pattern) in wanted.items():
            if self._known.get(id) != (router, pattern):
                said.setdefault(router, []).append(Subscribe(id, pattern))
        for router, messages in said.items():
            self._overlay.send(f"subscribers at {router}", *messages)
        self._known = wanted

    def _save(self, version: IndexVersion, folder: Path) -> None:
        ids = [_id(id) for id in subscribers_of(version).column("subscription").to_pylist()]
        tables = forwarding(self._overlay, ids, {id: router for id, (router, _) in self._known.items()})
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=self._root))
        try:
            index = Index.open(version.path / INDEX)
            for number, text in enumerate(tables.made):
                index.add(("made", number), parse(text))
            index.save(part / INDEX)
            np.save(part / ASKED, tables.asked)
            np.save(part / HOME, tables.home)
            described = {
                "routers": tables.routers,
                "links": [(link.source, link.target) for link in tables.links],
                "made": tables.made,
                "entry": self.table.entry_router,
                "publishers": self.table.publishers,
                "advertisement": self._checked(),
            }
            (part / NETWORK).write_text(json.dumps(described), encoding="utf-8")
            part.chmod(0o755)
            part.rename(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def _checked(self) -> dict[str, Any] | None:
        """The advertisement that documents are held against; none where they need not be."""
        return None if self._advertised is None or self.table.trusted else self._advertised.to_json()


@dataclass(frozen=True, slots=True)
class ShippedNetwork:
    """Where workers find the tables of a network: by paths they share, or as files that Spark brought."""

    files: Mapping[str, str]
    by: Ship

    @classmethod
    def of(cls, folder: Path, ship: Ship, context: Any) -> ShippedNetwork:
        """The tables of a folder, on their way to the workers of a Spark context."""
        names = (INDEX, ASKED, HOME, NETWORK)
        if ship == "files":
            return cls({name: sent_file(folder / name, context) for name in names}, ship)
        return cls({name: str(folder / name) for name in names}, ship)

    def open_index(self, limits: DocumentLimits) -> Index:
        """All patterns, mapped, one for each process."""
        path = self._local(INDEX)
        index: Index = opened_once(path, f"index {limits}", lambda: Index.open(path, limits=limits))
        return index

    def open_routes(self) -> Routes:
        """The tables, mapped, one for each process."""
        path = self._local(NETWORK)
        routes: Routes = opened_once(path, "routes", self._routes)
        return routes

    def _routes(self) -> Routes:
        described = json.loads(Path(self._local(NETWORK)).read_text(encoding="utf-8"))
        tables = Forwarding(
            tuple(described["routers"]),
            tuple(Hop(source, target) for source, target in described["links"]),
            np.load(self._local(ASKED), mmap_mode="r"),
            np.load(self._local(HOME), mmap_mode="r"),
            tuple(described["made"]),
        )
        number_of = {name: number for number, name in enumerate(tables.routers)}
        publishers = {name: number_of[router] for name, router in described["publishers"].items()}
        known = described["advertisement"]
        announced = None if known is None else Advertisement.from_json(known)
        return Routes(tables, number_of[described["entry"]], publishers, announced)

    def _local(self, name: str) -> str:
        if self.by == "path":
            return self.files[name]
        from pyspark import SparkFiles

        return SparkFiles.get(self.files[name])


@dataclass(frozen=True, slots=True)
class Routes:
    """The tables of a network with where documents enter it."""

    tables: Forwarding
    entry: int
    publishers: Mapping[str, int]
    announced: Advertisement | None

    def carry(self, batch: pa.RecordBatch, found: pa.Array) -> tuple[pa.Array, pa.Array, pa.Array]:
        """The matches that reach their subscribers, the links that each document takes, those in vain.

        ``found`` has the patterns of all tables that each document matches, null where it cannot be read.
        """
        documents = len(found)
        rows = pc.list_parent_indices(found).to_numpy()
        positions = found.flatten().to_numpy()
        entry = np.full(documents, self.entry, dtype=np.int64)
        if "publisher" in batch.schema.names and self.publishers:
            names = batch.column("publisher").to_pylist()
            entry[:] = [self.publishers.get(name, self.entry) for name in names]
        everywhere = np.zeros(documents, dtype=bool)
        readable = found.is_valid().to_numpy(zero_copy_only=False)
        if self.announced is not None:
            bodies = batch.column("body")
            for row in np.flatnonzero(readable):
                everywhere[row] = not describes(self.announced.automaton, bodies[int(row)].as_py())
        carried = self.tables.carry(entry, everywhere, rows, positions)
        own = positions < len(self.tables.home)
        matches = _lists(rows[own][carried.kept], positions[own][carried.kept], readable)
        return matches, _by_document(carried.hops), _by_document(carried.vain)


def _lists(rows: Any, values: Any, present: Any) -> pa.Array:
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(present)))))
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(values, pa.int32()), mask=pa.array(~present)
    )


def _by_document(flags: Any) -> pa.Array:
    """The numbers of the rows that are set, for each column."""
    rows, numbers = np.nonzero(flags.T)
    return _lists(rows, numbers, np.ones(flags.shape[1], dtype=bool))


def _id(id: str) -> str:
    """An id as routers see it: unlike those that they make."""
    return f"s:{id}"
