"""Reading subscription files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from twigcast.errors import SourceError
from twigcast.pattern import Content, Subscription
from twigcast.subscriptions.files import Format, format_of, read_subscriptions

Write = Callable[[str, str | bytes], Path]


def read(path: Path, format: Format | None = None) -> list[tuple[object, ...]]:
    return [
        (line, entry.id, entry.text) if isinstance(entry, Subscription) else (line, entry.code)
        for line, entry in read_subscriptions(path, format)
    ]


def test_lines_have_their_number_as_id(write: Write) -> None:
    """In a file of lines the id is the line number; comments and blank lines count, but are skipped."""
    assert read(write("s.txt", "//a\n\n# names\n  //b  \n")) == [(1, "1", "//a"), (4, "4", "//b")]


def test_tsv_has_id_and_xpath(write: Write) -> None:
    """In TSV the first column is the id."""
    assert read(write("s.tsv", "ada\t//a\nbob\t//b\n")) == [(1, "ada", "//a"), (2, "bob", "//b")]


def test_tsv_may_have_a_header(write: Write) -> None:
    """A first line with column names is skipped."""
    assert read(write("s.tsv", "id\txpath\nada\t//a\n")) == [(2, "ada", "//a")]


def test_tsv_binds_prefixes_in_its_third_column(write: Write) -> None:
    """The third column holds prefix=uri pairs."""
    ((_, line),) = read_subscriptions(write("s.tsv", "ada\t//x:a\tx=urn:x y=urn:y\n"))
    assert isinstance(line, Subscription)
    assert line.namespaces == {"x": "urn:x", "y": "urn:y"}


@pytest.mark.parametrize(
    ("columns", "subscriber", "deliver"),
    [
        ("x=urn:x y=urn:y", "ada", "document"),
        ("x=urn:x\ty=urn:y", "ada", "document"),
        ("x=urn:x\ty=urn:y\tdesk", "desk", "document"),
        ("x=urn:x\ty=urn:y\t\tpart", "ada", "part"),
        ("\tx=urn:x y=urn:y\tdesk\tpart", "desk", "part"),
        ("x=urn:x y=urn:y\tcn=desk", "cn=desk", "document"),
    ],
)
def test_a_second_binding_is_not_a_subscriber(
    write: Write, columns: str, subscriber: str, deliver: Content
) -> None:
    """Bindings of a line of TSV are separated by spaces or by tabs."""
    bound = {"x": "urn:x", "y": "urn:y"}
    assert list(read_subscriptions(write("s.tsv", f"ada\t//x:a\t{columns}\n"))) == [
        (1, Subscription("ada", "//x:a", subscriber, deliver, bound))
    ]


@pytest.mark.parametrize("subscriber", ["x=urn:x", "=urn:x", "x=https://example.org/ns desk"])
def test_no_subscriber_can_be_named_like_a_binding(write: Write, subscriber: str) -> None:
    """TSV could not tell them apart, so JSONL and the store refuse such a name, too."""
    line = json.dumps({"id": "ada", "xpath": "//a", "subscriber": subscriber})
    assert read(write("s.jsonl", line + "\n")) == [(1, "unsavable-id")]


@pytest.mark.parametrize("name", ["s.tsv", "s.txt", "subscriptions"])
def test_a_line_of_a_file_binds_prefixes_for_the_lines_that_follow(write: Write, name: str) -> None:
    """A later line may bind a prefix again, and a subscription keeps only the bindings that it uses."""
    ids = {"s.txt": ""}.get(name, "{}\t")
    texts = ["//x:a", "//y:b[x:c]", "//d"]
    lines = [ids.format(number) + text for number, text in enumerate(texts)]
    content = "# namespace x=urn:1\n{}\n#namespace  x=urn:2 y=urn:y\n{}\n  # namespace =urn:d\n{}\n"
    found = [entry for _, entry in read_subscriptions(write(name, content.format(*lines)))]
    assert [(each.text, each.namespaces) for each in found if isinstance(each, Subscription)] == [
        ("//x:a", {"x": "urn:1"}),
        ("//y:b[x:c]", {"x": "urn:2", "y": "urn:y"}),
        ("//d", {"": "urn:d"}),
    ]


def test_bindings_of_a_line_precede_those_of_the_file_and_these_the_defaults(write: Write) -> None:
    """The nearest binding counts; the reader tells which hold at the end."""
    path = write("s.tsv", "1\t//x:a[y:a]\n# namespace x=urn:file\n2\t//x:a[y:a]\n3\t//x:a\tx=urn:line\n")
    reader = read_subscriptions(path, namespaces={"x": "urn:all", "y": "urn:y"})
    assert [entry.namespaces for _, entry in reader if isinstance(entry, Subscription)] == [
        {"x": "urn:all", "y": "urn:y"},
        {"x": "urn:file", "y": "urn:y"},
        {"x": "urn:line"},
    ]
    assert reader.namespaces == {"x": "urn:file", "y": "urn:y"}


def test_lines_that_use_the_same_prefixes_share_one_map(write: Write) -> None:
    """A file may have a million lines."""
    path = write("s.txt", "//b\n//c\n# namespace x=urn:x\n//x:b\n//b\n//x:c\n//c\n")
    found = [entry for _, entry in read_subscriptions(path) if isinstance(entry, Subscription)]
    assert len({id(each.namespaces) for each in found}) == 3


@pytest.mark.parametrize(
    "rest",
    ["", " ", " x", " x=", " 1=urn:a", " x:y=urn:a", " x=urn:{a}", ": x=urn:a", " x=a x=b", " xml=urn:a"],
)
@pytest.mark.parametrize("name", ["s.tsv", "s.txt"])
def test_a_malformed_binding_is_an_error_among_the_others(write: Write, name: str, rest: str) -> None:
    """Otherwise every line that needs the prefix would be refused without telling why."""
    (first, second) = read_subscriptions(write(name, f"# namespace{rest}\nada\t//a\n"))
    assert isinstance(first[1], SourceError)
    assert (first[0], first[1].code, first[1].line) == (1, "bad-line", 1)
    assert "# namespace p=urn:example" in first[1].message
    assert isinstance(second[1], Subscription)


@pytest.mark.parametrize(
    "comment", ["# namespaces x", "# the namespace x", "# namespace-aware", "## namespace"]
)
def test_other_comments_bind_nothing(write: Write, comment: str) -> None:
    """Only the word itself, at the beginning, is an instruction."""
    assert read(write("s.txt", f"{comment}\n//a\n")) == [(2, "2", "//a")]


def test_tsv_may_say_who_subscribes_and_what_to_deliver(write: Write) -> None:
    """The fourth column is the subscriber, the fifth is what to deliver; either may be empty."""
    found = read_subscriptions(write("s.tsv", "ada\t//a\t\tdesk\tpart\nbob\t//b\t\tdesk\n"))
    assert list(found) == [
        (1, Subscription("ada", "//a", "desk", "part")),
        (2, Subscription("bob", "//b", "desk")),
    ]


@pytest.mark.parametrize(
    "bad",
    ["ada", "ada\t", "\t//a", "ada\t//a\tx", "ada\t//a\tx=u\tdesk\tall", "ada\t//a\tx=u\tdesk\tpart\tmore"],
)
def test_a_bad_line_of_tsv_is_an_error_among_the_others(write: Write, bad: str) -> None:
    """A line with missing columns is reported with its number, and the next line is read."""
    assert read(write("s.tsv", f"{bad}\nbob\t//b\n")) == [(1, "bad-line"), (2, "bob", "//b")]


def test_jsonl_has_objects(write: Write) -> None:
    """In JSONL ids are strings or whole numbers, and namespaces are optional."""
    path = write(
        "s.jsonl", '{"id": 7, "xpath": "//a"}\n{"id": "x", "xpath": "//p:a", "namespaces": {"p": "u"}}\n'
    )
    assert list(read_subscriptions(path)) == [
        (1, Subscription(7, "//a")),
        (2, Subscription("x", "//p:a", namespaces={"p": "u"})),
    ]


def test_jsonl_may_say_who_subscribes_and_what_to_deliver(write: Write) -> None:
    """The keys are ``subscriber`` and ``deliver``."""
    path = write("s.jsonl", '{"id": "a", "xpath": "//a", "subscriber": "desk", "deliver": "part"}')
    assert list(read_subscriptions(path)) == [(1, Subscription("a", "//a", "desk", "part"))]


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[]",
        '{"xpath": "//a"}',
        '{"id": true, "xpath": "//a"}',
        '{"id": 1}',
        '{"id": 1, "xpath": "//a", "namespaces": {"p": 1}}',
        '{"id": 1, "xpath": "//a", "subscriber": 1}',
        '{"id": 1, "xpath": "//a", "deliver": "all"}',
        "[" * 100_000,
    ],
)
def test_a_bad_line_of_jsonl_is_an_error_among_the_others(write: Write, bad: str) -> None:
    """A line that is not a subscription object is reported with its number, and the next line is read."""
    assert read(write("s.jsonl", f'{bad}\n{{"id": 2, "xpath": "//b"}}\n')) == [(1, "bad-line"), (2, 2, "//b")]


def test_a_line_that_is_not_utf8_is_an_error_among_the_others(write: Write) -> None:
    """Bytes that are not UTF-8 affect only their own line."""
    assert read(write("s.txt", b"//a\n//\xff\n//b\n")) == [(1, "1", "//a"), (2, "encoding"), (3, "3", "//b")]


def test_a_byte_order_mark_and_windows_line_ends_are_dropped(write: Write) -> None:
    """Files written on Windows are read like others."""
    assert read(write("s.txt", b"\xef\xbb\xbf//a\r\n//b\r\n")) == [(1, "1", "//a"), (2, "2", "//b")]


@pytest.mark.parametrize(
    ("content", "id"), [("//a\n", "1"), ("ada\t//a\n", "ada"), ('{"id": "bob", "xpath": "//a"}', "bob")]
)
def test_without_a_telling_name_the_first_line_tells_the_format(write: Write, content: str, id: str) -> None:
    """A brace means JSONL, a tab means TSV, and anything else means lines."""
    assert [entry[1] for entry in read(write("subscriptions", content))] == [id]


def test_the_first_line_is_looked_for_after_comments(write: Write) -> None:
    """Comments are skipped when the format is detected."""
    assert read(write("subscriptions", "# ours\nada\t//a\n")) == [(2, "ada", "//a")]


def test_the_format_given_wins_over_the_name(write: Write) -> None:
    """The given format overrides the extension."""
    assert read(write("s.txt", "ada\t//a\n"), Format.tsv) == [(1, "ada", "//a")]


def test_an_extension_tells_the_format_also_when_compressed() -> None:
    """The extension before ``.gz`` counts."""
    assert [format_of(Path(name)) for name in ("a.txt.gz", "a.TSV", "a.jsonl.gz", "a.gz")] == [
        Format.lines,
        Format.tsv,
        Format.jsonl,
        None,
    ]


def test_compressed_files_are_read(write: Write) -> None:
    """A file that ends in ``.gz`` is decompressed."""
    assert read(write("s.txt.gz", gzip.compress(b"//a\n"))) == [(1, "1", "//a")]


@pytest.mark.parametrize(
    "content", [b"//a\n", gzip.compress(b"//a\n" * 1000)[:-12]], ids=["not compressed", "cut off"]
)
def test_a_damaged_compressed_file_is_refused(write: Write, content: bytes) -> None:
    """A truncated file, or one that is not gzip, cannot be read."""
    with pytest.raises(SourceError) as caught:
        read(write("s.txt.gz", content))
    assert caught.value.code == "unreadable"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """The error names the missing file."""
    with pytest.raises(SourceError) as caught:
        read(tmp_path / "nothing.txt")
    assert (caught.value.code, caught.value.path) == ("not-found", str(tmp_path / "nothing.txt"))


def test_an_empty_file_has_no_subscriptions(write: Write) -> None:
    """An empty file is not an error."""
    assert read(write("s.txt", "\n\n")) == []


def test_what_a_line_does_not_say_holds_for_all(write: Write) -> None:
    """Prefixes, subscriber and delivery of a line override the defaults for all lines."""
    path = write("s.tsv", "ada\t//x:a\tx=urn:mine\nbob\t//y:b\t\tdesk\tdocument\n")
    common = {"x": "urn:common", "y": "urn:y"}
    assert list(read_subscriptions(path, namespaces=common, subscriber="all", deliver="part")) == [
        (1, Subscription("ada", "//x:a", "all", "part", {"x": "urn:mine"})),
        (2, Subscription("bob", "//y:b", "desk", "document", {"y": "urn:y"})),
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (r'{"id": "a\u0000", "xpath": "//a"}', "character"),
        (r'{"id": "\ud800", "xpath": "//a"}', "character"),
        (r'{"id": "a", "xpath": "//a", "subscriber": "\ud800"}', "character"),
        (r'{"id": "a\tb", "xpath": "//a"}', "unsavable-id"),
        (r'{"id": "", "xpath": "//a"}', "unsavable-id"),
        (r'{"id": "bob", "xpath": "//a"}', "duplicate-id"),
        (r'{"id": 1, "xpath": "//a"}', "duplicate-id"),
        ('{"id": "a", "xpath": "//a", "namespaces": {"p": "' + "u" * 50_000 + '"}}', "too-complex"),
        ('{"id": ' + "9" * 5000 + ', "xpath": "//a"}', "bad-line"),
        ('{"id": "a", "xpath": "' + "a" * 2_000_000 + '"}', "bad-line"),
        ("x" * 5_000_000, "bad-line"),
    ],
)
def test_a_line_that_no_store_takes_is_an_error_among_the_others(write: Write, line: str, code: str) -> None:
    """Names and sizes are checked here, so that all commands agree about a file."""
    first = '{"id": "bob", "xpath": "//b"}\n{"id": "1", "xpath": "//b"}\n'
    found = read(write("s.jsonl", f'{first}{line}\n{{"id": "eve", "xpath": "//e"}}\n'))
    assert found[2:] == [(3, code), (4, "eve", "//e")]


def test_a_name_that_tsv_cannot_have_is_an_error_too(write: Write) -> None:
    """A NUL is not white space."""
    assert read(write("s.tsv", b"a\x00\t//a\nbob\t//b\n")) == [(1, "character"), (2, "bob", "//b")]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("//a\n//b\n".encode("utf-16"), "UTF-16"),
        ("//a\n//b\n".encode("utf-16-be"), "UTF-16"),
        (b"SQLite format 3\x00" + bytes(100), "a subscription store: twigcast subscriptions --store"),
        (b"PK\x03\x04\x14\x00", "a zip archive"),
        (gzip.compress(b"//a\n"), "compressed with gzip"),
    ],
)
def test_a_file_of_another_kind_is_one_error(tmp_path: Path, content: bytes, what: str) -> None:
    """It is named, in place of an error for each of its lines."""
    path = tmp_path / "s.txt"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=what) as caught:
        list(read_subscriptions(path))
    assert caught.value.code == "encoding"
