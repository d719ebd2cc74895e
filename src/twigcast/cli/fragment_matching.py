"""What ``twigcast match`` and ``twigcast explain`` do with documents in fragments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli import fragment_files
from twigcast.errors import FragmentError, SourceError, TwigcastError

if TYPE_CHECKING:
    from twigcast.filtering import Index
    from twigcast.fragmenting import News, Outcome


class ScheduleName(Enum):
    """The policies by which fragments are ordered; see docs/fragments.md."""

    T = "T"
    R = "R"
    S = "S"
    M = "M"
    C = "C"
    N = "N"


@dataclass(frozen=True, slots=True)
class FragmentReading:
    """How fragments are matched: the options of ``FragmentIndex``."""

    schedule: ScheduleName | None = None
    window: int = 1
    early: bool = False
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class FragmentStep:
    """One step of reading fragments: what became known, after how many fragments, and what was refused."""

    news: tuple[News, ...]
    fragments: int
    error: TwigcastError | None = None


def arrivals(
    index: Index,
    paths: Iterable[Path],
    reading: FragmentReading,
    counted: Callable[[list[Path]], Iterable[Path]] = iter,
) -> Iterator[FragmentStep]:
    """Read fragments in the order of their names; yields what each makes known, and ends all documents."""
    from math import inf

    from twigcast.fragmenting import FragmentIndex

    folders = list(paths)
    feed = FragmentIndex(
        index,
        schedule=None if reading.schedule is None else reading.schedule.value,
        window=reading.window or inf,
        early=reading.early,
        checked=not reading.trusted,
    )
    for manifest in fragment_files.manifests(folders):
        yield FragmentStep(tuple(feed.expect(manifest)), 0)
    files = list(fragment_files.find(folders))
    number = 0
    for number, path in enumerate(counted(files), 1):
        try:
            yield FragmentStep(tuple(feed.add(fragment_files.read(path))), number)
        except SourceError as error:
            yield FragmentStep((), number, error)
        except FragmentError as error:
            yield FragmentStep((), number, SourceError(error.message, code=error.code, path=str(path)))
    for doc_id in feed.open_documents():
        yield FragmentStep((feed.finish(doc_id),), number)


def failure(outcome: Outcome) -> TwigcastError | None:
    """The error of a document that is not complete."""
    from twigcast.fragmenting import printed_numbers

    if outcome.status == "incomplete":
        some = printed_numbers(outcome.missing)
        what = "fragment" if sum(map(len, outcome.missing)) == 1 else "fragments"
        return FragmentError(
            "the document is incomplete" + (f": {what} {some} missing" if some else ""),
            code="fragments-missing",
            doc_id=outcome.doc_id,
            missing=outcome.missing,
        )
    return outcome.error


def decision(index: Index, id: Hashable, paths: Iterable[Path]) -> tuple[str, bytes | None]:
    """When a subscription was decided, as a sentence, and the document, if all fragments are there."""
    from twigcast.fragmenting import Certain, Outcome, assemble

    folders = list(paths)
    sentence = ""
    for arrival in arrivals(index, folders, FragmentReading(early=True)):
        if arrival.error is not None:
            raise arrival.error
        for news in arrival.news:
            if isinstance(news, Certain) and id in news.ids:
                sentence = f"certain after fragment {arrival.fragments} ({news.arrived:,} bytes)"
            if isinstance(news, Outcome):
                error = failure(news)
                if error is not None and not sentence:
                    raise error
                if error is not None:
                    return f"{sentence}; {error.message}", None
                found = news.match is not None and id in news.match.ids
                sentence = sentence or (
                    f"decided at the end, after {arrival.fragments} fragments: "
                    + ("it matches" if found else "it does not match")
                )
    return sentence, assemble(fragment_files.read(path) for path in fragment_files.find(folders))
