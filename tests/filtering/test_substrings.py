"""``contains`` in the kernel has the result of Python's ``in``."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast import Index


@given(
    words=st.lists(st.text("abé", min_size=1, max_size=4), min_size=1, max_size=8, unique=True),
    pieces=st.lists(st.text("abé ", max_size=6), min_size=1, max_size=4),
)
def test_strings_within_strings_and_across_pieces(words: list[str], pieces: list[str]) -> None:
    """Words that overlap, or end with each other, are found in a text that elements split into pieces."""
    index = Index([(word, f"/a[contains(., '{word}')]") for word in words])
    body = f"<a>{'<b/>'.join(pieces)}</a>".encode()
    assert index.match(body).ids == [word for word in words if word in "".join(pieces)]


@pytest.mark.parametrize(
    "alphabet", ["ab", "".join(chr(c) for c in range(0x20, 0x17F) if chr(c) not in "'\x7f<&")]
)
def test_more_strings_than_the_table_of_steps_holds(alphabet: str) -> None:
    """With thousands of long words, a scan passes through states with a transition table and without one."""
    random = Random(3)
    words = list(dict.fromkeys("".join(random.choices(alphabet, k=60)) for _ in range(5000)))
    index = Index([(word, f"/a[contains(., '{word}')]") for word in words])
    chosen = random.sample(words, 40)
    text = "".join(word[: random.choice([20, 59, 60])] for word in chosen).replace("]]>", "]]")
    body = f"<a>{text.replace('>', '&gt;')}</a>".encode()
    assert index.match(body).ids == [word for word in words if word in text]


@given(st.lists(st.sampled_from(["1", "12", "x", "y" * 60, ""]), min_size=1, max_size=12))
def test_values_that_come_again(values: list[str]) -> None:
    """A value satisfies the same conditions each time, whether it is cached or too long for the cache."""
    conditions = {"@v='1'": ["1"], "@v>5": ["12"], "contains(@v,'yy')": ["y" * 60]}
    index = Index([(text, f"/a/b[{text}]") for text in conditions])
    for value in values:
        found = index.match(f"<a><b v='{value}'/></a>".encode()).ids
        assert found == [text for text, holds in conditions.items() if value in holds]
