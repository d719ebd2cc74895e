"""TOML files by a model: what a wrong file is told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from twigcast.config import ConfigError, ConfigSection, read_toml, validated, wrong


class Inner(ConfigSection):
    latency: Annotated[float, Field(gt=0)] = 1.0
    kind: Literal["line", "star"] = "line"
    names: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _complete(self) -> Inner:
        if self.names == ["none"]:
            raise wrong("names", "expected a router")
        return self


class Outer(ConfigSection):
    link: Inner = Inner()
    sinks: list[Inner] | None = None
    schema_path: str | None = Field(default=None, alias="schema")


def test_a_table_becomes_a_value() -> None:
    """Keys that are left out have their defaults."""
    assert validated(Outer, {"link": {"latency": 2}}).link == Inner(latency=2.0)


@pytest.mark.parametrize(
    ("table", "key", "message"),
    [
        ({"linc": {}}, "linc", "linc: unknown key; did you mean link?"),
        ({"zzz": 1}, "zzz", "zzz: unknown key; expected link, schema, sinks"),
        ({"link": 7}, "link", "link: expected a table, got 7"),
        (
            {"link": {"latancy": 1}},
            "link.latancy",
            "link.latancy: unknown key; did you mean latency?",
        ),
        (
            {"sinks": [{}, {"knd": 1}]},
            "sinks[1].knd",
            "sinks[1].knd: unknown key; did you mean kind?",
        ),
        ({"link": {"latency": 0}}, "link.latency", "link.latency: expected more than 0, got 0"),
        ({"link": {"latency": True}}, "link.latency", "link.latency: expected a number, got true"),
        ({"link": {"kind": "x"}}, "link.kind", "link.kind: expected one of 'line' or 'star', got 'x'"),
        ({"link": {"names": "x"}}, "link.names", "link.names: expected a list, got 'x'"),
        ({"link": {"names": ["none"]}}, "link.names", "link.names: expected a router"),
        ({"schema": 1}, "schema", "schema: expected a string, got 1"),
        (
            {"schema": 1, "link": {"kind": 2}},
            "link.kind",
            "link.kind: expected one of 'line' or 'star', got 2; schema: expected a string, got 1",
        ),
    ],
)
def test_every_wrong_key_is_named_with_what_was_expected(
    table: dict[str, object], key: str, message: str
) -> None:
    """The key is written as in the file, and an unknown one is shown the nearest known one."""
    with pytest.raises(ConfigError) as refused:
        validated(Outer, table)
    assert (refused.value.key, refused.value.message) == (key, message)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a = ", "not TOML: "), (b"a = '\xff'", "not UTF-8 at byte 6"), (None, "there is no such file")],
)
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    """Missing, not UTF-8 or not TOML: each has its sentence."""
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_toml(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """What the operating system says is passed on."""
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_toml(tmp_path)


@pytest.mark.parametrize("text", ['path = "a\\u0000b"', '[x]\nnames = ["ok", "a\\u001bb"]', '"\\u0000" = 1'])
def test_text_that_no_path_or_name_can_have_is_refused(tmp_path: Path, text: str) -> None:
    """TOML can write a NUL as an escape."""
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"has the character U\+00"):
        read_toml(tmp_path / "c.toml")


@pytest.mark.parametrize("content", [b"x = " + b"[" * 100_000, b"x = " + b"9" * 5000, b"a" * (17 << 20)])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes) -> None:
    """Too deep, too many digits, too large."""
    (tmp_path / "c.toml").write_bytes(content)
    with pytest.raises(ConfigError):
        read_toml(tmp_path / "c.toml")
