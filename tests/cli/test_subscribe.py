"""``twigcast subscribe``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from twigcast.pattern import Subscription
from twigcast.subscriptions.store import SubscriptionStore

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """The path of a subscription store that does not exist yet."""
    return tmp_path / "s.db"


def test_a_subscription_is_in_the_table(run: RunCommand, table: Path) -> None:
    """The new version is printed on stdout, a message on stderr."""
    done = run(
        "subscribe", "--store", table, "--id", "ada", "--subscriber", "desk", "--deliver", "part", "//p"
    )
    assert (done.exit_code, done.stdout, done.stderr) == (0, "1\n", f"{table}: ada added\n")
    assert SubscriptionStore(table).subscriptions() == [Subscription("ada", "//p", "desk", "part")]


def test_what_was_done_is_said(run: RunCommand, write: Write, table: Path) -> None:
    """A subscription is added, replaces another, or is there already; a file has the numbers of each."""
    for xpath, said in [("//p", "added"), ("//q", "replaced"), ("//q", "is there already, unchanged")]:
        assert run("subscribe", "--store", table, "--id", "a", xpath).stderr == f"{table}: a {said}\n"
    file = write("s.tsv", "a\t//p\nb\t//p\nc\t//p\nd\t//[\n")
    said = run("subscribe", "--store", table, "--file", file).stderr.splitlines()[-1]
    assert said == f"{table}: 2 added, 1 replaced, 1 line refused"
    said = run("subscribe", "--store", table, "--file", write("t.tsv", "a\t//p\n")).stderr
    assert said == f"{table}: 1 unchanged\n"


def test_who_subscribes_is_the_id_unless_it_is_said(run: RunCommand, table: Path) -> None:
    """The id is the subscriber by default."""
    run("subscribe", "--store", table, "--id", "ada", "//p")
    assert [(row.subscriber, row.deliver) for row in SubscriptionStore(table).subscriptions()] == [
        ("ada", "document")
    ]


def test_the_table_may_be_that_of_a_pipeline(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """A pipeline file before the XPath names the store, relative to its own folder."""
    pipeline = write("a/news.toml", 'subscriptions.path = "who.db"')
    assert run("subscribe", pipeline, "--id", "ada", "//p").exit_code == 0
    assert len(SubscriptionStore(tmp_path / "a/who.db")) == 1


def test_a_pipeline_in_the_current_folder_is_meant(
    run: RunCommand, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default the store is that of ``pipeline.toml`` in the current folder, or ``subscriptions.db``."""
    monkeypatch.chdir(tmp_path)
    run("subscribe", "--id", "ada", "//p")
    assert len(SubscriptionStore("subscriptions.db")) == 1
    write("pipeline.toml", 'subscriptions.path = "who.db"')
    run("subscribe", "--id", "bob", "//p")
    assert len(SubscriptionStore("who.db")) == 1


def test_prefixes_are_bound(run: RunCommand, table: Path) -> None:
    """``--namespace`` binds prefixes, as in the other commands."""
    run("subscribe", "-s", table, "--id", "ada", "-n", "x=urn:x", "//x:p")
    assert SubscriptionStore(table).subscriptions()[0].namespaces == {"x": "urn:x"}


def test_a_bad_expression_is_shown_with_its_column(run: RunCommand, table: Path) -> None:
    """The exit code is 1, and the store does not change."""
    done = run("subscribe", "-s", table, "--id", "ada", "//p[")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "^" in done.stderr
    assert len(SubscriptionStore(table)) == 0


def test_the_id_of_another_is_refused(run: RunCommand, table: Path) -> None:
    """An id that belongs to another subscriber is refused, with exit code 2."""
    run("subscribe", "-s", table, "--id", "ada", "--subscriber", "desk", "//p")
    done = run("subscribe", "-s", table, "--id", "ada", "--subscriber", "other", "//q")
    assert (done.exit_code, done.stderr) == (
        2,
        "error: the subscription 'ada' belongs to 'desk' (duplicate-id)\n",
    )


def test_a_file_is_subscribed_in_one_change(run: RunCommand, table: Path, write: Write) -> None:
    """Columns of the file take precedence over options."""
    file = write("s.tsv", "ada\t//a\nbob\t//x:b\tx=urn:x\tdesk\tpart\n")
    done = run("subscribe", "-s", table, "--file", file, "--subscriber", "all")
    assert (done.exit_code, done.stdout) == (0, "1\n")
    assert SubscriptionStore(table).subscriptions() == [
        Subscription("ada", "//a", "all", "document"),
        Subscription("bob", "//x:b", "desk", "part", {"x": "urn:x"}),
    ]


def test_bad_lines_of_a_file_do_not_hide_the_others(run: RunCommand, table: Path, write: Write) -> None:
    """Bad lines are reported in order, with their numbers, and the exit code is 1."""
    file = write("s.tsv", "ada\t//a[\nbob\nchen\t//c\n")
    done = run("subscribe", "-s", table, "--file", file)
    assert (done.exit_code, done.stdout) == (1, "1\n")
    places = [line.split(": ")[1] for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert places == [f"{file}:1", f"{file}:2"]
    assert "1 added, 2 lines refused" in done.stderr


def test_a_name_that_a_line_cannot_have_is_refused(run: RunCommand, table: Path) -> None:
    """The error says why the id is refused, with exit code 2."""
    done = run("subscribe", "-s", table, "--id", "#hash", "//p")
    message = "error: the id '#hash' begins with #, as a comment does (unsavable-id)\n"
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", message)


def test_such_a_name_in_a_file_does_not_hide_the_others(run: RunCommand, table: Path, write: Write) -> None:
    """A bad id in a file is reported with its line, the other lines are added, and the exit code is 1."""
    names = ("ada", "n\nl", " lead", "bob")
    file = write("s.jsonl", "".join(json.dumps({"id": name, "xpath": "//p"}) + "\n" for name in names))
    done = run("subscribe", "-s", table, "--file", file)
    assert (done.exit_code, [row.id for row in SubscriptionStore(table).subscriptions()]) == (
        1,
        ["ada", "bob"],
    )
    first, second, _ = done.stderr.splitlines()
    assert first.startswith(f"error: {file}:2: the id 'n\\nl' has a control character")
    assert second == f"error: {file}:3: the id ' lead' begins or ends with white space (unsavable-id)"


@pytest.mark.parametrize(
    "arguments",
    [
        ["//p"],
        ["--id", "ada"],
        ["--id", "ada", "//p", "//q"],
        ["--file", "s.tsv", "//p"],
        ["--id", "", "//p"],
    ],
)
def test_what_makes_no_sense_together_is_an_error_of_usage(
    run: RunCommand, table: Path, arguments: list[str]
) -> None:
    """The exit code is 2, and no store is created."""
    assert run("subscribe", "-s", table, *arguments).exit_code == 2
    assert not table.exists()


def test_what_is_no_table_is_refused(run: RunCommand, write: Write) -> None:
    """A file that is no store gives one line on stderr and exit code 2, and is not changed."""
    path = write("s.db", "not a table, and long enough to be looked at " * 50)
    done = run("subscribe", "-s", path, "--id", "ada", "//p")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"error: {path}: not a subscription store: file is not a database (unreadable)\n"


def test_subscriptions_that_spark_reads_are_changed_elsewhere(run: RunCommand, write: Write) -> None:
    """The error names the key of the pipeline file."""
    done = run("subscribe", write("n.toml", 'subscriptions.format = "jdbc"'), "--id", "ada", "//p")
    assert done.exit_code == 2
    assert "Spark reads its subscriptions from jdbc" in done.stderr


def test_the_store_remembers_the_prefixes_of_an_option(run: RunCommand, write: Write, table: Path) -> None:
    """Later subscriptions may use them; a default namespace is not remembered."""
    bound = ("-n", "x=urn:x", "--default-namespace", "urn:d")
    assert run("subscribe", "--store", table, "--id", "a", *bound, "//x:p[q]").exit_code == 0
    assert run("subscribe", "--store", table, "--id", "b", "//x:p[q]").exit_code == 0
    assert run("subscribe", "--store", table, "--file", write("s.tsv", "c\t//x:q\n")).exit_code == 0
    assert SubscriptionStore(table).namespaces == {"x": "urn:x"}
    assert [row.namespaces for row in SubscriptionStore(table).subscriptions()] == [
        {"x": "urn:x", "": "urn:d"},
        {"x": "urn:x"},
        {"x": "urn:x"},
    ]


def test_a_refused_subscription_binds_nothing(run: RunCommand, table: Path) -> None:
    """The command did not do what it was asked for, so nothing of it stays."""
    assert run("subscribe", "--store", table, "--id", "a", "-n", "x=urn:x", "//x:p[").exit_code != 0
    assert SubscriptionStore(table).namespaces == {}


@pytest.mark.parametrize("binding", ["1=urn:a", "a=urn:{a}", "xml=urn:a", "a=u v"])
def test_a_malformed_binding_is_an_error_of_usage(run: RunCommand, table: Path, binding: str) -> None:
    """It is refused before the store is opened."""
    done = run("subscribe", "--store", table, "--id", "a", "--namespace", binding, "//p")
    assert done.exit_code == 2
    assert "--namespace" in done.stderr
    assert not table.exists()


def test_the_pipeline_file_binds_prefixes(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """For one subscription and for files; nearer bindings precede, and a subscription keeps what it uses."""
    pipeline = write("p.toml", '[namespaces]\nx = "urn:x"\ny = "urn:y"\n')
    file = write("s.tsv", "# namespace y=urn:file\nb\t//x:a[y:b]\nc\t//x:c\tx=urn:line\n")
    assert run("subscribe", pipeline, "--id", "a", "//x:a").exit_code == 0
    assert run("subscribe", pipeline, "--file", file).exit_code == 0
    store = SubscriptionStore(tmp_path / "subscriptions.db")
    assert store.namespaces == {}
    assert [row.namespaces for row in store.subscriptions()] == [
        {"x": "urn:x"},
        {"x": "urn:x", "y": "urn:file"},
        {"x": "urn:line"},
    ]
