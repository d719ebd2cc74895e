"""docs/pipeline.md: its programs run, its pipeline files are valid, and it has every key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pydantic import BaseModel

from twigcast.config import _section
from twigcast.spark.pipeline import Pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = (Path(__file__).parents[2] / "docs" / "pipeline.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("text", blocks("toml"))
def test_a_file_on_the_page_is_a_pipeline(text: str) -> None:
    """Every example can be copied and is valid."""
    assert Pipeline.of(tomllib.loads(text))


SECTIONS = {key: section for key in Pipeline.model_fields if (section := _section(Pipeline, key)) is not None}


@pytest.mark.parametrize(("name", "table"), SECTIONS.items())
def test_every_key_is_on_the_page(name: str, table: type[BaseModel]) -> None:
    """Every key is documented."""
    keys = [field.alias or key for key, field in table.model_fields.items()]
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]+)`", PAGE))))
    assert [key for key in (name, *keys) if key not in words] == []


def test_the_defaults_on_the_page_are_the_defaults() -> None:
    """The example with all keys has the default values, except a second sink and the session."""
    full = Pipeline.of(tomllib.loads(next(text for text in blocks("toml") if "amplification" in text)))
    empty = Pipeline.of({})
    same = [key for key in Pipeline.model_fields if key not in {"sink", "spark"}]
    assert {key: getattr(full, key) for key in same} == {key: getattr(empty, key) for key in same}
    assert full.sink[0] == empty.sink[0]


def test_the_programs_of_the_page_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs of the page run one after the other, with a session and a feed."""
    monkeypatch.chdir(tmp_path)
    Path("feed").mkdir()
    Path("feed/a.xml").write_text("<a><headline/><quote>q</quote></a>")
    names: dict[str, object] = {"spark": spark}
    for code in blocks("py"):
        here = re.sub(
            r'"(feed/|deliveries|archive)"', rf'"{tmp_path}/\1"', code
        )  # Java's current folder is another
        exec(compile(here, "docs/pipeline.md", "exec"), names)
    assert spark.read.parquet(str(tmp_path / "deliveries")).count() == 2
    assert len(list(Path("subscribers/desk-1").iterdir())) == 1
