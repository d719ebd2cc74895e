"""``twigcast subscriptions``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.subscriptions.files import read_subscriptions
from twigcast.subscriptions.store import SubscriptionStore

RunCommand = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A store of two subscriptions."""
    path = tmp_path / "s.db"
    table = SubscriptionStore(path)
    table.subscribe("ada", "//x:p", subscriber="desk", namespaces={"x": "urn:x"}, deliver="part")
    table.subscribe("bob", "//q")
    return path


def test_subscriptions_are_lines_when_piped(run: RunCommand, table: Path) -> None:
    """When piped, a line has id, XPath, prefixes, subscriber and the kind of delivery."""
    assert run("subscriptions", "--store", table).lines == [
        "ada\t//x:p\tx=urn:x\tdesk\tpart",
        "bob\t//q\t\tbob\tdocument",
    ]


def test_lines_can_be_subscribed_again(run: RunCommand, table: Path, tmp_path: Path) -> None:
    """``subscribe --file`` reads the listed lines, and also the JSON."""
    for options, name in (([], "s.tsv"), (["--json"], "s.jsonl")):
        file = tmp_path / name
        file.write_text(run("subscriptions", "-s", table, *options).stdout)
        copy = tmp_path / f"{name}.db"
        assert run("subscribe", "-s", copy, "--file", file).exit_code == 0
        assert SubscriptionStore(copy).subscriptions() == SubscriptionStore(table).subscriptions()


def test_json_has_an_object_for_each(run: RunCommand, table: Path) -> None:
    """With ``--json`` each subscription is one object."""
    first, _ = map(json.loads, run("subscriptions", "-s", table, "--json").lines)
    assert first == {
        "id": "ada",
        "xpath": "//x:p",
        "namespaces": {"x": "urn:x"},
        "subscriber": "desk",
        "deliver": "part",
    }


def test_count_and_version_are_numbers(run: RunCommand, table: Path) -> None:
    """``--count`` and ``--version`` print a number; ``--count`` may be for one subscriber."""
    assert run("subscriptions", "-s", table, "--count").stdout == "2\n"
    assert run("subscriptions", "-s", table, "--count", "--subscriber", "desk").stdout == "1\n"
    assert run("subscriptions", "-s", table, "--version").stdout == "2\n"


def test_an_earlier_version_can_be_listed(run: RunCommand, table: Path) -> None:
    """``--at`` lists the subscriptions of an earlier version, such as that of a batch."""
    assert run("subscriptions", "-s", table, "--at", 1, "--count").stdout == "1\n"
    done = run("subscriptions", "-s", table, "--at", 7)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "there is no version 7" in done.stderr


def test_the_table_may_be_that_of_a_pipeline(run: RunCommand, table: Path, tmp_path: Path) -> None:
    """A pipeline file as the argument names the store."""
    pipeline = tmp_path / "news.toml"
    pipeline.write_text('subscriptions.path = "s.db"')
    assert run("subscriptions", pipeline, "--count").stdout == "2\n"


def test_subscribing_and_listing_need_no_spark(table: Path) -> None:
    """The commands for subscriptions, and their help, do not import Spark."""
    script = (
        "import sys\n"
        "from twigcast.cli.program import app\n"
        f"table = ['-s', {str(table)!r}]\n"
        "for words in (['run', '--help'], ['dead-letters', '--help'],\n"
        "              ['subscribe', *table, '--id', 'c', '//c'],\n"
        "              ['subscriptions', *table], ['unsubscribe', *table, 'c']):\n"
        "    app(words, standalone_mode=False)\n"
        "print([name for name in ('pyspark', 'pandas', 'py4j') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_prefixes_that_the_store_remembers_are_listed(run: RunCommand, tmp_path: Path) -> None:
    """As lines that a file of subscriptions may have; so the output is still read back."""
    table = SubscriptionStore(tmp_path / "p.db")
    table.bind({"x": "urn:x", "y": "urn:y"})
    table.subscribe("a", "//x:p")
    done = run("subscriptions", "--store", table.path)
    assert done.lines == ["# namespace x=urn:x", "# namespace y=urn:y", "a\t//x:p\tx=urn:x\ta\tdocument"]
    (tmp_path / "dump.tsv").write_text(done.stdout)
    assert [entry for _, entry in read_subscriptions(tmp_path / "dump.tsv")] == table.subscriptions()
    assert len(run("subscriptions", "--store", table.path, "--json").lines) == 1


def test_a_namespace_that_a_line_cannot_have_is_reported(run: RunCommand, tmp_path: Path) -> None:
    """A space separates bindings in TSV; JSON keeps it."""
    table = SubscriptionStore(tmp_path / "p.db")
    table.subscribe("a", "//x:p", namespaces={"x": "urn:a b"})
    assert "--json" in run("subscriptions", "--store", table.path).stderr
    assert run("subscriptions", "--store", table.path, "--json").stderr == ""
