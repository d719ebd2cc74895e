"""``twigcast unsubscribe``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.subscriptions.store import SubscriptionStore

RunCommand = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A store with the subscriptions ada and bob."""
    path = tmp_path / "s.db"
    for id in ("ada", "bob"):
        SubscriptionStore(path).subscribe(id, "//p")
    return path


def left(table: Path) -> list[str]:
    return [row.id for row in SubscriptionStore(table).subscriptions()]


def test_a_subscription_is_ended(run: RunCommand, table: Path) -> None:
    """The new version is printed on stdout."""
    done = run("unsubscribe", "--store", table, "ada")
    assert (done.exit_code, done.stdout, left(table)) == (0, "3\n", ["bob"])


def test_the_table_may_be_that_of_a_pipeline(run: RunCommand, table: Path, tmp_path: Path) -> None:
    """A pipeline file before the ids names the store."""
    pipeline = tmp_path / "news.toml"
    pipeline.write_text('subscriptions.path = "s.db"')
    assert run("unsubscribe", pipeline, "ada", "bob").exit_code == 0
    assert left(table) == []


def test_an_unknown_id_does_not_keep_the_others(run: RunCommand, table: Path) -> None:
    """An unknown id is reported, the others are removed, and the exit code is 1."""
    done = run("unsubscribe", "-s", table, "nobody", "bob")
    assert (done.exit_code, done.stdout, left(table)) == (1, "3\n", ["ada"])
    assert done.stderr == (
        f"error: {table}: there is no subscription 'nobody' (unknown-id)\n"
        f"{table}: 1 removed (bob), 1 unknown (nobody); 1 left\n"
    )


def test_a_table_that_is_not_there_is_not_made(run: RunCommand, tmp_path: Path) -> None:
    """A missing store is an error with exit code 2, and is not created."""
    path = tmp_path / "none.db"
    done = run("unsubscribe", "-s", path, "ada")
    assert (done.exit_code, done.stderr) == (
        2,
        f"error: {path}: there is no such subscription store (not-found)\n",
    )
    assert not path.exists()


def test_a_pipeline_alone_is_an_error_of_usage(run: RunCommand) -> None:
    """Without an id the message says that the only argument was taken for the pipeline file."""
    done = run("unsubscribe", "a.toml")
    words = " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.stderr).split())
    assert done.exit_code == 2
    assert "a.toml was taken for the pipeline file, and no id follows it" in words
    assert "put the pipeline file or --store FILE before it" in words


def test_an_id_may_end_like_a_pipeline_file(run: RunCommand, table: Path, tmp_path: Path) -> None:
    """After the pipeline file or ``--store``, a word that ends in ``.toml`` is an id."""
    pipeline = tmp_path / "news.toml"
    pipeline.write_text('subscriptions.path = "s.db"')
    for before in ([pipeline], ["--store", table]):
        SubscriptionStore(table).subscribe("a.toml", "//p")
        assert run("unsubscribe", *before, "a.toml").exit_code == 0
    assert left(table) == ["ada", "bob"]
