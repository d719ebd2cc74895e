"""What all tests share: where the published data is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of published data; the test is skipped, and says so, where it is not there."""
    folder = Path(os.environ.get("TWIGCAST_DATA") or PROJECT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}: set TWIGCAST_DATA to the folder of published data")
    return folder
