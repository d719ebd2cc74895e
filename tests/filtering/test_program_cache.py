"""Programs that are assembled from compiled parts equal those of the compiler."""

from __future__ import annotations

from random import Random

import pytest

from tests.pattern.strategies import pattern
from twigcast.errors import PatternError
from twigcast.filtering.compiling import Compiler
from twigcast.filtering.program_cache import ProgramCache
from twigcast.pattern.syntax.parsing import parse_alone
from twigcast.workload import generate_subscriptions, news, presets


def test_equals_the_compiler() -> None:
    """For any text the cache returns the exact program of the compiler, or none."""
    random = Random(11)
    compiler = Compiler()
    assembler = ProgramCache(compiler)
    for _ in range(2000):
        text = pattern(random).ours
        words = assembler.assembled(text)
        if words is not None:
            assert (words, True) == _compiled(text, compiler)


def test_generated_subscriptions_are_assembled() -> None:
    """Texts whose predicates are nested paths and values are assembled, whatever is in the cache."""
    compiler = Compiler()
    assembler = ProgramCache(compiler)
    for text in generate_subscriptions(news(), 1000, presets.VALUES):
        assert (assembler.assembled(text), True) == _compiled(text, compiler)


@pytest.mark.parametrize(
    "text",
    [
        "/a[b]/b",  # the next step is the same as the predicate
        "/a[c][b][c]",
        "/a[@x!='1'][@x!='2']",  # both need the attribute
        "/a[b and c][b]//d",
        "/a[.//b[@id='n1'][@k]/c]",
        "/a[b[d][c]][b[c][d]]",  # the same, in another order
        "/a[not(c or b)]/d",
        "/*[contains(@x, 'y')]/*[.='z']",
    ],
)
def test_predicates_are_asked_once_and_in_order(text: str) -> None:
    """The words equal those of the compiler also if the parts of a text overlap."""
    compiler = Compiler()
    assert (ProgramCache(compiler).assembled(text), True) == _compiled(text, compiler)


@pytest.mark.parametrize("text", ["", "a/b", "/a | /b", "/a[b or c]", "/a[.]", "/a[2]", "/p:a", "/a[/b]"])
def test_others_are_left_to_the_compiler(text: str) -> None:
    """Unions, conditions that always hold, inexact conditions and invalid texts are not assembled."""
    assert ProgramCache(Compiler()).assembled(text) is None


def _compiled(text: str, compiler: Compiler) -> tuple[bytes, bool] | None:
    try:
        program = compiler.compile(parse_alone(text))
    except PatternError:
        return None
    return program.words, program.exact
