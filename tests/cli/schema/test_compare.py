"""``twigcast schema compare``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]

HEAD = 'mapping = "cmu"\nsource = "cmu.dtd"\ntarget = "catalogue.dtd"\n[match]\n"cmu" = "catalogue"\n'


@pytest.fixture
def files(write: Write) -> tuple[Path, Path]:
    """An automatic mapping that confuses title and code, and the right one."""
    write("cmu.dtd", "<!ELEMENT cmu (No?, Name?)> <!ELEMENT No (#PCDATA)> <!ELEMENT Name (#PCDATA)>")
    write(
        "catalogue.dtd",
        "<!ELEMENT catalogue (code?, title?)> <!ELEMENT code (#PCDATA)> <!ELEMENT title (#PCDATA)>",
    )
    automatic = write("automatic.toml", HEAD + '"cmu/No" = "catalogue/title"\n')
    hand = write("hand.toml", HEAD + '"cmu/No" = "catalogue/code"\n"cmu/Name" = "catalogue/title"\n')
    return automatic, hand


def test_pairs(run: RunCommand, files: tuple[Path, Path]) -> None:
    """Precision and recall, and each pair that differs."""
    assert run("schema", "compare", *files).lines == [
        "cmu/No\tcatalogue/title\tcatalogue/code",
        "cmu/Name\t-\tcatalogue/title",
        "pairs: precision 0.50, recall 0.33, F1 0.40 (1 right, 2 proposed, 3 wanted)",
    ]


def test_deliveries(run: RunCommand, write: Write, files: tuple[Path, Path]) -> None:
    """A delivery is a document that a subscription matches, by the image of each mapping."""
    write("feed/1.xml", "<cmu><No>1</No><Name>x</Name></cmu>")
    write("feed/2.xml", "<cmu/>")
    subscriptions = write("s.txt", "//code\n//title\n/catalogue\n//title[.='1']\n")
    done = run("schema", "compare", *files, "--documents", files[0].parent / "feed", "-s", subscriptions)
    expected = "deliveries: precision 0.75, recall 0.75, F1 0.75 (3 right, 4 proposed, 4 wanted)"
    assert done.lines[-1] == expected


def test_other_documents_are_left_out(run: RunCommand, write: Write, files: tuple[Path, Path]) -> None:
    """A document of another publisher, or none at all, is reported and does not count."""
    subscriptions = write("s.txt", "/catalogue\n")
    documents = [write("1.xml", "<brown/>"), write("2.xml", "<cmu"), write("3.xml", "<cmu/>")]
    options = [each for path in documents for each in ("--documents", path)]
    done = run("schema", "compare", *files, *options, "-s", subscriptions)
    assert done.lines[-1].startswith("deliveries: precision 1.00, recall 1.00, F1 1.00 (1 right")
    assert "the root element is 'brown', not 'cmu'; left out" in done.stderr
    assert "2.xml" in done.stderr
    done = run("schema", "compare", *files, *options, "-s", subscriptions, "--limit", "bytes=5")
    assert "1.xml: the document is too large (limit bytes: 5) at line 1, column 1" in done.stderr
    assert "--limit bytes=N raises it (too-large)" in done.stderr


def test_json(run: RunCommand, files: tuple[Path, Path]) -> None:
    """One object with all figures."""
    found = json.loads(run("schema", "compare", "--json", *files).stdout)
    assert found["pairs"] == {
        "precision": 0.5,
        "recall": 0.3333,
        "f1": 0.4,
        "right": 1,
        "proposed": 2,
        "wanted": 3,
    }
    assert found["deliveries"] is None
    assert found["differences"][1] == {"source": "cmu/Name", "automatic": None, "hand": "catalogue/title"}


def test_deliveries_need_documents_and_subscriptions(
    run: RunCommand, write: Write, files: tuple[Path, Path]
) -> None:
    """One without the other is a mistake of the caller."""
    assert run("schema", "compare", *files, "-s", write("s.txt", "//code\n")).exit_code == 2
