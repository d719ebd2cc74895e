"""Hooks of MkDocs: pages from outside ``docs/``, pages made from the program, and links between all of them.

A page keeps the links that work in a checkout.  When the site is built, a link to a file of the project
becomes a link to the page that the file has on the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from listings import folder_page
from mkdocs.structure.files import File, Files
from reference import ROOMS, command_page, error_page, room_pages

ROOT = Path(__file__).parents[2]
PROJECT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
EXAMPLES = {
    "examples": "examples/index.md",
    "examples/catalogues": "examples/catalogues.md",
    "examples/invoices": "examples/invoices.md",
}
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CELL = re.compile(r"<t[dh][^>]*>.*?</t[dh]>", re.DOTALL)
INLINE_CODE = re.compile(r"<code>([^<]*)</code>")
PLACE_TO_BREAK = re.compile(r"(?<=\w)([_./=])(?=\w)")
BREAK = r"\1<wbr>"
SHORT_NAME = 21
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def on_config(config: Any) -> None:
    """Replace folders in the navigation by their pages."""
    decisions = sorted(path.name for path in (ROOT / "docs/decisions").glob("0*.md"))
    pages = {
        "reference/python": [{name: f"reference/python/{name}.md"} for name in ROOMS],
        "decisions": ["decisions/README.md", *(f"decisions/{name}" for name in decisions)],
    }
    config.nav = _with_pages(config.nav, pages)


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not files of ``docs/``."""
    generated = {page: (ROOT / path).read_text() for path, page in PROJECT_PAGES.items()}
    # Without a title of its own, the page would be called "twigcast - twigcast".
    generated["index.md"] = f"---\ntitle: Overview\n---\n\n{generated['index.md']}"
    generated |= {page: folder_page(ROOT / folder) for folder, page in EXAMPLES.items()}
    generated |= {"reference/cli.md": command_page(), "reference/errors.md": error_page()}
    generated |= {f"reference/python/{name}.md": text for name, text in room_pages()}
    for page, text in generated.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links between files of the project into links between pages of the site."""
    here = page.file.src_uri
    source = _sources().get(here, f"docs/{here}")

    def rewritten(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[2]))
        place, _, anchor = _site_paths().get(target, "").partition("#")
        if "://" in link[2] or not place:
            return link[0]
        to = posixpath.relpath(place, posixpath.dirname(here) or ".")
        return f"{link[1]}{to}{link[3] or (anchor and '#' + anchor)}{link[4]}"

    text, position = "", 0
    for fence in FENCE.finditer(markdown):
        shown = fence[0].replace("<BLANKLINE>\n", "\n")  # doctest's own word for an empty line
        text += LINK.sub(rewritten, markdown[position : fence.start()]) + shown
        position = fence.end()
    return text + LINK.sub(rewritten, markdown[position:])


def on_page_content(html: str, **_: Any) -> str:
    """Let a long name in a table break after an underscore or a dot, and mark short ones, to be kept whole.

    Code in a table of Markdown has a backslash before a bar, which is no part of the code.
    """

    def shown(code: re.Match[str]) -> str:
        text = code[1].replace("\\|", "|")
        short = ' class="short"' if len(text) <= SHORT_NAME and " " not in text else ""
        return f"<code{short}>{PLACE_TO_BREAK.sub(BREAK, text)}</code>"

    return CELL.sub(lambda cell: INLINE_CODE.sub(shown, cell[0]), html)


def on_post_build(config: Any) -> None:
    """Remove the page for addresses that do not exist, which only works at the root of a host."""
    (Path(config.site_dir) / "404.html").unlink(missing_ok=True)


def _with_pages(entries: list[Any], pages: dict[str, list[Any]]) -> list[Any]:
    """A part of the navigation in which folders are replaced by lists of pages."""
    made = []
    for entry in entries:
        if isinstance(entry, dict):
            [(title, below)] = entry.items()
            entry = {title: _with_pages(below, pages) if isinstance(below, list) else pages.get(below, below)}
        made.append(entry)
    return made


def _sources() -> dict[str, str]:
    """The file of the project from which a page of the site is made, where that is not in ``docs/``."""
    made = {page: f"{folder}/README.md" for folder, page in EXAMPLES.items()}
    return made | {page: path for path, page in PROJECT_PAGES.items()}


def _site_paths() -> dict[str, str]:
    """For a file or folder of the project, its page, with the anchor of its place there."""
    paths = PROJECT_PAGES | EXAMPLES | {"docs": "index.md", "docs/decisions": "decisions/README.md"}
    for path in (ROOT / "docs").rglob("*.*"):
        paths[path.relative_to(ROOT).as_posix()] = path.relative_to(ROOT / "docs").as_posix()
    for folder, page in EXAMPLES.items():
        for path in (ROOT / folder).glob("*.*"):
            anchor = re.sub(r"[^\w-]", "", path.name.lower())
            paths[path.relative_to(ROOT).as_posix()] = (
                page if path.name == "README.md" else f"{page}#{anchor}"
            )
    return paths
