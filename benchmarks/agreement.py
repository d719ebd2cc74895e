"""``python -m benchmarks.agreement`` checks that twigcast and lxml agree on published subscriptions.

Every published set of subscriptions is compiled into an index of its own.  Fitting documents are matched: the
real ones, and generated ones if there are few real ones or only one large file.
lxml evaluates a seeded sample of document–expression pairs, half of them from the matches of the index.

    set ──► Index ──► match_batch(documents) ──► sample of pairs ──► lxml ──► disagreements

The exit code is 1 if there is any disagreement.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random

import pyarrow as pa
from lxml import etree
from rich.console import Console
from rich.table import Table

from benchmarks.oracle import NOTHING, Verdict, condition, judge, sample, tree
from benchmarks.workloads import data
from twigcast import Index
from twigcast.filtering import SubscriptionWarning
from twigcast.schema import read_dtd
from twigcast.workload import DocumentOptions, generate_documents

LARGE = 500_000
"""Bytes from which a document gets few pairs: lxml takes milliseconds for each."""
LARGE_PAIRS = 200
GENERATED = 100
WIDTH = 120


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result for one set of subscriptions."""

    name: str
    expressions: int
    refused: tuple[str, ...]
    documents: int
    unreadable: tuple[str, ...]
    verdict: Verdict
    seconds: float


def sets() -> dict[str, Path]:
    """The published sets of subscriptions by name."""
    folders = [data("subscriptions"), data("nitf/subscriptions")]
    files = [path for folder in folders for path in sorted(folder.glob("*.txt*"))]
    return {_set_name(path): path for path in files}


def agree(name: str, path: Path, pairs: int, seed: int) -> Agreement:
    """Match the fitting documents, and compare that many pairs with lxml."""
    began = time.perf_counter()
    condition.cache_clear()
    expressions = _lines(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubscriptionWarning)
        index = Index(enumerate(expressions))
    accepted = [number for number in range(len(expressions)) if number in index]
    documents = fitting_documents(name)
    batch = index.match_batch(pa.array([body for _, body in documents], pa.binary()))
    rng = Random(f"{seed} {name}")
    shares = _shares([body for _, body in documents], pairs)
    verdict, unreadable = NOTHING, []
    for row, (label, body) in enumerate(documents):
        error = batch.errors[row]
        if error is not None:
            unreadable.append(f"{label}: {error} ({error.code})")
            continue
        claimed = [id for id in batch.ids(row) if isinstance(id, int)]
        chosen = sample(rng, accepted, claimed, shares[row])
        verdict += judge(f"{name} on {label}", tree(body), expressions, claimed, chosen)
    return Agreement(
        name,
        expressions=len(expressions),
        refused=tuple(f"refused {expressions[int(str(each.id))]}: {each.error}" for each in index.refused),
        documents=len(documents),
        unreadable=tuple(unreadable),
        verdict=verdict,
        seconds=time.perf_counter() - began,
    )


def fitting_documents(name: str) -> list[tuple[str, bytes]]:
    """The documents for a set, with labels."""
    family = next(family for family in _DOCUMENTS if name.startswith(family))
    return _documents(family)


@cache
def _documents(family: str) -> list[tuple[str, bytes]]:
    return _DOCUMENTS[family]()


def _nitf() -> list[tuple[str, bytes]]:
    return _files("nitf/documents") + _generated("nitf/nitf-2-5.dtd", "nitf")


def _auction() -> list[tuple[str, bytes]]:
    return _files("xmark") + _generated("xmark/auction.dtd", "site")


def _dblp() -> list[tuple[str, bytes]]:
    whole = _files("dblp")
    return whole + _records(*whole[0]) + _generated("dblp/dblp.dtd", "dblp")


def _ejb() -> list[tuple[str, bytes]]:
    return _files("ejb/descriptors")


def _psd() -> list[tuple[str, bytes]]:
    return _files("psd") + _generated("psd/psd7003-reconstructed.dtd", "ProteinDatabase")


def _treebank() -> list[tuple[str, bytes]]:
    return _files("treebank")


_DOCUMENTS: dict[str, Callable[[], list[tuple[str, bytes]]]] = {
    "nitf": _nitf,
    "auction": _auction,
    "dblp": _dblp,
    "ejb": _ejb,
    "psd": _psd,
    "treebank": _treebank,
}


def _files(folder: str) -> list[tuple[str, bytes]]:
    paths = sorted(data(folder).glob("*.xml"))
    return [(f"{folder}/{path.name}", path.read_bytes()) for path in paths]


def _generated(dtd: str, root: str) -> list[tuple[str, bytes]]:
    bodies = generate_documents(read_dtd(data(dtd), root), GENERATED, DocumentOptions(seed=1))
    return [(f"document {number} generated from {dtd}", body) for number, body in enumerate(bodies)]


def _records(label: str, body: bytes) -> list[tuple[str, bytes]]:
    """Some children of the root, spread over the file, each as a document with that root."""
    root = tree(body).getroot()
    step = max(1, len(root) // GENERATED)
    return [
        (
            f"record {number} of {label}",
            b"<%s>%s</%s>" % (root.tag.encode(), etree.tostring(record), root.tag.encode()),
        )
        for number, record in islice(enumerate(root), 0, None, step)
    ]


def _shares(bodies: list[bytes], pairs: int) -> list[int]:
    """How many pairs each document gets: few where it is large, the rest divided evenly."""
    large = sum(len(body) >= LARGE for body in bodies)
    small = len(bodies) - large
    each = -(-max(0, pairs - large * LARGE_PAIRS) // small) if small else 0
    return [LARGE_PAIRS if len(body) >= LARGE else each for body in bodies]


def _lines(path: Path) -> list[str]:
    body = path.read_bytes()
    text = (gzip.decompress(body) if path.suffix == ".gz" else body).decode()
    return [line.strip() for line in text.splitlines() if line.strip()]


def _set_name(path: Path) -> str:
    name = path.name.split(".")[0]
    return f"nitf/{name}" if path.parent.parent.name == "nitf" else name


def main() -> int:
    """Run all sets and print a table; 1 on any disagreement."""
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=about)
    parser.add_argument("--pairs", type=int, default=200_000, help="document–expression pairs at least")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--only", default="", metavar="TEXT", help="sets whose name contains this")
    options = parser.parse_args()
    chosen = {name: path for name, path in sets().items() if options.only in name}
    console = Console(highlight=False, width=WIDTH)
    complaints = Console(stderr=True, highlight=False, soft_wrap=True)
    done: list[Agreement] = []
    for name, path in chosen.items():
        with complaints.status(f"{name} ({len(done) + 1} of {len(chosen)})"):
            done.append(agree(name, path, -(-options.pairs // len(chosen)), options.seed))
    console.print(_table(done))
    _explain(done, complaints)
    return 1 if any(each.verdict.wrong for each in done) else 0


def _table(done: list[Agreement]) -> Table:
    table = Table(title="Published subscriptions: the index and lxml")
    table.add_column("set")
    columns = ("expressions", "refused", "documents", "unreadable", "pairs", "matches", "disagreements", "s")
    for column in columns:
        table.add_column(column, justify="right")
    for each in done:
        table.add_row(each.name, *(f"{count:,}" for count in _counts(each)), f"{each.seconds:.1f}")
    table.add_section()
    totals = (sum(counts) for counts in zip(*map(_counts, done), strict=True))
    table.add_row("all", *(f"{total:,}" for total in totals), f"{sum(each.seconds for each in done):.1f}")
    return table


def _counts(each: Agreement) -> tuple[int, ...]:
    verdict = each.verdict
    of_set = (each.expressions, len(each.refused), each.documents, len(each.unreadable))
    return (*of_set, verdict.pairs, verdict.matches, len(verdict.wrong))


def _explain(done: list[Agreement], console: Console) -> None:
    """Below the table: what was refused, what could not be read, what differed."""
    for each in done:
        for sentence in (*each.refused, *each.unreadable, *each.verdict.wrong[:20]):
            console.print(f"{each.name}: {sentence}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
