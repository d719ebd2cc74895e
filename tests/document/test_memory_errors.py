"""The compiled readers of documents when memory runs out: an error of Python, and no answer after it."""

from __future__ import annotations

from tests.bounded_memory import printed_by


def test_ranges_of_elements_need_memory() -> None:
    """Without it, there is an error, and the ranges of the next document are found."""
    code = """
from twigcast.document import element_ranges

large = b"<r>" + b"<a/>" * 4_000_000 + b"</r>"
with most_bytes_more(20_000_000):
    print(fails(lambda: element_ranges(large)))
print(memoryview(element_ranges(b"<a><b/></a>")).cast("Q").tolist())
"""
    assert printed_by(code) == ["True", "[0, 11, 3, 7]"]


def test_a_profile_has_all_label_paths_or_none() -> None:
    """A profiler that ran out of memory does not go on and count the rest of the document."""
    code = """
from twigcast.document import PathProfiler

profiler = PathProfiler(1000)
names = b"<r>" + b"".join(b"<n%d/>" % number for number in range(400_000))
with most_bytes_more(10_000_000):
    print(fails(lambda: profiler.feed(names, False)))
print(fails(lambda: profiler.feed(b"</r>", True)))
"""
    assert printed_by(code) == ["True", "True"]


def test_a_projection_is_whole_or_fails() -> None:
    """A projector that ran out of memory does not go on and write the rest of the document."""
    code = """
from twigcast.chunking import ChunkQuery, plan, profile
from twigcast.document import Projector

scheme = plan([ChunkQuery("/r/a", "/r/a")], profile=profile([b"<r><a/><a/></r>"]))
projector = Projector(scheme.decisions(), [True])
large = b"<r><a>" + b"x" * 30_000_000 + b"</a><a/>"
with most_bytes_more(10_000_000):
    print(fails(lambda: projector.feed(memoryview(large))))
print(fails(lambda: projector.feed(b"</r>")))
"""
    assert printed_by(code) == ["True", "True"]
