"""Sets of mappings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rewriting.mapping_files.publisher import MAPPING, publisher
from twigcast.document import read
from twigcast.errors import MappingError
from twigcast.pattern import matches, parse
from twigcast.rewriting import Mappings, mapping_paths

CATALOGUES = Path(__file__).parents[2] / "examples" / "catalogues"
SEVEN = ("asu", "brown", "cmu", "gatech", "toronto", "ucsd", "umd")


def test_a_folder_is_loaded() -> None:
    """All mapping files of it, in the order of their names."""
    mappings = Mappings.load(CATALOGUES)
    assert mappings.names == SEVEN
    assert [mapping.name for mapping in mappings] == list(SEVEN)
    assert len(mappings) == 7
    assert "cmu" in mappings
    assert mappings.get("mit") is None


def test_other_files_of_a_folder_are_left_alone(tmp_path: Path) -> None:
    """A pipeline file may lie beside mappings."""
    publisher(tmp_path)
    (tmp_path / "pipeline.toml").write_text('[source]\nkind = "directory"\n')
    assert Mappings.load(tmp_path).names == ("cmu",)
    assert [path.name for path in mapping_paths(tmp_path)] == ["cmu.toml"]


def test_files_are_loaded_by_name(tmp_path: Path) -> None:
    """One path, or several."""
    path = publisher(tmp_path)
    assert Mappings.load(path).names == ("cmu",)
    assert Mappings.load([str(path), CATALOGUES / "umd.toml"]).names == ("cmu", "umd")


def test_the_hash_identifies_the_set(tmp_path: Path) -> None:
    """It changes with an operator or a version, not with a comment."""
    first = Mappings.load(publisher(tmp_path / "a"))
    same = Mappings.load(publisher(tmp_path / "b", MAPPING.replace("# a synonym", "# checked")))
    other = Mappings.load(publisher(tmp_path / "c", MAPPING.replace("[match]", "version = 2\n[match]")))
    assert first == same
    assert first.hash == same.hash != other.hash
    assert hash(first) == hash(same)


def refusal(call: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(MappingError) as caught:
        call()
    return caught.value.code, caught.value.message


def test_what_is_not_there_or_there_twice_is_refused(tmp_path: Path) -> None:
    """Each with a sentence."""
    code, message = refusal(lambda: Mappings.load(CATALOGUES)["mit"])
    assert code == "unknown-mapping"
    assert message.startswith("there is no mapping 'mit'; there are: asu, brown, cmu, gatech")
    code, message = refusal(lambda: Mappings.load(tmp_path))
    assert (code, message) == (
        "mapping-file",
        f"{tmp_path}: expected mapping files: *.toml with the key mapping",
    )
    code, message = refusal(lambda: Mappings.load([CATALOGUES / "cmu.toml", publisher(tmp_path)]))
    assert (code, message) == ("duplicate-mapping", "there are two mappings with the name 'cmu'")


@pytest.mark.data
def test_one_subscription_finds_instructors_and_lecturers(data: Path) -> None:
    """THALIA's first challenge: what gatech calls instructor, cmu calls lecturer."""
    mappings = Mappings.load(CATALOGUES)
    found = {}
    for name in ("Rugaber", "Ailamaki"):
        pattern = parse(f"//course[instructor/name='{name}']")
        bodies = {each: (data / "thalia" / f"{each}.xml").read_bytes() for each in SEVEN}
        mapped = [each for each, body in bodies.items() if matches(pattern, mappings[each].apply(read(body)))]
        found[name] = mapped, [each for each, body in bodies.items() if matches(pattern, read(body))]
    assert found == {"Rugaber": (["gatech"], []), "Ailamaki": (["cmu"], [])}


@pytest.mark.data
def test_the_source_schemas_describe_the_catalogues(data: Path) -> None:
    """No element of the seven documents is without a place."""
    mappings = Mappings.load(CATALOGUES)
    strangers = [
        mappings[each].apply(read((data / "thalia" / f"{each}.xml").read_bytes())).strangers for each in SEVEN
    ]
    assert strangers == [0] * 7


@pytest.mark.data
def test_swapped_columns_are_put_right(data: Path) -> None:
    """Toronto has e-mail addresses in the column for names."""
    image = Mappings.load(CATALOGUES)["toronto"].apply(read((data / "thalia" / "toronto.xml").read_bytes()))
    assert matches(parse("//instructor[name='Matthew Zaleski'][contains(email, '@')]"), image)
    assert not matches(parse("//instructor/name[contains(., '@')]"), image)
