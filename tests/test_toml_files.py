"""Hostile TOML is one error with a bound, wherever a file of TOML is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import twigcast
from twigcast.config import DEEPEST, read_toml
from twigcast.errors import MappingError, PipelineError, RoutingError, TwigcastError
from twigcast.rewriting import (
    Mappings,
    ProposedPair,
    read_mapping_file,
    update_mapping_file,
    write_proposal,
)
from twigcast.simulator import load_scenario
from twigcast.spark.pipeline import Pipeline

PACKAGE = Path(twigcast.__file__).parent
ENTRIES: dict[str, tuple[Callable[[Path], object], type[TwigcastError]]] = {
    "pipeline": (Pipeline.load, PipelineError),
    "scenario": (load_scenario, RoutingError),
    "mapping": (read_mapping_file, MappingError),
    "mappings": (lambda path: Mappings.load(path.parent), MappingError),
    "update": (lambda path: update_mapping_file(path, pairs={"a": "b"}), MappingError),
    "proposal": (lambda path: write_proposal(path, {}, [ProposedPair("a", "b", "")], []), MappingError),
}
LONG = 50_000
HOSTILE = {
    "a key of many parts": (".".join("a" * LONG) + " = 1", "line 1: a key of more than 32 parts"),
    "a header of many parts": ("\n[" + ".".join("a" * LONG) + "]", "line 2: a key of more than 32 parts"),
    "quoted parts": ("x = {" + " . ".join(['"a"'] * LONG) + " = 1}", "line 1: a key of more than 32 parts"),
    "deep arrays": ("x = " + "[" * LONG + "]" * LONG, "line 1: nested more than 32 levels deep"),
    "deep inline tables": ("x = " + "{a = " * LONG + "1" + "}" * LONG, "line 1: nested more than 32 levels"),
    "arrays in lines": ("x = [\n" * 100, "line 33: nested more than 32 levels deep"),
    "keys in keys": ("a.a.a.a = {" * 30 + "}" * 30, ".a.a.a: nested more than 32 levels deep"),
    "after a string": ('x = """[\\"""["""""\ny = ' + "[" * 99, "line 2: nested more than 32 levels deep"),
}


@pytest.mark.parametrize("content", HOSTILE)
@pytest.mark.parametrize("entry", ENTRIES)
def test_hostile_toml_is_one_clear_error(tmp_path: Path, entry: str, content: str) -> None:
    """Each reader names the file, the line and the bound, in its own kind of error."""
    read, kind = ENTRIES[entry]
    path = tmp_path / "a.toml"
    path.write_text(HOSTILE[content][0])
    with pytest.raises(kind, match=re.escape(HOSTILE[content][1])) as caught:
        read(path)
    assert len(str(caught.value)) < 500
    assert "a.toml" in str(caught.value)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_huge_inline_table_is_one_clear_error(tmp_path: Path, entry: str) -> None:
    """What is wrong with it is said of some keys only."""
    read, kind = ENTRIES[entry]
    path = tmp_path / "a.toml"
    path.write_text(
        "match = {" + ", ".join(f"{'k' * 500}{number} = {number}" for number in range(3000)) + "}"
    )
    with pytest.raises(kind) as caught:
        read(path)
    assert len(str(caught.value)) < 10_000


def test_brackets_and_dots_in_strings_and_comments_do_not_count(tmp_path: Path) -> None:
    """In all four kinds of strings, and with quotes at their ends."""
    dots, many = "." * 99, "[" * 99
    path = tmp_path / "a.toml"
    path.write_text(
        f"""# {dots}{many}
a = "{dots}\\"{many}"  # "{many}
b = '{dots}\\'
c = \"\"\"{many}
"{dots}"\\\"\"{many}\"\"\"\"\"
d = '''{many}'{dots}'''''
"{dots}" = [1.5, "{many}"]
"""
    )
    assert read_toml(path)["c"].endswith('""')
    path.write_text("a = " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1) + "\n" + "[" + "x." * 31 + "x]")
    assert read_toml(path)["x"]


def test_every_reader_of_toml_is_bounded() -> None:
    """Only one module parses TOML for values, and only one so that comments stay."""
    for word, known in {"tomllib.load": "config.py", "tomlkit.parse": "updating.py"}.items():
        assert [path.name for path in PACKAGE.rglob("*.py") if word in path.read_text()] == [known]
