"""Schemas that the tests of generators share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from twigcast.schema import ElementGraph, read_dtd


@pytest.fixture(scope="session")
def data() -> Path:
    folder = Path(os.environ.get("TWIGCAST_DATA", Path(__file__).parents[3] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the data sets are not here; set TWIGCAST_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def nitf(data: Path) -> ElementGraph:
    return read_dtd(data / "nitf" / "nitf-2-5.dtd", "nitf")
