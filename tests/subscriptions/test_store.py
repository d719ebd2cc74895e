"""The subscription store: every change makes the next version, and past versions can be listed."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from twigcast.errors import PatternError, SourceError, SubscriptionError
from twigcast.pattern import Subscription, render
from twigcast.subscriptions.store import SubscriptionStore


@pytest.fixture
def table(tmp_path: Path) -> SubscriptionStore:
    return SubscriptionStore(tmp_path / "subscriptions.db")


def ids(rows: list[Subscription]) -> list[str]:
    return [row.id for row in rows]


def test_a_new_table_is_at_version_zero(table: SubscriptionStore) -> None:
    """A new store has no changes."""
    assert table.version() == 0
    assert table.subscriptions() == []


def test_a_store_imports_what_an_index_takes(table: SubscriptionStore) -> None:
    """A mapping of ids to expressions, or rows; a bad one is refused alone."""
    table.import_all({"ab": "//x", "cd": "//["})
    assert table.import_all([("ef", "//p:y", {"p": "urn:p"})]).added == 1
    assert [(each.id, each.subscriber) for each in table.subscriptions()] == [("ab", "ab"), ("ef", "ef")]
    with pytest.raises(TypeError, match="expected subscriptions"):
        table.import_all("//x")  # type: ignore[arg-type]


def test_every_change_has_the_next_number(table: SubscriptionStore) -> None:
    """Subscribing and unsubscribing return the new version."""
    assert table.subscribe("a", "//x") == 1
    assert table.subscribe("b", "//y") == 2
    assert table.unsubscribe("a") == 3
    assert table.version() == 3


def test_a_row_is_what_was_asked_for(table: SubscriptionStore) -> None:
    """Without a given subscriber, the id is the subscriber."""
    table.subscribe("a", "//n:x", subscriber="ada", namespaces={"n": "urn:n"}, deliver="part")
    table.subscribe("b", "//y")
    assert table.subscriptions() == [
        Subscription("a", "//n:x", "ada", "part", {"n": "urn:n"}),
        Subscription("b", "//y", "b", "document"),
    ]


def test_past_versions_can_be_listed(table: SubscriptionStore) -> None:
    """A past version has no later additions, and still has what was removed later."""
    table.subscribe("a", "//x")
    table.subscribe("b", "//y")
    table.unsubscribe("a")
    assert [ids(table.subscriptions(version)) for version in range(4)] == [[], ["a"], ["a", "b"], ["b"]]


def test_an_expression_can_be_replaced(table: SubscriptionStore) -> None:
    """Subscribing again under the same id is one change: no version has neither expression."""
    table.subscribe("a", "//x")
    table.subscribe("b", "//y")
    assert table.subscribe("a", "//z") == 3
    assert [(row.id, row.text) for row in table.subscriptions()] == [("b", "//y"), ("a", "//z")]
    assert [row.text for row in table.subscriptions(2)] == ["//x", "//y"]


def test_subscribing_twice_alike_changes_nothing(table: SubscriptionStore) -> None:
    """Subscribing is idempotent."""
    assert table.subscribe("a", "//x") == table.subscribe("a", "//x") == table.version()


def test_an_id_belongs_to_its_subscriber(table: SubscriptionStore) -> None:
    """A subscriber cannot replace the subscription of another."""
    table.subscribe("a", "//x", subscriber="ada")
    with pytest.raises(SubscriptionError) as error:
        table.subscribe("a", "//y", subscriber="bob")
    assert error.value.code == "duplicate-id"
    assert table.version() == 1


def test_an_unknown_id_cannot_be_unsubscribed(table: SubscriptionStore) -> None:
    """Neither can a removed one, and no version is made."""
    table.subscribe("a", "//x")
    table.unsubscribe("a")
    with pytest.raises(SubscriptionError) as error:
        table.unsubscribe("a")
    assert error.value.code == "unknown-id"
    assert table.version() == 2


@pytest.mark.parametrize("xpath", ["//x[", "//n:x", "$x"])
def test_a_bad_expression_is_refused(table: SubscriptionStore, xpath: str) -> None:
    """An expression that an index would refuse is not stored."""
    with pytest.raises(PatternError):
        table.subscribe("a", xpath)
    assert table.version() == 0


@pytest.mark.parametrize(
    "name", ["a\tb", "n\nl", "a\x00", "a\x85b", "\ud800", " lead", "trail\u00a0", "#hash", " "]
)
def test_a_name_that_a_line_cannot_have_is_refused(table: SubscriptionStore, name: str) -> None:
    """This holds for ids and for subscribers."""
    for id, subscriber, kind in ((name, "ada", "id"), ("a", name, "subscriber")):
        with pytest.raises(SubscriptionError, match=f"^the {kind} ") as error:
            table.subscribe(id, "//x", subscriber=subscriber)
        code = "character" if name in ("a\x00", "\ud800") else "unsavable-id"
        assert (error.value.code, error.value.id) == (code, id)
    assert table.version() == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "needs at least one character"),
        ("a\tb", "has a control character"),
        ("\ud800", "has the character U.D800 at position 1"),
        (" a", "begins or ends with white space"),
        ("#a", "begins with #"),
    ],
)
def test_a_refusal_says_what_is_wrong_with_a_name(table: SubscriptionStore, name: str, words: str) -> None:
    """The message also shows the name."""
    with pytest.raises(SubscriptionError, match=words) as error:
        table.subscribe(name, "//x")
    assert repr(name) in error.value.message


def test_names_that_are_there_keep_working(table: SubscriptionStore) -> None:
    """Such names in an older store are listed, and can be unsubscribed."""
    table.subscribe("a", "//x")
    with sqlite3.connect(table.path) as connection:
        connection.execute("UPDATE subscriptions SET id = '#old', subscriber = ' old'")
    connection.close()
    assert [(row.id, row.subscriber) for row in table.subscriptions()] == [("#old", " old")]
    table.unsubscribe("#old")
    assert table.subscriptions() == []


def test_a_delivery_is_a_document_or_a_part(table: SubscriptionStore) -> None:
    """Any other value is an error of the caller."""
    with pytest.raises(ValueError, match="document or part"):
        table.subscribe("a", "//x", deliver="half")


def test_an_import_is_one_change(table: SubscriptionStore) -> None:
    """Many rows have one version; refused rows are reported and do not hide the others."""
    done = table.import_all(
        Subscription(id, xpath, id, "document")
        for id, xpath in [("a", "//x"), ("bad", "//["), ("", "//x"), ("b", "//y")]
    )
    assert (done.version, done.added) == (1, 2)
    assert [refused.id for refused in done.refused] == ["bad", ""]
    assert ids(table.subscriptions(1)) == ["a", "b"]


def test_an_import_that_fails_leaves_nothing(table: SubscriptionStore) -> None:
    """An import is atomic."""

    def failing() -> object:
        yield Subscription("a", "//x", "a", "document")
        raise OSError("the file ends here")

    with pytest.raises(OSError, match="ends here"):
        table.import_all(failing())  # type: ignore[arg-type]
    assert table.version() == 0
    assert table.subscriptions() == []


def test_an_import_may_name_an_id_twice(table: SubscriptionStore) -> None:
    """The last expression wins, and no version has both."""
    table.import_all(Subscription("a", xpath, "a", "document") for xpath in ("//x", "//y"))
    assert [row.text for row in table.subscriptions()] == ["//y"]
    assert [row.text for row in table.changes(0, 1).came] == ["//y"]


def test_changes_lead_from_any_version_to_any_later_one(table: SubscriptionStore) -> None:
    """Removing rows and appending others turns the rows of a version into those of a later one."""
    for number in range(6):
        table.subscribe(f"s{number}", f"//x{number}")
    table.unsubscribe("s2")
    table.subscribe("s4", "//other")
    table.unsubscribe("s5")
    table.subscribe("s5", "//again")
    for since in range(table.version() + 1):
        for until in range(since, table.version() + 1):
            changes = table.changes(since, until)
            followed = [
                row for row in table.subscriptions(since) if row.id not in changes.gone
            ] + changes.came
            assert followed == table.subscriptions(until)
            assert bool(changes) == (table.subscriptions(since) != table.subscriptions(until))


def test_pruned_versions_are_gone(table: SubscriptionStore) -> None:
    """Their rows are deleted, and listing them raises an error instead of returning fewer rows."""
    table.subscribe("a", "//x")
    table.unsubscribe("a")
    table.subscribe("b", "//y")
    assert table.hold("reader", 2) == 1
    assert ids(table.subscriptions(2)) == []
    assert ids(table.subscriptions(3)) == ["b"]
    with pytest.raises(SourceError, match="oldest"):
        table.subscriptions(1)
    with pytest.raises(SourceError, match="oldest"):
        table.changes(1, 3)


def test_a_version_that_is_not_yet_cannot_be_listed(table: SubscriptionStore) -> None:
    """A future version is refused."""
    with pytest.raises(SourceError, match="no version 1"):
        table.subscriptions(1)


def test_threads_change_it_at_once(table: SubscriptionStore) -> None:
    """Concurrent changes of threads get distinct versions."""
    versions: list[int] = []

    def subscribe(name: str) -> None:
        versions.extend(table.subscribe(f"{name}{number}", "//x") for number in range(10))

    threads = [threading.Thread(target=subscribe, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(versions) == list(range(1, 41))
    assert len(table) == 40


def subscribe_ten(path: Path, name: str) -> None:
    table = SubscriptionStore(path)
    for number in range(10):
        table.subscribe(f"{name}{number}", "//x")


def test_processes_make_it_and_change_it_at_once(tmp_path: Path) -> None:
    """This holds also if several processes create the store at the same time."""
    path = tmp_path / "subscriptions.db"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=subscribe_ten, args=(path, name)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert SubscriptionStore(path).version() == 30


def damaged(path: Path) -> Path:
    """A store of some pages, the last of which are missing."""
    store = SubscriptionStore(path)
    store.import_all(Subscription(f"id-{n}", "//a") for n in range(2000))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = path.with_suffix(".copy")
    copy.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return copy


def test_a_file_that_is_no_store_is_a_source_error(tmp_path: Path) -> None:
    """Errors of SQLite and of the file system have a code and the path."""
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "folder").mkdir()
    for path in (
        tmp_path / "binary",
        tmp_path / "folder",
        tmp_path / ("n" * 300),
        damaged(tmp_path / "s.db"),
    ):
        with pytest.raises(SourceError) as error:
            list(SubscriptionStore(path).subscriptions())
        assert (error.value.code, error.value.path) == ("unreadable", str(path))


def test_a_store_that_stays_locked_is_a_source_error(
    table: SubscriptionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time that a change waits for others."""
    monkeypatch.setattr("twigcast.subscriptions.store.BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(table.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SourceError, match="locked") as error:
            table.subscribe("a", "//a")
    assert error.value.code == "locked"
    assert table.subscribe("a", "//a") == 1


def test_a_slow_import_does_not_lock_the_store(table: SubscriptionStore) -> None:
    """Subscriptions that come slowly, from a pipe for example, are awaited before the change begins."""
    other = SubscriptionStore(table.path)

    def slow() -> Iterator[Subscription]:
        other.subscribe("b", "//b")
        yield Subscription("a", "//a")

    assert table.import_all(slow()).version == 2


def test_an_import_that_raises_adds_nothing(table: SubscriptionStore) -> None:
    """The error is the caller's own."""

    def some() -> Iterator[Subscription]:
        yield Subscription("a", "//a")
        raise FileNotFoundError("mine")

    with pytest.raises(FileNotFoundError, match="mine"):
        table.import_all(some())
    assert (table.version(), len(table)) == (0, 0)


@pytest.mark.parametrize(
    ("subscription", "code"),
    [
        (Subscription("a", "//a[b='\0']"), "character"),
        (Subscription("a", "//p:a", namespaces={"p": "\ud800"}), "character"),
        (Subscription("a", "//a", namespaces={"p": "u" * 100_000_000}), "too-complex"),
        (Subscription("a" * 100_000, "//a"), "too-complex"),
        (Subscription("a", "//a", "s" * 100_000), "too-complex"),
    ],
    ids=["literal", "namespace", "large namespace", "large id", "large subscriber"],
)
def test_a_bad_subscription_is_not_stored(
    table: SubscriptionStore, subscription: Subscription, code: str
) -> None:
    """It is refused alone."""
    done = table.import_all([Subscription("x", "//x"), subscription])
    assert [each.error.code for each in done.refused] == [code]
    assert [row.id for row in table.subscriptions()] == ["x"]


def test_an_unknown_id_that_sqlite_cannot_take_is_unknown(table: SubscriptionStore) -> None:
    """A lone surrogate cannot be encoded."""
    with pytest.raises(SubscriptionError) as error:
        table.unsubscribe("\ud800")
    assert error.value.code == "unknown-id"


def test_a_store_remembers_prefixes(tmp_path: Path) -> None:
    """Subscriptions that are added later may use them, by every way to add one."""
    SubscriptionStore(tmp_path / "s.db").bind({"n": "urn:n", "m": "urn:m"})
    table = SubscriptionStore.open(tmp_path / "s.db")
    assert table.namespaces == {"m": "urn:m", "n": "urn:n"}
    table.subscribe("a", "//n:x")
    table.put(Subscription("b", "//n:x[m:y]", namespaces={"n": "urn:own"}))
    assert not table.import_all([Subscription("c", "//m:x"), Subscription("d", "//x")]).refused
    assert [each.namespaces for each in table.subscriptions()] == [
        {"n": "urn:n"},
        {"m": "urn:m", "n": "urn:own"},
        {"m": "urn:m"},
        {},
    ]


def test_binding_a_prefix_again_changes_no_subscription(tmp_path: Path) -> None:
    """Each keeps the bindings it was made with; the version stays, since the index is the same."""
    table = SubscriptionStore(tmp_path / "s.db")
    table.bind({"n": "urn:1"})
    version = table.subscribe("a", "//n:x")
    table.bind({"n": "urn:2"})
    table.subscribe("b", "//n:x")
    assert [each.namespaces["n"] for each in table.subscriptions()] == ["urn:1", "urn:2"]
    table.unbind("n")
    assert (table.namespaces, table.version()) == ({}, version + 1)
    assert [render(each.pattern) for each in table.subscriptions()] == ["//Q{urn:1}x", "//Q{urn:2}x"]
    with pytest.raises(PatternError) as caught:
        table.subscribe("c", "//n:x")
    assert caught.value.code == "unbound-prefix"


@pytest.mark.parametrize("binding", [{"": "urn:d"}, {"1": "urn:a"}, {"a": ""}, {"a": "urn:{a}"}])
def test_a_binding_that_no_subscription_could_use_is_refused(tmp_path: Path, binding: dict[str, str]) -> None:
    """The default namespace would change what expressions without prefixes mean."""
    table = SubscriptionStore(tmp_path / "s.db")
    with pytest.raises(ValueError, match=r"expected|default"):
        table.bind({"b": "urn:b"} | binding)
    assert table.namespaces == {}


def test_a_store_from_before_prefixes_were_remembered_is_read(tmp_path: Path) -> None:
    """The table of prefixes is made by the first binding."""
    table = SubscriptionStore(tmp_path / "s.db")
    table.subscribe("a", "//x")
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "namespaces" not in names
    assert table.namespaces == {}
    table.bind({"n": "urn:n"})
    assert table.namespaces == {"n": "urn:n"}
