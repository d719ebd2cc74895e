"""Threads that add, remove, save, open, compact and match on one index, with every answer compared.

Every writer has ids of its own and writes down each state of them before it makes the change:

    history    s0    s1    s2    s3           the ids of one writer, with their expressions
    done             ▲ changes that had returned when the match began
    begun                        ▲ changes that had begun when it ended

The answer of a match must be that of one of the states s1 … s3 of each writer: so ids that were in the index
all the time must be exactly right, and those that never were must not appear.  A batch and a saved file must
show one such state for all documents.  At the end, the index answers as one that is built anew.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa

from tests.fuzz.checks import LIMITS, Mismatch, expect
from tests.fuzz.documents import SHAPES, encoded
from tests.fuzz.subscriptions import NAMESPACES, broken_expression, expression
from twigcast import Index, Tuning
from twigcast.document import read
from twigcast.errors import DocumentError, PatternError, SubscriptionError
from twigcast.filtering import read_segment
from twigcast.pattern import matches, parse

HANGING = 120.0  # seconds after which a thread that does not stop is a finding
PERMANENT = "permanent"
Id = tuple[str, int]
State = dict[Id, str]


@dataclass(frozen=True, slots=True)
class ThreadRound:
    """The seed of a round, and for how long its threads run."""

    seed: int
    seconds: float = 2.0


def check_round(round: ThreadRound, done: Counter[str]) -> None:
    """Run the threads of a round; raises ``Mismatch`` for the first thing that one of them saw."""
    # Levels are merged in the background from 24 subscriptions on, not from 2048 on.
    with (
        patch("twigcast.filtering.levels.TAIL", 8),
        patch("twigcast.filtering.collection.SMALL", 24),
        tempfile.TemporaryDirectory() as folder,
        switching_often(),
    ):
        _Round(round, Path(folder), done).run()


class switching_often:
    """Lets the interpreter switch threads much more often than usual."""

    def __enter__(self) -> None:
        self._usual = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)

    def __exit__(self, *_: object) -> None:
        sys.setswitchinterval(self._usual)


@dataclass(slots=True)
class Writer:
    """The states of the ids that one thread owns; see the picture above."""

    name: str
    history: list[State] = field(default_factory=lambda: [{}])
    done: int = 0
    begun: int = 0

    @property
    def state(self) -> State:
        return self.history[-1]

    def change(self, state: State, make: Callable[[], object]) -> None:
        """Make a change that leads to this state."""
        self.history.append(state)
        self.begun += 1
        make()
        self.done += 1


class _Round:
    """The index, its pool of expressions and documents with their true answers, and the threads."""

    def __init__(self, round: ThreadRound, folder: Path, done: Counter[str]) -> None:
        self.chance = chance = random.Random(round.seed)
        self.round, self.folder, self.counts = round, folder, done
        self.bodies = _bodies(chance)
        self.truth = _truth(chance, self.bodies)
        self.texts = list(self.truth)
        self.tuning = Tuning(cache_bytes=chance.choice([1 << 12, 1 << 20, 64 << 20]))
        self.permanent = Writer(PERMANENT)
        self.index = Index(limits=LIMITS, tuning=self.tuning)
        state = {(PERMANENT, n): chance.choice(self.texts) for n in range(chance.choice([3, 40]))}
        self.permanent.change(state, lambda: self.index.add_all(_items(state)))
        self.writers = [Writer(f"writer {n}") for n in range(2)]
        self.failures: list[BaseException] = []
        self.stop = threading.Event()

    def run(self) -> None:
        tasks = [
            *((self.write, writer) for writer in self.writers),
            *((task, None) for task in (self.match, self.match, self.batch, self.save, self.versions)),
            *((task, None) for task in (self.compact, self.look)),
        ]
        threads = [
            threading.Thread(
                target=self.guarded, args=(task, writer, self.chance.getrandbits(64)), daemon=True
            )
            for task, writer in tasks
        ]
        for thread in threads:
            thread.start()
        self.stop.wait(self.round.seconds)
        self.stop.set()
        end = time.monotonic() + HANGING
        for thread in threads:
            thread.join(max(0.1, end - time.monotonic()))
        if any(thread.is_alive() for thread in threads):
            frames = "".join(
                "".join(traceback.format_stack(f)) + "\n" for f in sys._current_frames().values()
            )
            raise Mismatch("a thread does not end", frames)
        if self.failures:
            raise self.failures[0]
        self.check_end()

    def guarded(self, task: Callable[..., None], writer: Writer | None, seed: int) -> None:
        chance = random.Random(seed)
        try:
            while not self.stop.is_set():
                task(chance, writer) if writer else task(chance)
                self.counts[task.__name__] += 1
        except BaseException as failure:
            self.failures.append(failure)
            self.stop.set()

    # What threads do

    def write(self, chance: random.Random, writer: Writer) -> None:
        state = dict(writer.state)
        id = (writer.name, chance.randrange(60))
        kind = chance.random()
        if kind < 0.1:
            some = {(writer.name, n): chance.choice(self.texts) for n in chance.sample(range(60), 20)}
            new = {id: text for id, text in some.items() if id not in state}
            refused: list[object] = []
            items = [*_items(some), ((writer.name, 99), "/a[", None)]
            writer.change({**state, **new}, lambda: refused.extend(self.index.add_all(items)))
            expect("refused by add_all", len(refused), len(some) - len(new) + 1)
        elif kind < 0.15:
            text = broken_expression(chance)
            if id not in state and not _in_language(text):
                expect("broken add", _raised(lambda: self.index.add(id, text, NAMESPACES)), "PatternError")
        elif id in state:
            expect("add twice", _raised(lambda: self.index.add(id, "/a")), "SubscriptionError")
            del state[id]
            writer.change(state, lambda: self.index.remove(id))
        else:
            expect("remove nobody", _raised(lambda: self.index.remove(id)), "SubscriptionError")
            text = state[id] = chance.choice(self.texts)
            writer.change(state, lambda: self.index.add(id, text, NAMESPACES))

    def match(self, chance: random.Random) -> None:
        row = chance.randrange(len(self.bodies))
        with self.watched("match") as watch:
            match = self.index.match(self.bodies[row])
        ids = match.ids if match.error is None else match.error.code
        watch.check({row: ids})
        # The result of a match does not change with the index.
        time.sleep(0)
        expect("ids later", match.ids if match.error is None else match.error.code, ids)

    def batch(self, chance: random.Random) -> None:
        rows = [chance.randrange(len(self.bodies)) for _ in range(chance.randrange(1, 10))]
        with self.watched("match_batch") as watch:
            batch = self.index.match_batch(pa.array([self.bodies[row] for row in rows], pa.binary()))
        found: dict[int, object] = {}
        for i, row in enumerate(rows):
            error = batch.errors[i]
            ids = error.code if error else batch.ids(i)
            expect("rows of a batch", found.setdefault(row, ids), ids)
        watch.check(found)

    def save(self, chance: random.Random) -> None:
        path = self.folder / "saved"
        with self.watched("save and open") as watch:
            self.index.save(path)
        watch.check(self.answers(Index.open(path, limits=LIMITS, tuning=self.tuning)))

    def versions(self, chance: random.Random) -> None:
        folder = self.folder / str(chance.randrange(2))
        folder.mkdir(exist_ok=True)
        with self.watched("save_segments") as watch:
            names = self.index.save_segments(folder)
        segments = [read_segment(folder / name) for name in names]
        watch.check(self.answers(Index.of_segments(segments, limits=LIMITS, tuning=self.tuning)))

    def compact(self, chance: random.Random) -> None:
        time.sleep(chance.random() / 50)
        with self.index._collection.lock:  # as ``remove`` does it, after thousands of removals
            self.index._collection._compact()

    def look(self, chance: random.Random) -> None:
        """Everything that is asked of an index beside matching."""
        row = chance.randrange(len(self.bodies) - 1)  # the last one is malformed
        id, text = chance.choice(list(self.permanent.state.items()))
        expect("permanent id", id in self.index, True)
        expect("selection", bool(self.index.select(self.bodies[row], id)), self.truth[text][row])
        str(self.index.explain(self.bodies[row], id))
        self.index.stats()
        self.index.rows()
        with self.watched("ids") as watch:
            ids = self.index.ids
        watch.check_states("ids", lambda writer, state: set(_of(writer, ids)) == set(state))
        with self.watched("count") as watch:
            count = self.index.count(self.bodies[row])
        least, most = watch.extremes(row)
        expect("count", least <= count <= most, True, f"{count} is not in {least} to {most}")

    # What must hold

    def watched(self, what: str) -> _Watch:
        return _Watch(what, self)

    def answers(self, index: Index) -> dict[int, object]:
        found: dict[int, object] = {}
        for row, body in enumerate(self.bodies):
            match = index.match(body)
            found[row] = match.error.code if match.error else match.ids
        return found

    def check_end(self) -> None:
        together: State = {}
        for writer in (self.permanent, *self.writers):
            together |= writer.state
        anew = Index(limits=LIMITS, tuning=self.tuning)
        anew.add_all(_items(together))
        expect("ids at the end", set(self.index.ids), set(anew.ids))
        expect("length at the end", len(self.index), len(anew))
        for row, ids in self.answers(anew).items():
            found = self.index.match(self.bodies[row])
            expect(
                "answer at the end", sorted(found.ids) if not found.error else found.error.code, _sorted(ids)
            )


class _Watch:
    """The states of all writers that an answer between entry and exit may show."""

    def __init__(self, what: str, round: _Round) -> None:
        self.what, self.round = what, round
        self.writers = [round.permanent, *round.writers]

    def __enter__(self) -> _Watch:
        self.first = [writer.done for writer in self.writers]
        return self

    def __exit__(self, *_: object) -> None:
        self.last = [writer.begun for writer in self.writers]

    def check(self, found: dict[int, object]) -> None:
        """Each writer has one state that gives the answers to all documents."""
        truth = self.round.truth
        for row, ids in found.items():
            malformed = row == len(self.round.bodies) - 1
            expect(f"error of {self.what}", isinstance(ids, str), malformed, f"document {row}: {ids}")
        answers = {row: ids for row, ids in found.items() if isinstance(ids, list)}
        for row, ids in answers.items():
            expect(f"doubled ids in {self.what}", len(ids), len(set(ids)), f"document {row}: {ids}")
        self.check_states(
            self.what,
            lambda writer, state: all(
                set(_of(writer, ids)) == {id for id, text in state.items() if truth[text][row]}
                for row, ids in answers.items()
            ),
            str(answers),
        )

    def check_states(self, what: str, fits: Callable[[Writer, State], bool], found: str = "") -> None:
        for writer, first, last in zip(self.writers, self.first, self.last, strict=True):
            states = writer.history[first : last + 1]
            if not any(fits(writer, state) for state in states):
                detail = (
                    f"{writer.name}: no state of {len(states)} fits; the first is {states[0]}; found {found}"
                )
                raise Mismatch(f"{what} by threads", detail)

    def extremes(self, row: int) -> tuple[int, int]:
        """The smallest and the largest number of matches of a document."""
        least = most = 0
        for writer, first, last in zip(self.writers, self.first, self.last, strict=True):
            counts = [
                sum(self.round.truth[text][row] for text in state.values())
                for state in writer.history[first : last + 1]
            ]
            least, most = least + min(counts), most + max(counts)
        return least, most


def _bodies(chance: random.Random) -> list[bytes]:
    """Documents that can be read, and at the end one that cannot."""
    bodies: list[bytes] = []
    while len(bodies) < 6:
        body = encoded(chance, chance.choice(list(SHAPES.values()))(chance, 15))
        try:
            read(body, LIMITS)
        except DocumentError:
            continue
        bodies.append(body)
    return [*bodies, b"<a><b></a>"]


def _truth(chance: random.Random, bodies: list[bytes]) -> dict[str, list[bool]]:
    """Expressions, and for each document but the last whether the evaluator matches it."""
    trees = [read(body, LIMITS) for body in bodies[:-1]]
    truth = {}
    while len(truth) < 60:
        text = expression(chance)
        if _in_language(text):
            pattern = parse(text, NAMESPACES)
            truth[text] = [matches(pattern, tree) for tree in trees]
    return truth


def _items(state: State) -> list[tuple[Id, str, dict[str, str]]]:
    return [(id, text, NAMESPACES) for id, text in state.items()]


def _of(writer: Writer, ids: Iterable[object]) -> list[Id]:
    return [id for id in ids if isinstance(id, tuple) and id[0] == writer.name]


def _sorted(ids: object) -> object:
    return sorted(ids) if isinstance(ids, list) else ids


def _in_language(text: str) -> bool:
    try:
        parse(text, NAMESPACES)
    except PatternError:
        return False
    return True


def _raised(call: Callable[[], object]) -> str:
    try:
        call()
    except (PatternError, SubscriptionError) as error:
        return type(error).__name__
    return "nothing"
