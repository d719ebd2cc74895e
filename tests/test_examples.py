"""Every program in ``examples`` runs, and says something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SMALLER = {
    "demo": ["--documents", "60", "--subscriptions", "600"],
    "quick": ["--documents", "60", "--subscriptions", "600"],
}
SAYS = {
    "demo": ["Who got what", "000026.xml:", "60 documents (", "Where to look", "out/demo/deliveries"],
    "quick": ["Who gets what", "cut off on purpose", "Where to go next"],
    "quickstart": ["matched: lead, ada, sport", "ada gets: <p>A note by <person>Ada</person>.</p>"],
    "bad_input": [
        "refused: bad: ",
        "document 2: malformed",
        "document 3: external-entity",
        "document 4: also good",
    ],
    "shared_file": ["price='50'/></order> → from 1, from 10\n"],
    "fragments": [
        "fragment 4: certain at 14%: orders, dear",
        "fragment 3: complete: orders, dear, gift, quiet",
    ],
    "namespaces": ["['sport', 'any publisher', 'author']"],
    "invoices/invoices": ["cii.toml (cii): from Germany, ", "ubl.toml (ubl): from Germany, "],
}


def test_every_example_is_known_here() -> None:
    """A new example says what it prints."""
    names = {path.relative_to(EXAMPLES).with_suffix("").as_posix() for path in EXAMPLES.rglob("*.py")}
    assert names == set(SAYS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.spark) if name == "demo" else name for name in SAYS]
)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    """It ends well, prints what it should, and has nothing to complain of."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *SMALLER.get(name, [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [words for words in SAYS[name] if words not in done.stdout] == []
