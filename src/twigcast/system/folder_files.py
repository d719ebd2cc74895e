"""Finds the files below a folder: regular files only, with one rule for links.

    links     a link is …
    skip      never followed                                  the default
    inside    followed if it leads to something below the folder
    follow    followed wherever it leads

Whatever is neither a folder nor a regular file (a named pipe, a socket, a device), and a link that is not
followed, is found too, with the reason why it is not a file to read: a reader of a pipe would wait for ever.

Invariant: each folder is entered once, whatever links lead to it, so a loop of links ends.  Links are
followed after everything else: a link that is added later does not change the path of a file that is found.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Links: TypeAlias = Literal["skip", "inside", "follow"]
Refusal: TypeAlias = Literal["link", "special", "unreadable"]


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, its size and time of change; or something that is not a file to read, and the reason."""

    path: str
    size: int = 0
    changed: int = 0
    refusal: Refusal | None = None


def files_below(
    folder: str, *, links: Links = "skip", skipped: Callable[[str], bool] = lambda name: False
) -> Iterator[FoundFile]:
    """The files below a folder, in the order of names; a file is found as itself.

    The path that is given is followed if it is a link.  ``skipped`` is called with the names of files and
    folders that are not to be seen at all.  A folder that cannot be listed is one refusal; ``OSError`` is
    raised only if that is the given path.
    """
    found = os.stat(folder)
    if not stat.S_ISDIR(found.st_mode):
        yield _file(folder, found)
        return
    root = os.path.realpath(folder)
    entered: set[tuple[int, int]] = set()
    waiting = [(folder, found)]
    linked: list[tuple[str, os.stat_result]] = []
    while waiting or linked:
        path, place = waiting.pop() if waiting else linked.pop(0)
        if (place.st_dev, place.st_ino) in entered:
            continue
        entered.add((place.st_dev, place.st_ino))
        try:
            names = sorted(os.listdir(path))
        except OSError:
            if path == folder:
                raise
            yield FoundFile(path, refusal="unreadable")
            continue
        folders: list[tuple[str, os.stat_result]] = []
        for name in names:
            if skipped(name):
                continue
            below = os.path.join(path, name)
            try:
                place = os.lstat(below)
                is_link = stat.S_ISLNK(place.st_mode)
                if is_link:
                    if not _leads_on(below, root, links):
                        yield FoundFile(below, changed=place.st_mtime_ns, refusal="link")
                        continue
                    place = os.stat(below)
            except FileNotFoundError:
                continue  # removed since it was listed, or a link to nothing
            except OSError:
                yield FoundFile(below, refusal="unreadable")
                continue
            if stat.S_ISDIR(place.st_mode):
                (linked if is_link else folders).append((below, place))
            else:
                yield _file(below, place)
        waiting += reversed(folders)


def open_regular(path: str, *, links: Links = "follow") -> int:
    """Open a regular file to read it, and return its descriptor; raises ``OSError`` for anything else.

    It never waits for the other end of a pipe.  With ``links="skip"`` the last name must not be a link.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if links == "skip" else 0)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, os.strerror(21), path)
    raise OSError(22, "it is not a regular file", path)


def _leads_on(path: str, root: str, links: Links) -> bool:
    if links != "inside":
        return links == "follow"
    target = os.path.realpath(path)
    return target == root or target.startswith(root.rstrip(os.sep) + os.sep)


def _file(path: str, place: os.stat_result) -> FoundFile:
    if not stat.S_ISREG(place.st_mode):
        return FoundFile(path, changed=place.st_mtime_ns, refusal="special")
    return FoundFile(path, place.st_size, place.st_mtime_ns)
