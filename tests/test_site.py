"""The documentation site builds without a warning, has no broken link, and loads nothing from other hosts."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def checking() -> ModuleType:
    spec = spec_from_file_location("checking", ROOT / "tools/site/checking.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_the_site_is_built_without_a_complaint(tmp_path: Path) -> None:
    """``make docs`` ends with success: no warning, no broken link or anchor, no external asset."""
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    command = [sys.executable, ROOT / "tools/site", tmp_path / "site"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/tutorial.html").exists()
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
