"""The documentation site builds without a warning, has no broken link, and loads nothing from other hosts."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import getdoc, isclass, isroutine
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def tool(name: str) -> ModuleType:
    """A module of ``tools/site``, which is not a package."""
    spec = spec_from_file_location(name, ROOT / f"tools/site/{name}.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def room_names() -> tuple[str, ...]:
    """The rooms that have a page in the reference."""
    return tool("reference").ROOMS


@pytest.fixture(scope="module")
def checking() -> ModuleType:
    return tool("checking")


@pytest.mark.parametrize("room", room_names())
def test_every_name_of_the_reference_has_a_docstring(room: str) -> None:
    """The reference is made from docstrings, so a class, method or property without one is not in it."""
    module = import_module(room)
    public = {name: getattr(module, name) for name in getattr(module, "__all__", vars(module))}
    ours = {
        name: value
        for name, value in public.items()
        if not name.startswith("_")
        and (isroutine(value) or isclass(value))
        and (value.__module__ or "").startswith("twigcast.")
    }
    members = {
        f"{name}.{member}": getattr(value, member)
        for name, value in ours.items()
        if isclass(value)
        for member, raw in vars(value).items()
        if not member.startswith("_")
        and isinstance(raw, FunctionType | property | classmethod | staticmethod)
    }
    assert [name for name, value in (ours | members).items() if not getdoc(value)] == []


def test_every_error_code_of_the_reference_has_a_meaning() -> None:
    """In a table of codes no row is empty."""
    rows = [line for line in tool("reference").error_page().splitlines() if line.startswith("| `")]
    assert rows
    assert [row for row in rows if row.endswith("|  |")] == []


@pytest.mark.slow
def test_every_constant_and_type_of_the_reference_has_a_docstring() -> None:
    """A name that is neither a class nor a function has its sentence in a string below its definition."""
    griffe = pytest.importorskip("griffe", reason="the extra docs is not installed")
    package = griffe.load("twigcast", search_paths=[str(ROOT / "src")])
    bare = {
        f"{room}.{name}"
        for room in room_names()
        for name in getattr(import_module(room), "__all__", ())
        if not name.startswith("__") and not package[f"{room}.{name}".removeprefix("twigcast.")].has_docstring
    }
    assert bare == set()


@pytest.mark.slow
def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    """``make docs`` ends with success: no warning, no broken link or anchor, no external asset."""
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    command = [sys.executable, ROOT / "tools/site", tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ada\t//p[" in (tmp_path / "site/tutorial.html").read_text()  # the tab survives, to be copied
    assert "\\|" not in (tmp_path / "site/patterns.html").read_text()  # which Markdown needs in tables
    assert (tmp_path / "site/reference/python/twigcast.spark.html").exists()


def test_a_right_page_has_no_complaint(tmp_path: Path, checking: ModuleType) -> None:
    """Links between pages, to anchors and to other hosts are right."""
    (tmp_path / "other.html").write_text('<h2 id="place">x</h2>')
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="other.html#place">a</a><a href="#top">b</a><a href="https://example.org/">c</a>'
    )
    assert checking.complaints(tmp_path) == []


@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ('<a href="missing.html">x</a>', "broken link missing.html"),
        ('<a href="#missing">x</a>', "no such anchor #missing"),
        ('<a href="index.html#missing">x</a>', "no such anchor index.html#missing"),
        ('<img src="https://example.org/a.png">', "external asset https://example.org/a.png"),
        ('<script src="//example.org/a.js"></script>', "external asset //example.org/a.js"),
        (
            '<link rel="stylesheet" href="https://example.org/a.css">',
            "external asset https://example.org/a.css",
        ),
        ('<p style="background: url(https://example.org/a)">', "external asset https://example.org/a"),
        ('<pre class="mermaid">a</pre>', "a Mermaid picture, whose script would be loaded from another host"),
    ],
)
def test_a_wrong_page_is_found(tmp_path: Path, checking: ModuleType, html: str, complaint: str) -> None:
    """Each kind of broken link, missing anchor and external asset is found."""
    (tmp_path / "index.html").write_text(html)
    assert checking.complaints(tmp_path) == [f"index.html: {complaint}"]


def test_external_assets_of_styles_and_pictures_are_found(tmp_path: Path, checking: ModuleType) -> None:
    """A style sheet or picture that loads something from another host is found."""
    (tmp_path / "a.css").write_text("@import 'https://example.org/b.css'; p { background: url(local.png) }")
    (tmp_path / "a.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg"><image href="https://example.org/a"/></svg>'
    )
    assert checking.complaints(tmp_path) == [
        "a.css: external asset https://example.org/b.css",
        "a.svg: external asset https://example.org/a",
    ]
