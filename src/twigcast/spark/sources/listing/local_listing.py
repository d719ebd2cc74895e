"""Lists the files of a local source in the driver, with the rule of ``system.folder_files``.

Spark could list them too, but it leaves out files whose names are not UTF-8, follows every link, also in
circles, and takes a named pipe for an empty file.  It still lists for clusters, for remote paths, and if an
option is given that this module does not know.
"""

from __future__ import annotations

import glob
import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from twigcast.errors import SourceError
from twigcast.spark.sources.listing.places import Place
from twigcast.system import (
    DOCUMENT_ENDINGS,
    FoundFile,
    Links,
    files_below,
    is_document,
    is_hidden,
    name_text,
    without_scheme,
)

_log = logging.getLogger(__name__)

GLOB = re.compile(r"[*?\[{]")
_KNOWN = frozenset(
    {"pathglobfilter", "recursivefilelookup", "maxfilespertrigger", "maxbytespertrigger", "maxfileage"}
)


@dataclass(frozen=True, slots=True)
class LocalListing:
    """The files of a path: a file, a folder, or a glob pattern of Hadoop; ``name_pattern`` selects names.

    With ``documents``, the files of a folder are chosen by the rule of ``system.document_files``.
    """

    path: str
    links: Links = "skip"
    name_pattern: str | None = None
    documents: bool = False

    @classmethod
    def of(
        cls, path: str, options: Mapping[str, str], links: Links, *, documents: bool = False
    ) -> LocalListing | None:
        """The listing with options of Spark; none if one of them is not known here."""
        given = {name.lower(): value for name, value in options.items()}
        if not set(given) <= _KNOWN or given.get("recursivefilelookup", "true").lower() != "true":
            return None
        return cls(without_scheme(path), links, given.get("pathglobfilter"), documents)

    def places(self) -> list[Place]:
        """All files, oldest first; raises ``SourceError`` if the path does not exist or cannot be listed."""
        found = list(self._found())
        if self.documents:
            chosen = [each for each in found if each.path == self.path or is_document(each)]
            if found and not chosen:
                _warn_of_other_files(self.path, found[0].path)
            found = chosen
        found.sort(key=lambda each: (each.changed, each.path))
        return [Place(name_text(each.path), each.size, each.refusal) for each in found]

    def _found(self) -> Iterator[FoundFile]:
        taken: set[str] = set()
        for root in self._roots():
            if root != self.path and self._is_refused(root):
                yield FoundFile(root, refusal="link")
                continue
            try:
                for each in files_below(root, links=self.links, skipped=is_hidden):
                    if each.path not in taken and self._is_named(each.path):
                        taken.add(each.path)
                        yield each
            except FileNotFoundError:
                if root == self.path:
                    raise SourceError(
                        "there is no such source of documents", code="not-found", path=name_text(root)
                    ) from None
            except OSError as error:
                message = f"the source cannot be listed: {error.strerror or error}"
                raise SourceError(message, code="unreadable", path=name_text(root)) from None

    def _roots(self) -> list[str]:
        if not GLOB.search(self.path):
            return [self.path]
        found = {path for each in _alternatives(self.path) for path in glob.glob(_pattern(each))}
        return sorted(path for path in found if not is_hidden(os.path.basename(path.rstrip("/"))))

    def _is_refused(self, path: str) -> bool:
        """Whether what a pattern matched is reached by a link that is not to be followed."""
        if self.links == "follow":
            return False
        folder = GLOB.split(self.path, maxsplit=1)[0].rpartition("/")[0] or "/"  # the part without patterns
        base, real = os.path.realpath(folder), os.path.realpath(path)
        if self.links == "inside":
            return not real.startswith(base.rstrip("/") + "/")
        return real != os.path.normpath(os.path.join(base, os.path.relpath(path, folder)))

    def _is_named(self, path: str) -> bool:
        if self.name_pattern is None:
            return True
        name = path.rpartition("/")[2]
        return any(fnmatchcase(name, _pattern(each)) for each in _alternatives(self.name_pattern))


def _warn_of_other_files(folder: str, example: str) -> None:
    """Say once that the files of a folder are not documents by their names."""
    if folder not in _warned:
        _warned.add(folder)
        names = " or ".join(f"*{ending}" for ending in DOCUMENT_ENDINGS)
        message = (
            "%s has no documents (%s), but other files, such as %s: the option pathGlobFilter takes them"
        )
        _log.warning(message, name_text(folder), names, name_text(example))


_warned: set[str] = set()


def _alternatives(pattern: str) -> Iterator[str]:
    """The patterns that ``{a,b}`` in a glob pattern of Hadoop stands for."""
    found = re.search(r"(?<!\\)\{([^{}]*)\}", pattern)
    if found is None:
        yield pattern
        return
    for choice in found[1].split(","):
        yield from _alternatives(pattern[: found.start()] + choice + pattern[found.end() :])


def _pattern(pattern: str) -> str:
    """A glob pattern of Hadoop without braces, as Python writes it."""
    return re.sub(r"\\(.)", r"[\1]", pattern, flags=re.DOTALL).replace("[^", "[!")
