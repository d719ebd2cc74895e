"""Time and memory of the kernel grow in proportion to its input, also for documents made to be slow.

Most tests compare two documents of the same run: the same text or the same tree, once in few elements and
once in many nested ones.  The bounds are far from what is measured, and far from what the defect took.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from twigcast import DocumentLimits, Index, Tuning
from twigcast.document import read
from twigcast.errors import DocumentError
from twigcast.pattern import matches, parse

NORMAL = b"<r><a x='1'><b>one</b><c/></a><p><q>2</q></p></r>"


def seconds(run: Callable[[], object], times: int = 3) -> float:
    """The least CPU time of a few runs."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        run()
        taken.append(time.process_time() - began)
    return min(taken)


def nested(depth: int, inner: str) -> bytes:
    return f"{'<e>' * depth}{inner}{'</e>' * depth}".encode()


def tree(depth: int) -> str:
    """A binary tree in which every element has a label path of its own."""
    below = "<a/><b/>"
    for _ in range(depth):
        below = f"<p>{below}</p><q>{below}</q>"
    return below


def many_paths(elements: int) -> bytes:
    chance, out, path = Random(1), ["<r>"], []
    for _ in range(elements):
        if path and (len(path) > 40 or chance.random() < 0.45):
            out.append(f"</{path.pop()}>")
        else:
            path.append(chance.choice("abcpq"))
            out.append(f"<{path[-1]}>")
    return "".join([*out, *(f"</{name}>" for name in reversed(path)), "</r>"]).encode()


# Nested elements


@pytest.mark.parametrize(
    ("subscriptions", "text"),
    [
        (["//*[contains(., 'a')]"], "a" * 200_000),
        ([f"//*[contains(., '{'a' * n}')]" for n in range(1, 100)], "a" * 20_000),
        ([f"//*[contains(., 'x{n}')]" for n in range(60)], "".join(f"x{n % 60} " for n in range(20_000))),
        (["//*[. = 'abc']", f"//*[. = '{'b' * 8000}']"], "a" * 1_000_000),
        (["//*[. > 5]"], "1" * 200_000),
        (["//*[. > 5]"], " " * 200_000),
        (["//*[. > 5]"], "12 " * 100_000),
        (["//*[string-length(.) > 5]"], "1" * 500_000),
        ([f"//*[starts-with(., '{'a' * n}b')]" for n in range(1, 1000)], "a" * 200_000),
    ],
)
def test_the_text_of_nested_elements_is_read_once(subscriptions: list[str], text: str) -> None:
    """A text inside 900 elements takes about as long as inside 9."""
    flat, deep = nested(9, text), nested(900, text)
    index = Index(enumerate(subscriptions))
    assert index.match(flat).error is None
    least = 0.002  # what 900 elements may take anyway
    assert seconds(lambda: index.match(deep), 2) < 10 * (seconds(lambda: index.match(flat)) + least)


@pytest.mark.parametrize(
    "subscriptions",
    [
        ["//*[.//a][.//b]/zz", "//p", "//q"],
        ["//*[.//*[.//a][.//b]]/zz", "//p", "//q"],
        [*(f"//*[{'*/' * n}p//a]/zz" for n in range(1, 11)), "//q"],
        ["//*//*//*//*[a]//*[b]"],
    ],
)
def test_open_elements_do_not_multiply_the_cost_of_what_is_below_them(subscriptions: list[str]) -> None:
    """A tree of 4,000 label paths takes about as much memory and time below 900 elements as below 9."""
    chance = Random(4)
    names = [chance.choice("ape") for _ in range(900)]

    def below(depth: int) -> bytes:
        path = names[:depth]
        return "".join(
            [*(f"<{name}>" for name in path), tree(10), *(f"</{name}>" for name in reversed(path))]
        ).encode()

    taken, memory = [], []
    for body in (below(9), below(900)):
        index = Index(enumerate(subscriptions))
        taken.append(seconds(lambda body=body, index=index: index.match(body), 1))
        memory.append(index.stats().cache_bytes)
    assert memory[1] < 6 * memory[0] + 2_000_000
    assert taken[1] < 10 * (taken[0] + 0.01)


def test_an_occurrence_takes_no_memory() -> None:
    """60 strings that occur 250,000 times in a text below 900 elements: memory for the text, not for more."""
    index = Index([(n, f"//*[contains(., 'x{n}')]") for n in range(60)])
    text = "".join(f"x{n % 60} " for n in range(250_000))
    assert len(index.match(nested(900, text))) == 60
    assert index.stats().cache_bytes < 8 * len(text)
    for _ in range(2):
        index.match(NORMAL)
    assert index.stats().cache_bytes < 2_000_000


# Many subscriptions that hold at once


@pytest.mark.parametrize(
    ("condition", "element"),
    [
        ("//r[a/@x > {}]/d", "<a x='{}'/>"),
        ("//a[@x > {}]", "<a x='{}'/>"),
        ("//r[a > {}]/d", "<a>{}</a>"),
        ("//r[a/text() < {}]/d", "<a>{}</a>"),
        ("//r[a/@* != '{}']/d", "<a x='{}'/>"),
    ],
)
def test_thresholds_are_counted_by_rank(condition: str, element: str) -> None:
    """8,000 thresholds of which thousands hold take not much longer than 80 of which dozens hold."""
    chance = Random(3)

    def document(most: int) -> bytes:
        return f"<r>{''.join(element.format(chance.randrange(most)) for _ in range(1000))}</r>".encode()

    few = Index([(n, condition.format(n)) for n in range(80)])
    many = Index([(n, condition.format(n)) for n in range(8000)])
    few_body, many_body = document(80), document(8000)
    assert few.match(few_body).error is None
    bound = 30 * (seconds(lambda: few.match(few_body)) + 0.0005)
    assert seconds(lambda: many.match(many_body)) < bound


def test_many_atoms_of_one_element_are_not_sorted_again_and_again() -> None:
    """Twenty thousand branches that hold at the root, found again and again, take linear time."""

    def taken(branches: int) -> float:
        index = Index([(n, f"/r[.//s{n // 100}[@x{n % 100}]]/zz") for n in range(branches)])
        every = " ".join(f"x{n}=''" for n in range(100))
        elements = "".join(f"<s{n} {every}/>" for n in range(branches // 100))
        body = f"<r>{elements * 4}</r>".encode()
        assert index.match(body).error is None
        return seconds(lambda: index.match(body))

    assert taken(20_000) < 60 * taken(2_000)


# What stays after a document


@pytest.mark.parametrize(
    "hostile",
    [
        "<r>" + "".join(f"<name{n} attribute{n}='{n}'/>" for n in range(100_000)) + "</r>",
        "<r>" + "".join(f"<a x='value {n}'/>" for n in range(100_000)) + "</r>",
        "<r>" + "".join(f"<{'n' * 2000}{n}/>" for n in range(2000)) + "</r>",
        many_paths(200_000).decode(),
    ],
    ids=["names", "values", "long names", "paths"],
)
def test_a_large_document_slows_no_later_one(hostile: str) -> None:
    """Later documents take the time that they took before."""
    index = Index(enumerate(["//a[b]/c", "//*[@x]", "//p//q", "//*[.//a][.//b]/zz", "//a[@x='1']"]))

    def normal() -> None:
        for _ in range(100):
            index.match(NORMAL)

    before = seconds(normal, 5)
    assert index.match(hostile.encode()).error is None
    normal()
    assert seconds(normal, 5) < 4 * before + 0.001


@pytest.mark.parametrize("cache_bytes", [1 << 20, 8 << 20, 64 << 20])
def test_a_full_cache_gives_its_memory_back(cache_bytes: int) -> None:
    """After a document with 100,000 label paths the caches become small again, and stay unflushed."""
    index = Index(
        enumerate(["//a//b[c]", "//b//c[a]", "//*[.//p/q]/zz", "//p//q//a//b/c"]),
        tuning=Tuning(cache_bytes=cache_bytes),
    )
    for _ in range(10):
        index.match(NORMAL)
    small = index.stats().cache_bytes
    index.match(many_paths(300_000))
    for _ in range(130):
        index.match(NORMAL)
    later = index.stats()
    assert later.cache_bytes < small + min(cache_bytes // 2, 33_000_000)
    for _ in range(50):
        index.match(NORMAL)
    assert index.stats().flushes - later.flushes <= 1


def test_label_paths_that_come_again_survive_a_full_cache() -> None:
    """Eviction keeps what two documents had: the next such document has no new label path."""
    index = Index(enumerate(["//a//b[c]", "//p//q//a//b/c"]), tuning=Tuning(cache_bytes=1 << 20))
    for _ in range(3):
        index.match(NORMAL)
    index.match(many_paths(100_000))
    index.match(NORMAL)
    before = index.stats()
    assert before.flushes
    index.match(NORMAL)
    assert index.stats().path_nodes == before.path_nodes


@pytest.mark.slow
def test_resident_memory_comes_back() -> None:
    """The process returns the memory of one hostile document to the system, and reports what it holds."""
    program = """
from test_growth import NORMAL, many_paths, nested
from twigcast import Index
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
index = Index(enumerate(["//a//b[c]", "//*[.//p/q]/zz", "//*[contains(., 'abc')]", "//*[. > 5]"]))
index.match(NORMAL)
bodies = [many_paths(600_000), nested(900, "abc" * 100_000)]
start = resident()
for body in bodies:
    index.match(body)
    for _ in range(130):
        index.match(NORMAL)
print(resident() - start)
"""
    paths = [str(Path(__file__).parent), *(str(Path(path).resolve()) for path in sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    assert int(done.stdout) < 40_000_000


# Chosen input


def test_names_chosen_to_collide_do_not() -> None:
    """Names that collide under a hash without a key are names like others."""
    numpy = pytest.importorskip("numpy")
    letters = numpy.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", dtype=numpy.uint8)
    chance = numpy.random.default_rng(1)
    chosen: list[bytes] = []
    while len(chosen) < 6000:
        names = letters[chance.integers(0, len(letters), (1 << 20, 7))]
        words = numpy.zeros((1 << 20, 8), dtype=numpy.uint8)
        words[:, :7] = names
        x = words.view("<u8").ravel() ^ numpy.uint64(0x2545F4914F6CDD1D ^ 7)
        x ^= x >> numpy.uint64(32)
        x *= numpy.uint64(0x9E3779B97F4A7C15)
        x ^= x >> numpy.uint64(29)
        chosen += [bytes(name) for name in names[(x & numpy.uint64(0xFFF)) == 0]]
    others = [bytes(name) for name in names[: len(chosen)]]

    def taken(names: list[bytes]) -> float:
        body = b"<r>%s</r>" % b"".join(b"<%s/>" % name for name in names)
        return seconds(lambda: Index([(0, "//a[b]"), (1, "//*[@x]")]).match(body), 5)

    assert taken(chosen) < 2 * taken(others)


# What no proportion can be promised for


def test_a_document_that_takes_too_many_steps_is_an_error_value() -> None:
    """The error has a code and names the limit; the other documents of the batch are matched."""
    subscriptions = [(n, f"//r[a/@x != {n}]/d") for n in range(2000)]
    body = b"<r>%s<d/></r>" % b"".join(b"<a x='%d'/>" % n for n in range(3000))
    limits = DocumentLimits(matching_work=10.0, matching_work_threshold=100_000)
    index = Index(subscriptions, limits=limits)
    error = index.match(body).error
    assert isinstance(error, DocumentError)
    assert error.code == "too-costly"
    assert "matching_work: 10.0" in str(error)
    batch = index.match_batch([NORMAL, body, b"<r><a x='1'/><d/></r>"])
    assert [each and each.code for each in batch.errors] == [None, "too-costly", None]
    assert len(batch.ids(2)) == 1999
    with pytest.raises(DocumentError):
        index.count(body)
    assert len(Index(subscriptions).match(body)) == 2000


def test_the_steps_of_a_document_are_counted() -> None:
    """Twice the document takes twice the steps: the counter by which the limit decides is itself linear."""
    steps = []
    for size in (1000, 2000):
        index = Index([(n, f"//r[a/@x != {n}]/d") for n in range(100)])
        index.match(b"<r>%s</r>" % b"".join(b"<a x='%d'/>" % n for n in range(size)))
        steps.append(index.stats().steps)
    assert 1.8 < steps[1] / steps[0] < 2.2


# The same answers


def one_by_one(index: Index, texts: list[str], body: bytes) -> list[int]:
    """The answer of the evaluator, of the subscriptions that the index has."""
    document = read(body)
    return [n for n, text in enumerate(texts) if n in index and matches(parse(text), document)]


PIECES = ["1", "0", "5", ".", "-", " ", "x", "é", "0" * 1600, "7" * 1700, "1." + "0" * 1600 + "1", "\n"]


@example([("<a>", "0" * 1600), ("", ".")])
@given(st.lists(st.tuples(st.sampled_from(["<a>", "</a>", ""]), st.sampled_from(PIECES)), max_size=12))
def test_string_values_of_nested_elements(parts: list[tuple[str, str]]) -> None:
    """Numbers, lengths, beginnings and substrings of any range of the text are those of the evaluator."""
    body, opened = ["<r>"], 0
    for tag, text in parts:
        if tag == "</a>":
            if not opened:
                continue
            opened -= 1
        elif tag:
            opened += 1
        body += [tag, text]
    document = "".join([*body, "</a>" * opened, "</r>"]).encode()
    conditions = [". > 5", ". = 1", ". <= 0", ". < 0.001", ". != 7", ". = '15'", ". = ''"]
    conditions += [
        "string-length(.) = 2",
        "string-length(.) > 1600",
        "starts-with(., '1')",
        "starts-with(., '10')",
    ]
    conditions += ["contains(., '5')", "contains(., '15')", "contains(., '515')", "contains(., 'é')"]
    texts = [f"//{name}[{condition}]" for condition in conditions for name in ("a", "r")]
    index = Index(enumerate(texts))
    assert index.match(document).ids == one_by_one(index, texts, document)


@given(
    st.lists(st.sampled_from(["-3", "0", "7", "7.5", "31", "99", "x", ""]), min_size=1, max_size=6),
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(["a/@x", "a", "a/text()", "a/@*", "string-length(a)"]),
)
def test_many_thresholds(values: list[str], operator: str, value: str) -> None:
    """Conditions that hold as a range are those that hold one by one, for one origin and for several."""
    texts = [f"//r[{value} {operator} {number}]" for number in range(40)]
    texts += [f"//*[.//{value} {operator} {number}]/d" for number in range(0, 40, 3) if value[0] == "a"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        index = Index(enumerate(texts))
    elements = "".join(f"<a x='{each}'>{each}</a>" for each in values)
    document = f"<q><r>{elements}<r>{elements}</r><d/></r></q>".encode()
    expected = one_by_one(index, texts, document)
    for _ in range(5):  # programs are made after a few uses
        assert index.match(document).ids == expected


@settings(deadline=None, max_examples=30)
@given(st.lists(st.sampled_from("aapqb/"), min_size=60, max_size=160), st.sampled_from([1, 1 << 14, 1 << 26]))
def test_origins_in_many_states(path: list[str], cache_bytes: int) -> None:
    """Deep paths whose open elements are in dozens of states give the answers of the plain engine."""
    out, opened = ["<r>"], []
    for name in path:
        if name == "/":
            if opened:
                out.append(f"</{opened.pop()}>")
        else:
            opened.append(name)
            out.append(f"<{name}>")
    document = "".join([*out, *(f"</{name}>" for name in reversed(opened)), "</r>"]).encode()
    texts = [f"//*[{'*/' * n}a//q]/b" for n in range(1, 9)]
    texts += [f"//*[{'*/' * n}a{'/*' * (8 - n)}//q]/p" for n in range(1, 8)]
    texts += ["//*[.//a][.//b]/q", "//p[.//*[a][.//b]]/q", "//a[not(.//q)]//b", "//*[*/*/*/a//b][.//q]//p"]
    index = Index(enumerate(texts), tuning=Tuning(cache_bytes=cache_bytes))
    expected = one_by_one(index, texts, document)
    for _ in range(5):
        assert index.match(document).ids == expected
