"""Names of a page are loaded when they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from twigcast.errors import ExtraError
from twigcast.system import lazy_names


def test_a_name_is_loaded_from_its_home() -> None:
    """A name is that of the module which defines it; another is no attribute of the page."""
    load = lazy_names("page", {"json": ["dumps", "loads"], "math": ["pi"]})
    assert load("dumps")([1]) == "[1]"
    assert load("pi") > 3
    with pytest.raises(AttributeError, match="module 'page' has no attribute 'tau'"):
        load("tau")


def test_a_missing_library_of_an_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install; without an extra it is Python's own."""
    (tmp_path / "needy.py").write_text("import library_that_is_missing.part")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ExtraError, match=r"library_that_is_missing is not installed: .*twigcast\[spark\]"):
        lazy_names("page", {"needy": ["name"]}, extra="spark")("name")
    with pytest.raises(ModuleNotFoundError):
        lazy_names("page", {"needy": ["name"]})("name")
