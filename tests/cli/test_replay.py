"""The options of ``twigcast replay``; ``test_run.py`` and the recipe in the docs replay for real."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCommand = Callable[..., Any]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--since", "yesterday"], "expected a time such as 2031-05-06"),
        (["--from-batch", "-1"], "--from-batch"),
    ],
)
def test_bad_options(run: RunCommand, tmp_path: Path, options: list[str], sentence: str) -> None:
    """A bad option is refused before Spark is started."""
    pipeline = tmp_path / "pipeline.toml"
    pipeline.write_text("")
    done = run("replay", pipeline, *options)
    assert done.exit_code == 2
    assert sentence in done.stderr
