"""Matching when memory runs out: an error of Python, after which the index is as good as before."""

from __future__ import annotations

from tests.bounded_memory import printed_by

SMALL = b"<r>zz<a><b><c/></b></a></r>"

LARGE = 'b"<r>" + b"x" * 50_000_000 + b"</r>"'  # its text is kept while it is searched


def test_an_index_answers_after_a_document_for_which_memory_ran_out() -> None:
    """The document raises MemoryError; the same index then answers as before."""
    code = f"""
from twigcast import Index

index = Index(enumerate(["//r[contains(., 'zz')]", "//a/b[c]", "//a[b/c]"]))
large = {LARGE}
print(list(index.match({SMALL!r}).ids))
with most_bytes_more(8_000_000):
    print(fails(lambda: index.match(large)))
print(list(index.match({SMALL!r}).ids))
print(list(index.match(b"<r>z<a><b/></a></r>").ids))
"""
    assert printed_by(code) == ["[0, 1, 2]", "True", "[0, 1, 2]", "[]"]


def test_partials_are_made_after_a_piece_for_which_memory_ran_out() -> None:
    """The same holds for the pieces of a document."""
    code = f"""
from twigcast import Index
from twigcast.filtering import Piece

def found(body):
    partial = matcher.evaluate(1, [Piece(body, 0, starts_document=True, ends_document=True)])
    matcher.derive(partial)
    return list(matcher.match(partial).ids)

matcher = Index(enumerate(["//r[contains(., 'zz')]", "//a/b[c]", "//a[b/c]"])).partials()
large = {LARGE}
with most_bytes_more(8_000_000):
    print(fails(lambda: found(large)))
print(found({SMALL!r}))
"""
    assert printed_by(code) == ["True", "[0, 1, 2]"]
