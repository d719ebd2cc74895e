"""The sets of mappings of a pipeline: a batch has one set, from its start and in every replay.

    mappings/*.toml ─load─► Mediation ─freeze─► <versions>/mappings/4f2a….json ◄─ journal: "mappings": "4f2a…"

A set is one file beside the index versions, named by the hash of its content: the canonical texts and plans
of the mappings, and how a document finds its own.  It needs neither the mapping files nor the schemas.

Invariant: a file under its final name is complete and never changes.  So a batch that is run again finds the
set of its first start, whatever happened to the mapping files, and no batch has two versions of a mapping.

Mapping files are looked at when a batch begins, and read again if one of them or of their schemas has
changed.  If they are bad then, the last good set stays in use, and a warning says why: a stream should not
stop because somebody saves a file with a mistake.  When a run starts there is no last good set in use, and
somebody is looking: bad mapping files are then an error, before any document is taken.
"""

from __future__ import annotations

import json
import logging
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from twigcast.errors import MappingError, RunError, TwigcastError
from twigcast.rewriting import Mappings, read_mapping_file
from twigcast.spark.pipeline import MediationSection
from twigcast.spark.stages.mediating import MappingRules, Mediation
from twigcast.system import write_atomically

FORMAT = 1
FOLDER = "mappings"
SUFFIX = ".json"
GRACE_SECONDS = 60.0  # younger files are never deleted, because another process may be about to use them
SWEEP_EVERY = 16  # batches

_log = logging.getLogger("twigcast")

_Files: TypeAlias = dict[str, tuple[int, int, int] | None]


class MappingSets:
    """The mapping sets of a pipeline, below the folder of its index versions; ``section`` may be none."""

    def __init__(self, versions: Path, section: MediationSection | None) -> None:
        self._folder = versions / FOLDER
        self._section = section
        self._files: _Files = {}
        self._newest: str | None = None
        self._opened: dict[str, Mediation] = {}
        self._released = 0

    def newest(self) -> str | None:
        """Freeze the mappings as they are now, if they have changed, and return the name of the set.

        None if the pipeline has no mediation.  Raises ``TwigcastError`` for bad mapping files only if there
        is no earlier set.
        """
        if self._section is None:
            return None
        if self._newest is not None and self._files == _fingerprint(self._files):
            return self._newest
        files = _fingerprint(_watched(self._section))
        try:
            mediation = self._load()
        except TwigcastError as error:
            if self._newest is None:
                raise
            _log.warning("%s (the last good mappings stay in use)", error)
        else:
            self._newest = self._freeze(mediation)
        self._files = files
        return self._newest

    def at(self, name: str) -> Mediation:
        """The set of a name; raises ``RunError`` if it is missing or damaged."""
        if name not in self._opened:
            file = self._file(name)
            try:
                content = file.read_bytes()
                if _name(content) != name:
                    raise ValueError("it was altered after it was written")
                self._opened[name] = _mediation(content)
            except (OSError, ValueError, KeyError, TypeError, MappingError) as error:
                raise RunError(
                    f"{file}: the mappings of a batch cannot be read ({error}): restore the file, because the"
                    " batch was begun with it"
                ) from None
        return self._opened[name]

    def release(self, needed: Callable[[], Iterable[str]]) -> None:
        """Delete all sets except those ``needed`` returns and the newest; called after each batch.

        Only one call in ``SWEEP_EVERY`` deletes.
        """
        self._released += 1
        if self._released % SWEEP_EVERY or not self._folder.is_dir():
            return
        kept = {*needed(), *([self._newest] if self._newest is not None else [])}
        self._opened = {name: each for name, each in self._opened.items() if name in kept}
        horizon = time.time() - GRACE_SECONDS
        for file in self._folder.glob(f"*{SUFFIX}"):
            if file.name.removesuffix(SUFFIX) not in kept and file.stat().st_mtime < horizon:
                file.unlink(missing_ok=True)

    def _load(self) -> Mediation:
        section = self._section
        assert section is not None
        mappings = Mappings.load(section.mappings, section.schema_path)
        return Mediation.of(mappings, by=section.by, unknown=section.unknown)

    def _freeze(self, mediation: Mediation) -> str:
        content = _content(mediation)
        name = _name(content)
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._file(name)
        if not file.exists():
            write_atomically(file, content)
        else:
            file.touch()  # it is in use again: not to be deleted before the journal names it
        self._opened[name] = mediation
        return name

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"


def _watched(section: MediationSection) -> list[str]:
    """The files that a set is made from: mapping files, their source schemas, and the global schema."""
    inside = list(section.mappings.glob("*.toml"))
    paths = [section.mappings, *inside]
    for path in inside or [section.mappings]:
        with suppress(MappingError):  # when the set is loaded, it is reported
            file = read_mapping_file(path)
            paths += [file.source, file.target]
    if section.schema_path is not None:
        paths.append(section.schema_path)
    return sorted({str(path) for path in paths})


def _fingerprint(paths: Iterable[str]) -> _Files:
    """For each file what changes if it is replaced or written to; none for a missing file."""
    found: _Files = {}
    for path in paths:
        try:
            state = Path(path).stat()
            found[path] = (state.st_ino, state.st_mtime_ns, state.st_size)
        except OSError:
            found[path] = None
    return found


def _content(mediation: Mediation) -> bytes:
    mappings = [
        {
            "name": each.name,
            "version": each.version,
            "rules": json.loads(each.rules),
            "plan": b64encode(each.plan).decode("ascii"),
        }
        for each in mediation.mappings
    ]
    content = {"format": FORMAT, "by": mediation.by, "unknown": mediation.unknown, "mappings": mappings}
    return json.dumps(content, indent=1, ensure_ascii=False).encode()


def _mediation(content: bytes) -> Mediation:
    found = json.loads(content)
    if found["format"] != FORMAT:
        raise ValueError(f"it has format {found['format']}, but this twigcast reads format {FORMAT}")
    mappings = tuple(
        MappingRules.parse(
            each["name"],
            each["version"],
            json.dumps(each["rules"], ensure_ascii=False, separators=(",", ":")),
            b64decode(each["plan"]),
        )
        for each in found["mappings"]
    )
    return Mediation(mappings, found["by"], found["unknown"])


def _name(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
