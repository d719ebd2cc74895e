"""The catalogue: every file of an experiment is in it."""

from __future__ import annotations

from pathlib import Path

from experiments import EXPERIMENTS

FOLDER = Path(__file__).parents[2] / "experiments"


def test_every_file_with_an_experiment_is_in_it() -> None:
    """``experiments/routing/table_3.py`` is ``routing/table-3``."""
    files = [file for file in FOLDER.glob("*/*.py") if "\nEXPERIMENT = " in file.read_text(encoding="utf-8")]
    names = {f"{file.parent.name}/{file.stem.replace('_', '-')}" for file in files}
    assert set(EXPERIMENTS) == names


def test_names_are_their_own() -> None:
    """An experiment is found by the name it has."""
    assert all(name == each.name for name, each in EXPERIMENTS.items())
