"""Names of a page are loaded when they are used."""

from __future__ import annotations

import pytest

from twigcast.system import lazy_names


def test_a_name_is_loaded_from_its_home() -> None:
    """A name is that of the module which defines it; another is no attribute of the page."""
    load = lazy_names("page", {"json": ["dumps", "loads"], "math": ["pi"]})
    assert load("dumps")([1]) == "[1]"
    assert load("pi") > 3
    with pytest.raises(AttributeError, match="module 'page' has no attribute 'tau'"):
        load("tau")
