"""``twigcast match``."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rewriting.mapping_files.publisher import DOCUMENT, publisher
from twigcast import Index

Write = Callable[[str, str | bytes], Path]
RunCommand = Callable[..., Any]


@pytest.fixture
def names(write: Write) -> Path:
    """A file of two subscriptions with ids."""
    return write("names.tsv", "ada\t//p[person='Ada']\nany\t//p\n")


@pytest.fixture
def ada(write: Write) -> Path:
    """A document that matches both subscriptions."""
    return write("ada.xml", "<n><p>By <person>Ada</person></p></n>")


def test_a_line_for_each_match(run: RunCommand, names: Path, ada: Path, write: Write) -> None:
    """When piped, each match is a line of document, tab and id, ordered by document and subscription."""
    bob = write("bob.xml", "<p/>")
    done = run("match", "--subscriptions", names, ada, bob)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.lines == [f"{ada}\tada", f"{ada}\tany", f"{bob}\tany"]


def test_ids_of_lines_are_their_numbers(run: RunCommand, write: Write, ada: Path) -> None:
    """In a file of lines, the line number is the id."""
    assert run("match", "-s", write("s.txt", "//x\n//p\n"), ada).lines == [f"{ada}\t2"]


def test_json_has_an_object_for_each_document(run: RunCommand, names: Path, ada: Path, write: Write) -> None:
    """Documents without a match and bad documents have an object too."""
    none, bad = write("none.xml", "<n/>"), write("bad.xml", "<n><p></n>")
    done = run("match", "--subscriptions", names, "--json", ada, none, bad)
    good, empty, broken = map(json.loads, done.lines)
    assert good == {"document": str(ada), "ids": ["ada", "any"], "error": None}
    assert empty == {"document": str(none), "ids": [], "error": None}
    assert (broken["document"], broken["ids"]) == (str(bad), [])
    assert (broken["error"]["code"], broken["error"]["line"]) == ("malformed", 1)
    assert set(broken["error"]) == {"code", "message", "line", "column"}


def test_count_gives_numbers(run: RunCommand, names: Path, ada: Path, write: Write) -> None:
    """With ``--count`` each document has a line with its number of matches, also if that is 0."""
    none = write("none.xml", "<n/>")
    assert run("match", "-s", names, "--count", ada, none).lines == [f"{ada}\t2", f"{none}\t0"]
    assert json.loads(run("match", "-s", names, "--count", "--json", ada).stdout) == {
        "document": str(ada),
        "count": 2,
        "error": None,
    }


def test_select_gives_the_parts(run: RunCommand, names: Path, ada: Path) -> None:
    """With ``--select`` each part has its byte range, kind and text."""
    done = run("match", "-s", names, "--select", "--id", "ada", "--json", ada)
    (part,) = json.loads(done.stdout)["parts"]
    body = ada.read_bytes()
    assert body[part["start"] : part["end"]] == b"<p>By <person>Ada</person></p>"
    assert (part["id"], part["kind"], part["text"]) == ("ada", "element", "<p>By <person>Ada</person></p>")
    columns = run("match", "-s", names, "--select", "--id", "ada", ada).lines[0].split("\t")
    assert columns == [str(ada), *(str(part[key]) for key in ("id", "start", "end", "kind", "text"))]


def test_structure_says_what_is_certain_and_what_is_open(
    run: RunCommand, names: Path, ada: Path, write: Write
) -> None:
    """A value is not in the structure, so only its place is decided; a bad document is reported."""
    none, bad = write("none.xml", "<n/>"), write("bad.xml", "<n><p></n>")
    done = run("match", "-s", names, "--structure", ada, none, bad)
    assert done.lines == [f"{ada}\tany\tcertain", f"{ada}\tada\topen"]
    assert done.exit_code == 1
    assert "mismatched tag" in done.stderr
    first, second, third = map(
        json.loads, run("match", "-s", names, "--structure", "--json", ada, none, bad).lines
    )
    assert first == {
        "document": str(ada),
        "ids": ["any"],
        "open": ["ada"],
        "structure_bytes": 29,
        "body_bytes": 37,
        "error": None,
    }
    assert (second["ids"], second["open"]) == ([], [])
    assert third["error"]["code"] == "malformed"


def test_a_selected_element_declares_its_namespaces(run: RunCommand, write: Write) -> None:
    """As a document of its own, or as the bare range; the text is that of the document's encoding."""
    body = "<?xml version='1.0' encoding='utf-16'?><p:a xmlns:p='urn:p'><p:b>é</p:b></p:a>".encode("utf-16")
    document, subscriptions = write("a.xml", body), write("s.txt", "//p:b\n")
    command = ("match", "-s", subscriptions, "-n", "p=urn:p", "--select", "--json")
    (part,) = json.loads(run(*command, document).stdout)["parts"]
    assert part["text"] == '<p:b xmlns:p="urn:p">é</p:b>'
    (part,) = json.loads(run(*command, "--parts", "range", document).stdout)["parts"]
    assert part["text"] == "<p:b>é</p:b>"


def test_parts_that_are_too_large_do_not_stop_the_others(run: RunCommand, write: Write) -> None:
    """They are reported with the limit, the other parts are printed, and the exit code is 1."""
    depth = 100
    document = write("a.xml", f"<a>{'x' * 2000}" * depth + "<b/>" + "</a>" * depth)
    subscriptions = write("s.tsv", "all\t//*\none\t//b\n")
    done = run("match", "-s", subscriptions, "--select", document)
    assert (done.exit_code, len(done.lines)) == (1, 1)
    assert done.lines[0].split("\t")[1] == "one"
    assert "a.xml: all: the selected parts" in done.stderr
    assert "part_amplification" in done.stderr
    answer = json.loads(run("match", "-s", subscriptions, "--select", "--json", document).stdout)
    assert [(each["id"], each["error"]["code"]) for each in answer["refused"]] == [("all", "parts-too-large")]
    assert [each["id"] for each in answer["parts"]] == ["one"]
    more = run("match", "-s", subscriptions, "--select", "--limit", "part_amplification=60", document)
    assert (more.exit_code, len(more.lines)) == (0, depth + 2)


def test_the_text_of_a_part_stays_on_its_line(run: RunCommand, names: Path, write: Write) -> None:
    """Line ends, tabs and backslashes are escaped."""
    done = run("match", "-s", names, "--select", write("a.xml", "<p>\n\t\\</p>"))
    assert [line.split("\t")[-1] for line in done.lines] == [r"<p>\n\t\\</p>"]


def test_bad_documents_do_not_stop_the_others(run: RunCommand, names: Path, ada: Path, write: Write) -> None:
    """A bad document is reported on stderr with its position; the others are matched; the exit code is 1."""
    bad, missing = write("bad.xml", "<n>\n <p></n>"), ada.parent / "missing.xml"
    done = run("match", "-s", names, bad, missing, ada)
    assert done.exit_code == 1
    assert done.lines == [f"{ada}\tada", f"{ada}\tany"]
    first, second = done.stderr.splitlines()
    assert first.startswith(f"error: {bad}: ")
    assert "line 2" in first
    assert second == f"error: {missing}: there is no such file (not-found)"


def test_bad_subscriptions_do_not_stop_the_others(run: RunCommand, ada: Path, write: Write) -> None:
    """A bad subscription is reported on stderr with its line and a caret; the exit code is 1."""
    path = write("s.txt", "//p[\n//p\n")
    done = run("match", "-s", path, ada)
    assert (done.exit_code, done.lines) == (1, [f"{ada}\t2"])
    assert done.stderr.splitlines()[0].startswith(f"error: {path}:1: ")
    assert "1 of 2 subscriptions refused" in done.stderr


def test_of_many_bad_subscriptions_some_are_shown(run: RunCommand, ada: Path, write: Write) -> None:
    """Only the first bad lines are reported; the rest is counted, with the command that shows them all."""
    path = write("s.txt", "//p[\n" * 500)
    done = run("match", "-s", path, ada)
    assert len(done.stderr.splitlines()) < 100
    assert f"twigcast check {path}" in done.stderr


def test_stdin_is_a_document(run: RunCommand, names: Path) -> None:
    """``-`` reads a document from stdin, compressed or not."""
    for body in (b"<p/>", gzip.compress(b"<p/>")):
        assert run("match", "-s", names, "-", stdin=body).lines == ["-\tany"]


def test_directories_are_searched(run: RunCommand, names: Path, write: Write) -> None:
    """A directory is searched recursively for documents."""
    write("feed/deep/a.xml", "<p/>")
    write("feed/b.xml.gz", gzip.compress(b"<p/>"))
    folder = names.parent / "feed"
    assert run("match", "-s", names, folder).lines == [f"{folder}/b.xml.gz\tany", f"{folder}/deep/a.xml\tany"]


def test_prefixes_are_bound_by_options_and_lines(run: RunCommand, write: Write) -> None:
    """Options bind prefixes and the default namespace for all lines; bindings of a line are for that line."""
    document = write("a.xml", "<a xmlns='urn:a' xmlns:b='urn:b'><b:c/></a>")
    path = write("s.tsv", "one\t//x:c\nown\t//x:a\tx=urn:a\nplain\t/a\n")
    assert run("match", "-s", path, "--namespace", "x=urn:b", document).lines == [
        f"{document}\tone",
        f"{document}\town",
    ]
    assert f"{document}\tplain" in run("match", "-s", path, "--default-namespace", "urn:a", document).lines


def test_limits_are_options(run: RunCommand, names: Path, write: Write) -> None:
    """A document that exceeds a limit is refused with the code of that limit."""
    document = write("a.xml", "<a><b><p/></b></a>")
    for option, code in (("--max-depth", "too-deep"), ("--max-bytes", "too-large")):
        done = run("match", "-s", names, option, 2, "--json", document)
        assert (done.exit_code, json.loads(done.stdout)["error"]["code"]) == (1, code)


def test_on_a_terminal_the_answer_is_a_table(
    run: RunCommand, names: Path, ada: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal there is a table with the number of matches, the first ids, and errors."""
    monkeypatch.setattr("twigcast.cli.match._streams", lambda _: False)
    bad = write("bad.xml", "<n>")
    done = run("match", "-s", names, "--show", 1, ada, bad)
    text = " ".join(done.stdout.split())
    assert "document matches ids" in text
    assert "2 ada, … 1 more" in text
    for option in ("--count", "--select"):
        assert "document" in run("match", "-s", names, option, ada, bad).stdout
    shown = " ".join(run("match", "-s", names, "--structure", ada, bad).stdout.split())
    assert "document matches open structure ids" in shown
    assert "1 1 29 of 37 bytes any; open: ada" in shown


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--subscriptions", "s.txt", "--index", "s.tci"],
        ["--subscriptions", "s.txt", "--count", "--select"],
        ["--subscriptions", "s.txt", "--count", "--structure"],
        ["--subscriptions", "s.txt", "--select", "--structure"],
        ["--subscriptions", "s.txt", "--id", "a"],
        ["--subscriptions", "s.txt", "--parts", "range"],
    ],
)
def test_options_that_exclude_each_other_are_errors_of_usage(run: RunCommand, options: list[str]) -> None:
    """Contradictory options give exit code 2 before anything is read."""
    done = run("match", *options, "a.xml")
    assert (done.exit_code, done.stdout) == (2, "")


def test_names_cannot_break_lines_or_the_terminal(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """Tabs, line ends and escape sequences in ids are escaped but in JSON, those in paths everywhere."""
    index = tmp_path / "i.tci"
    Index([("a\tb\nc", "//a"), ("\u202ex", "//a")]).save(index)
    body = write("d\x1b[2J.xml", "<a>\u009b</a>")
    done = run("match", "--index", index, body)
    shown = str(body).replace("\x1b", r"\x1b")
    assert done.lines == [f"{shown}\ta\\tb\\nc", f"{shown}\t\\u202ex"]
    (found,) = map(json.loads, run("match", "--json", "--index", index, body).stdout.splitlines())
    assert (found["document"], found["ids"]) == (shown, ["a\tb\nc", "\u202ex"])
    parts = run("match", "--select", "--index", index, body).stdout
    assert not re.search("[\x1b\u009b\u202e]", parts)


@pytest.mark.data
def test_invoices_are_matched_by_prefixes_that_the_file_binds(
    run: RunCommand, write: Write, data: Path
) -> None:
    """UBL has every element in a namespace: without bindings nothing can be said about an invoice."""
    invoices = sorted((data / "invoices").glob("01.0[12]a-INVOICE.*.xml"))
    urn = "urn:oasis:names:specification:ubl:schema:xsd:"
    path = write(
        "invoices.tsv",
        f"# UBL 2\n# namespace ={urn}Invoice-2\n"
        f"# namespace cac={urn}CommonAggregateComponents-2\n"
        f"# namespace cbc={urn}CommonBasicComponents-2\n"
        "any\t/Invoice\n"
        "euro\t/Invoice[cbc:DocumentCurrencyCode = 'EUR']\n"
        "seller\t//cac:AccountingSupplierParty//cbc:RegistrationName\tcac=urn:other\n",
    )
    done = run("match", "-s", path, *invoices)
    assert done.lines == [
        f"{invoice}\t{id}" for invoice in invoices if ".ubl." in invoice.name for id in ("any", "euro")
    ]
    own = write("own.tsv", path.read_text().replace("\tcac=urn:other", ""))
    selected = run("match", "-s", own, "--select", "--id", "seller", *invoices)
    assert len(selected.lines) == 2
    assert all("RegistrationName" in line for line in selected.lines)


def test_a_subscription_that_takes_too_much_work_is_reported(run: RunCommand, write: Write) -> None:
    """It is neither a match nor forgotten; the others match, and the limit can be raised."""
    subscriptions = write("s.tsv", "costly\t//a[count(.//a[b]) > 3]\nplain\t//b\n")
    document = write("d.xml", "<a>" * 200 + "<b/>" + "</a>" * 200)
    tight = ("--limit", "work=0.01", "--limit", "work_threshold=10")
    for more in ((), ("--count",), ("--select",), ("--json",)):
        done = run("match", "-s", subscriptions, *tight, *more, document)
        assert done.exit_code == 1
        assert f"error: {document}: costly: " in done.stderr
        assert "(limit work); --limit work=N raises it (too-costly)" in done.stderr
    assert run("match", "-s", subscriptions, *tight, document).lines == [f"{document}\tplain"]
    (found,) = map(
        json.loads, run("match", "--json", "-s", subscriptions, *tight, document).stdout.splitlines()
    )
    assert [(each["id"], each["error"]["code"]) for each in found["refused"]] == [("costly", "too-costly")]
    done = run("match", "-s", subscriptions, "--limit", "work=1000", document)
    assert (done.exit_code, done.lines) == (0, [f"{document}\tplain"])


@pytest.mark.parametrize(
    "setting", ["work", "work=", "work=x", "work=-1", "work=nan", "deep=3", "depth=1.5", "depth=1e99"]
)
def test_a_limit_that_is_none_is_refused(run: RunCommand, write: Write, setting: str) -> None:
    """The message says what was expected, and the names of the limits."""
    done = run("match", "-s", write("s.txt", "//a"), "--limit", setting, write("d.xml", "<a/>"))
    assert done.exit_code == 2
    assert "expected" in done.stderr


def test_documents_of_many_schemas_are_matched_by_mappings(
    run: RunCommand, write: Write, tmp_path: Path
) -> None:
    """The root element decides on the mapping; parts are those of the original, JSON names the mapping."""
    mappings = publisher(tmp_path / "mappings").parent
    subscriptions = write("s.txt", "//course[instructor/name='Ailamaki']\n//instructor\n")
    document = write("cmu.xml", DOCUMENT)
    assert run("match", "-s", subscriptions, document).stdout == ""
    done = run("match", "-s", subscriptions, "--mappings", mappings, document)
    assert (done.exit_code, done.lines) == (0, [f"{document}\t1", f"{document}\t2"])
    done = run("match", "-s", subscriptions, "--mappings", mappings, "--select", "--id", "2", document)
    assert [line.split("\t")[-1] for line in done.lines] == ["<Lecturer>Ailamaki</Lecturer>"]
    done = run("match", "-s", subscriptions, "--mappings", mappings, "--json", document)
    assert json.loads(done.stdout)["mapping"].startswith("cmu@1#")


def test_a_document_without_a_mapping_is_reported(run: RunCommand, write: Write, tmp_path: Path) -> None:
    """The others are matched; --unknown as-is matches it as it is."""
    mappings = publisher(tmp_path / "mappings").parent
    write("feed/a.xml", "<syllabus><course/></syllabus>")
    write("feed/b.xml", DOCUMENT)
    arguments = ("match", "-s", write("s.txt", "//course\n"), "--mappings", mappings, tmp_path / "feed")
    done = run(*arguments)
    assert done.exit_code == 1
    assert [line.split("\t")[0][-5:] for line in done.lines] == ["b.xml"]
    assert "no mapping for the root element 'syllabus'; there are cmu" in done.stderr
    done = run(*arguments, "--unknown", "as-is")
    assert [line.split("\t")[0][-5:] for line in done.lines] == ["a.xml", "b.xml"]


@pytest.mark.parametrize(
    "arguments", [("-s", "-", "--count", "-"), ("-s", "-", "-"), ("-s", "-", "--cores", "1", "-")]
)
def test_stdin_can_be_read_only_once(run: RunCommand, arguments: tuple[str, ...]) -> None:
    """For the subscriptions or for one document; what else asks for it gets a sentence."""
    done = run("match", *arguments, stdin=b"//a\n")
    assert done.exit_code == 1
    assert "error: -: standard input can be read only once: give a file in place of one -" in done.stderr
    assert "internal" not in done.stderr


def test_a_second_document_from_stdin_is_an_error_of_its_own(run: RunCommand, write: Write) -> None:
    """The first one is matched, and each has a line of JSON."""
    done = run("match", "-s", write("s.txt", "//a\n"), "--json", "-", "-", stdin=b"<a/>")
    answers = [json.loads(line) for line in done.lines]
    assert [answer["ids"] for answer in answers] == [["1"], []]
    assert "only once" in answers[1]["error"]["message"]


@pytest.mark.parametrize("name", ["zip", "tar", "xz", "bz2"])
def test_an_archive_in_place_of_a_document_is_named(run: RunCommand, write: Write, name: str) -> None:
    """With what to do, and a line of JSON; the other documents are matched."""
    packed = {
        "zip": b"PK\x03\x04\x14\x00\x00\x00",
        "tar": b"d.xml".ljust(257, b"\x00") + b"ustar\x0000",
        "xz": lzma.compress(b"<a/>"),
        "bz2": bz2.compress(b"<a/>"),
    }[name]
    s, bad, good = write("s.txt", "//a\n"), write(f"bad.{name}", packed), write("good.xml", "<a/>")
    for options in ((), ("--cores", "1")):
        done = run("match", "-s", s, "--json", *options, bad, good)
        answers = [json.loads(line) for line in done.lines]
        assert [answer["ids"] for answer in answers] == [[], ["1"]]
        assert answers[0]["error"]["code"] == "malformed"
        assert re.search(r"this is (a|compressed with) .*: (extract|decompress) it first", done.stderr)


def test_an_empty_name_is_told(run: RunCommand, write: Write) -> None:
    """As a variable of a shell that is not set."""
    done = run("match", "-s", write("s.txt", "//a\n"), "")
    assert "a name is empty" in done.stderr
