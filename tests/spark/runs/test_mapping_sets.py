"""The sets of mappings: frozen when a batch begins, found again by a replay, and deleted when unneeded."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from tests.spark.three_publishers import MATCHES, write_mapping, write_mappings
from twigcast.errors import MappingError, RunError
from twigcast.rewriting import Mappings
from twigcast.spark.pipeline import MediationSection
from twigcast.spark.runs import mapping_sets
from twigcast.spark.runs.mapping_sets import MappingSets

OTHER = {place: image for place, image in MATCHES["north"].items() if place != "paper/story/town"}


@pytest.fixture
def section(tmp_path: Path) -> MediationSection:
    return MediationSection(mappings=write_mappings(tmp_path), by="root")


def sets_of(section: MediationSection | None, tmp_path: Path) -> MappingSets:
    return MappingSets(tmp_path / "versions", section)


def files(tmp_path: Path) -> set[str]:
    return {file.stem for file in (tmp_path / "versions" / "mappings").iterdir()}


def test_a_set_is_the_mappings_of_the_files(section: MediationSection, tmp_path: Path) -> None:
    """What is read from the frozen file has the references and plans of the mappings."""
    name = sets_of(section, tmp_path).newest()
    assert name is not None
    frozen = sets_of(None, tmp_path).at(name)
    mappings = Mappings.load(section.mappings)
    assert frozen.references == tuple(mapping.reference for mapping in mappings)
    assert [each.plan for each in frozen.mappings] == [mapping.plan for mapping in mappings]


def test_the_same_mappings_are_the_same_set(section: MediationSection, tmp_path: Path) -> None:
    """Another process, and a file that was only touched, give no new set."""
    sets = sets_of(section, tmp_path)
    name = sets.newest()
    os.utime(section.mappings / "north.toml", (1, 1))
    assert (sets.newest(), sets_of(section, tmp_path).newest()) == (name, name)
    assert files(tmp_path) == {name}


def test_a_changed_mapping_is_a_new_set_and_the_old_one_stays(
    section: MediationSection, tmp_path: Path
) -> None:
    """A replay of a batch of before the change finds the old mapping, without any mapping file."""
    sets = sets_of(section, tmp_path)
    before = sets.newest()
    write_mapping(section.mappings, "north", OTHER, version=2)
    after = sets.newest()
    assert before is not None
    assert after is not None
    for file in section.mappings.iterdir():
        file.unlink()
    restarted = sets_of(None, tmp_path)
    names = [
        [reference.partition("#")[0] for reference in restarted.at(name).references]
        for name in (before, after)
    ]
    assert names == [["north@1", "south@1", "west@1"], ["north@2", "south@1", "west@1"]]


@pytest.mark.parametrize("changed", ["north.dtd", "new.toml", "gone"])
def test_every_file_of_a_set_is_looked_at(section: MediationSection, tmp_path: Path, changed: str) -> None:
    """A source schema that grew, a mapping file that came and one that went are changes as well."""
    folder = section.mappings
    if changed == "new.toml":
        (folder / "south.toml").unlink()
    sets = sets_of(section, tmp_path)
    before = sets.newest()
    if changed == "north.dtd":
        text = (folder / changed).read_text().replace("town?)", "town?, extra?)")
        (folder / changed).write_text(text + "<!ELEMENT extra (#PCDATA)>")
    elif changed == "gone":
        (folder / "south.toml").unlink()
    else:
        write_mapping(folder, "south", MATCHES["south"])
    assert sets.newest() != before


def test_a_bad_mapping_file_leaves_the_last_good_set_in_use(
    section: MediationSection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The warning is one line, comes once, and the set changes when the file is repaired."""
    sets = sets_of(section, tmp_path)
    good = sets.newest()
    write_mapping(section.mappings, "north", {**MATCHES["north"], "paper/storry": "news/item"})
    with caplog.at_level(logging.WARNING, "twigcast"):
        assert [sets.newest(), sets.newest()] == [good, good]
    (message,) = [record.getMessage() for record in caplog.records]
    assert "there is no 'paper/storry'" in message
    assert "north.toml" in message
    assert "\n" not in message
    write_mapping(section.mappings, "north", OTHER)
    assert sets.newest() != good


def test_bad_mapping_files_are_an_error_at_the_start(section: MediationSection, tmp_path: Path) -> None:
    """There is no good set to go on with, and nothing was begun."""
    (section.mappings / "north.toml").write_text('mapping = "north')
    with pytest.raises(MappingError, match=r"north\.toml") as caught:
        sets_of(section, tmp_path).newest()
    assert caught.value.code == "mapping-file"


def test_two_mappings_of_one_root_are_refused_where_the_root_decides(
    section: MediationSection, tmp_path: Path
) -> None:
    """By publisher both can be used."""
    (section.mappings / "new.dtd").write_text((section.mappings / "north.dtd").read_text())
    write_mapping(section.mappings, "new", MATCHES["north"])
    with pytest.raises(MappingError, match=r"new and north .* 'paper'") as caught:
        sets_of(section, tmp_path).newest()
    assert caught.value.code == "duplicate-mapping"
    assert sets_of(section.model_copy(update={"by": "publisher"}), tmp_path).newest()


def test_old_sets_are_deleted(
    section: MediationSection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that the journal needs, the newest, and young files stay."""
    monkeypatch.setattr(mapping_sets, "SWEEP_EVERY", 1)
    sets = sets_of(section, tmp_path)
    names = []
    for version in range(1, 5):
        write_mapping(section.mappings, "north", MATCHES["north"], version)
        names.append(sets.newest())
    assert files(tmp_path) == set(names)
    for name in names[:3]:
        os.utime(tmp_path / "versions" / "mappings" / f"{name}.json", (1, 1))
    sets.release(lambda: [str(names[1])])
    assert files(tmp_path) == {names[1], names[3]}


def test_a_damaged_set_is_one_sentence(section: MediationSection, tmp_path: Path) -> None:
    """A batch that was begun with it cannot be run with anything else."""
    name = str(sets_of(section, tmp_path).newest())
    (tmp_path / "versions" / "mappings" / f"{name}.json").write_text("{}")
    with pytest.raises(RunError, match="the mappings of a batch cannot be read"):
        sets_of(section, tmp_path).at(name)


def test_a_pipeline_without_mediation_has_no_set(tmp_path: Path) -> None:
    """And makes no folder."""
    assert sets_of(None, tmp_path).newest() is None
    assert not (tmp_path / "versions").exists()
