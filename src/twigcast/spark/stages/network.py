"""The network of a pipeline: routers in the driver make a forwarding table, which workers apply to documents.

    changes of subscriptions ─► routers in the driver ─► forwarding table ─► index version ─► workers

The patterns that routers make, and the schema that publishers advertise, are entries of the index beside the
subscriptions, so a document is matched once.  The forwarding table has for each position the links that
forward it and the router of its subscriber.  An index version stores the table as a list of files, each with
the positions that changed since the file before, so a small change of a large network writes little.

All subscribers at a router are one client of that router, and so are all publishers: which subscriber of the
router receives a document follows from the position that it matched.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from twigcast.analysis import SchemaAutomaton, schema_automaton
from twigcast.filtering import Index
from twigcast.pattern import RESERVED, Pattern, Subscription
from twigcast.routing import (
    NOWHERE,
    Advertise,
    Demand,
    ForwardingTable,
    Link,
    Message,
    Overlay,
    SiteBorder,
    SitePlan,
    SiteReader,
    Subscribe,
    Unsubscribe,
    advertisement,
    carry,
)
from twigcast.schema import read_schema
from twigcast.spark.pipeline import NetworkSection
from twigcast.spark.stages.remote_plans import (
    changed_names,
    freeze_plans,
    frozen_plans,
    patterns_by_name,
)
from twigcast.spark.stages.shipping import Ship, local_file, sent
from twigcast.subscriptions import IndexVersion
from twigcast.system import write_atomically

SUFFIX = ".npz"
RATIO = 8  # a file is merged with the next one unless it is more than this many times as large
SMALL = 256  # positions; files of at most this size are always merged

_SCHEMA = f"{RESERVED}schema"


class NetworkTables:
    """The routers of a pipeline's network; writes their forwarding table as a part of index versions."""

    def __init__(self, table: NetworkSection) -> None:
        self.table = table
        self._graph = read_schema(table.schema_path, table.root) if table.schema_path is not None else None
        self._routers = {name: number for number, name in enumerate(table.sites)}
        self._begin()

    def _begin(self) -> None:
        """Create the routers, without any subscription."""
        table, graph = self.table, self._graph
        clients = {f"subscribers at {router}": router for router in table.sites}
        entries = {table.entry_router, *table.publishers.values()}
        clients |= {f"publishers at {router}": router for router in entries}
        self._overlay = Overlay(table.network.with_clients(clients), table.chosen_strategy, schema=graph)
        if table.chosen_strategy.advertising and graph is not None:
            for router in sorted(entries):
                named = advertisement(f"schema at {router}", graph)
                self._overlay.send(f"publishers at {router}", Advertise(named))
        self._homes: dict[str, str] = {}  # the router of each subscription
        self._made: dict[str, str] = {}  # ids of patterns that routers made, with their ids in the index
        self._remote: dict[str, str] = {}  # ids of the patterns that remote sites have told, with the sites
        self._border: SiteBorder | None = None
        if table.plan is not None:
            self._border = SiteBorder(table.chosen_strategy, graph)
        self._reader = ("", SiteReader())  # under a hash of what it knows
        self._forwarding = ForwardingTable.of(table.sites, self._overlay.links)
        self._changed: dict[int, Demand] = {}
        self._files: list[tuple[str, Any]] = []  # the name of each file, and the positions in it

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The links in the order of their numbers in the column ``hops``: from one router to the next."""
        names = self.table.sites
        return tuple((names[link.source], names[link.target]) for link in self._overlay.links)

    def fits(self, extension: Mapping[str, Any]) -> bool:
        """Whether a version was made for this network, with exactly this section of the pipeline file.

        A site that writes a plan makes its first version anew in each run, to be able to read annotations.
        """
        is_known = self._border is None or bool(self._reader[0])
        return is_known and bool(extension.get("described") == self._described())

    def freeze(self) -> bytes:
        """The plans of the remote sites, as they are now."""
        return freeze_plans(self.table.remote)

    def plan_of(self, site: str, version: IndexVersion) -> SitePlan:
        """The plan of a remote site by which a version was made."""
        (frozen,) = (path for path in version.extension_paths if path.suffix == ".json")
        return frozen_plans(frozen.read_bytes())[site]

    def tell(self, version: IndexVersion) -> None:
        """Write the plan of a version to where other pipelines read it, if it is not there."""
        path = self.table.plan
        if path is None:
            return
        (own,) = (each for each in version.extension_paths if each.name == version.extension["plan"])
        content = own.read_bytes()
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)

    def reader_of(self, version: IndexVersion) -> SiteReader:
        """What reads the annotations of documents that are matched by a version.

        If another version has been made since, it knows no plan, and only structures decide.
        """
        name, reader = self._reader
        return reader if version.extension.get("border") == name else SiteReader()

    def follow(
        self,
        index: Index,
        gone: Sequence[str],
        came: Sequence[Subscription],
        *,
        anew: bool,
        frozen: bytes = b"",
    ) -> None:
        """Send changes of subscriptions to the routers, and update the patterns of routers in the index.

        ``gone`` has the ids of removed subscriptions, ``came`` the added ones; ``anew`` begins with new
        routers.  ``frozen`` has the plans of the remote sites.
        """
        if anew:
            self._begin()
            if (automaton := self._checked_schema()) is not None:
                index.add(_SCHEMA, automaton)
        self._send({id: Unsubscribe(_id(id)) for id in gone if _id(id) in self._homes})
        for id in gone:
            self._homes.pop(_id(id), None)
        for each in came:
            self._homes[_id(str(each.id))] = self._home(each.subscriber)
        self._send({str(each.id): Subscribe(_id(str(each.id)), each.pattern) for each in came})
        if self._border is not None:
            self._border.change(gone, {str(each.id): each.pattern for each in came})
        self._tell_remote(frozen)
        changed = dict.fromkeys((*self._overlay.take_changes(), *(_id(str(each.id)) for each in came)))
        self._update(index, changed)

    def _send(self, messages: Mapping[str, Message]) -> None:
        """Send the messages to the routers of their subscriptions, one batch for each router."""
        said: dict[str, list[Message]] = {}
        for id, message in messages.items():
            said.setdefault(self._homes[_id(id)], []).append(message)
        for router, batch in said.items():
            self._overlay.send(f"subscribers at {router}", *batch)

    def _tell_remote(self, frozen: bytes) -> None:
        """Let each remote site subscribe, at its place in the network, to what its plan says."""
        for site, plan in frozen_plans(frozen).items():
            told = {f"r:{site}:{name}": pattern for name, pattern in patterns_by_name(plan).items()}
            before = [id for id, at in self._remote.items() if at == site]
            gone, came = changed_names(before, told)
            for id in gone:
                del self._remote[id]
            self._remote |= dict.fromkeys(came, site)
            said: list[Message] = [Unsubscribe(id) for id in gone]
            said += [Subscribe(id, told[id]) for id in came]
            if said:
                self._overlay.send(f"subscribers at {site}", *said)

    def _update(self, index: Index, changed: Iterable[str]) -> None:
        """Add and remove patterns of routers in the index, and record the changed rows of the table."""
        new: dict[str, Pattern] = {}
        for id in changed:
            asked = self._overlay.asked.get(id)
            if id in self._homes:
                continue
            if asked is None:
                if id in self._made:
                    index.remove(self._made.pop(id))
            elif id not in self._made:
                new[id] = asked.pattern
        for id in new:
            self._made[id] = f"{RESERVED}{id}"
        index.add_all((self._made[id], pattern) for id, pattern in new.items())
        for id in changed:
            position = index.position(self._made.get(id) or id.removeprefix(_PREFIX))
            if position is not None:
                self._changed[position] = self._demand(id)

    def _demand(self, id: str) -> Demand:
        asked = self._overlay.asked.get(id)
        at = self._homes.get(id) or self._remote.get(id)
        home = self._routers[at] if at is not None else NOWHERE
        return Demand(tuple(asked.links) if asked is not None else (), home)

    def save(self, folder: Path, index: Index) -> Mapping[str, Any]:
        """Write the changed positions to a file; returns the entry of the network for the manifest."""
        if self._changed:
            self._forwarding = self._forwarding.with_changes(self._changed)
            positions = np.array(sorted(self._changed), dtype=np.uint32)
            while self._files and len(self._files[-1][1]) <= max(SMALL, RATIO * len(positions)):
                positions = np.union1d(positions, self._files.pop()[1])
            self._files.append((self._write(folder, positions), positions))
            self._changed = {}
        for name, positions in self._files:
            if not (folder / name).exists():
                self._write(folder, positions)
        own = None if self._border is None else self._save_plan(self._border, index, folder)
        return {
            "files": [*(name for name, _ in self._files), *([own] if own is not None else [])],
            "plan": own,
            "described": self._described(),
            "border": self._reader[0],
            "routers": list(self.table.sites),
            "remote": len(self.table.remote),
            "links": [list(link) for link in self._overlay.links],
            "entry": self._routers[self.table.entry_router],
            "publishers": {name: self._routers[router] for name, router in self.table.publishers.items()},
            "schema": index.position(_SCHEMA),
        }

    def _save_plan(self, border: SiteBorder, index: Index, folder: Path) -> str:
        """Write the plan of this site beside the version, and make what reads annotations by it."""
        plan = border.plan()
        others = (index.position(id) for id in (_SCHEMA, *self._made.values()))
        reader = border.reader(index.position, [at for at in others if at is not None], index.position_count)
        known = blake2b(reader.numbers.tobytes() + reader.serials.tobytes(), digest_size=16)
        known.update(plan.epoch.encode())
        self._reader = known.hexdigest(), reader
        return _saved(folder, plan.encode(), ".plan")

    def _write(self, folder: Path, positions: Any) -> str:
        buffer = io.BytesIO()
        table = self._forwarding
        np.savez(buffer, positions=positions, asked=table.asked[:, positions], home=table.home[positions])
        return _saved(folder, buffer.getvalue(), SUFFIX)

    def _home(self, subscriber: str) -> str:
        return self.table.subscribers.get(subscriber, self.table.home_router)

    def _described(self) -> str:
        described = json.dumps(self.table.model_dump(mode="json"), sort_keys=True)
        return blake2b(described.encode(), digest_size=8).hexdigest()

    def _checked_schema(self) -> SchemaAutomaton | None:
        """The schema whose conformance is checked for each document; none if no check is needed."""
        needed = self.table.chosen_strategy.advertising and not self.table.trusted
        return schema_automaton(self._graph) if needed and self._graph is not None else None


@dataclass(frozen=True, slots=True)
class ShippedNetwork:
    """A network as tasks carry it: the files of the forwarding table, and the routers of publishers."""

    files: tuple[str, ...]
    by: Ship
    routers: tuple[str, ...]
    links: tuple[Link, ...]
    size: int
    remote: int
    """How many of the routers are remote sites; they are the last ones."""
    entry: int
    publishers: tuple[tuple[str, int], ...]
    schema: int | None

    @classmethod
    def of(cls, version: IndexVersion, ship: Ship, context: Any) -> ShippedNetwork | None:
        """The network of a version, prepared for the workers; none if the version has none."""
        described = version.extension
        if "routers" not in described:
            return None
        return cls(
            tuple(sent(path, ship, context) for path in version.extension_paths if path.suffix == SUFFIX),
            ship,
            tuple(described["routers"]),
            tuple(Link(*link) for link in described["links"]),
            version.size,
            described["remote"],
            described["entry"],
            tuple(described["publishers"].items()),
            described["schema"],
        )

    def carry(
        self, batch: pa.RecordBatch, found: pa.Array, undecided: pa.Array | None = None
    ) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Route a batch; returns the matches that reach their subscribers, the hops and the false positives.

        ``found`` has the positions that each document matches, null if it could not be read.  A pattern that
        is ``undecided`` forwards the document like one that matches, but delivers it to nobody.
        """
        if undecided is not None and undecided.null_count < len(undecided):
            pairs = zip(found.to_pylist(), undecided.to_pylist(), strict=True)
            united = [None if x is None else x + (y or []) for x, y in pairs]
            matches, *ways = self.carry(batch, pa.array(united, found.type))
            pairs = zip(matches.to_pylist(), undecided.to_pylist(), strict=True)
            decided = [None if x is None else [each for each in x if each not in (y or ())] for x, y in pairs]
            return pa.array(decided, matches.type), *ways
        table = _opened_table(self)
        documents = len(found)
        rows = pc.list_parent_indices(found).to_numpy()
        positions = found.flatten().to_numpy()
        entry = np.full(documents, self.entry, dtype=np.int64)
        if "publisher" in batch.schema.names and self.publishers:
            known = dict(self.publishers)
            entry[:] = [known.get(name, self.entry) for name in batch.column("publisher").to_pylist()]
        readable = found.is_valid().to_numpy(zero_copy_only=False)
        flooded = None
        if self.schema is not None:
            flooded = readable.copy()
            flooded[rows[positions == self.schema]] = False
        carried = carry(table, entry, rows, positions, flooded=flooded)
        kept = carried.delivered
        if self.remote:
            kept = kept & (table.home[positions] < len(self.routers) - self.remote)
        matches = _lists(rows[kept], positions[kept], readable)
        return matches, _numbers(carried.taken), _numbers(carried.false_positives)

    def of_subscribers(self, undecided: pa.Array) -> pa.Array:
        """The positions of subscriptions among those that are undecided; null for rows without any."""
        if undecided.null_count == len(undecided):
            return undecided
        home, here = _opened_table(self).home, len(self.routers) - self.remote
        kept = [
            [each for each in row or () if NOWHERE < home[each] < here] or None
            for row in undecided.to_pylist()
        ]
        return pa.array(kept, undecided.type)


@lru_cache(maxsize=4)
def _opened_table(network: ShippedNetwork) -> ForwardingTable:
    """The forwarding table of a version, loaded once in each process."""
    table = ForwardingTable.of(network.routers, network.links).with_changes({}, network.size)
    for file in network.files:
        with np.load(local_file(file, network.by)) as saved:
            table.asked[:, saved["positions"]] = saved["asked"]
            table.home[saved["positions"]] = saved["home"]
    return table


def _saved(folder: Path, content: bytes, suffix: str) -> str:
    """Write a file that is named by the hash of its content, and return its name."""
    name = blake2b(content, digest_size=16).hexdigest() + suffix
    if not (folder / name).exists():
        write_atomically(folder / name, content)
    return name


def _lists(rows: Any, values: Any, present: Any) -> pa.Array:
    offsets = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(present)))))
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(values, pa.int32()), mask=pa.array(~present)
    )


def _numbers(flags: Any) -> pa.Array:
    """For each row of a boolean matrix, the numbers of the columns that are true."""
    rows, numbers = np.nonzero(flags)
    return _lists(rows, numbers, np.ones(len(flags), dtype=bool))


_PREFIX = "s:"


def _id(id: str) -> str:
    """The id of a subscription for the routers; the prefix distinguishes it from ids that routers make."""
    return f"{_PREFIX}{id}"
