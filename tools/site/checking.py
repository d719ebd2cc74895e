"""Checks the built site: links and anchors lead somewhere, and nothing is loaded from another host."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ELSEWHERE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
INERT_LINKS = {"canonical", "next", "prev"}  # relations that load nothing
STYLE_ADDRESS = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
PICTURE_ADDRESS = re.compile(r"""(?:href|src)=["']([^"'#][^"']*)""")


def complaints(site: Path) -> list[str]:
    """A sentence for each broken link, missing anchor and external asset of a built site."""
    pages = {path: _Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    found = [f"{path.relative_to(site)}: {text}" for path in pages for text in _of_page(path, pages, site)]
    for path in sorted([*site.rglob("*.css"), *site.rglob("*.svg")]):
        addresses = STYLE_ADDRESS.findall(path.read_text())
        if path.suffix == ".svg":
            addresses += [(each, "") for each in PICTURE_ADDRESS.findall(path.read_text())]
        found += [
            f"{path.relative_to(site)}: external asset {address}"
            for address in map("".join, addresses)
            if ELSEWHERE.match(address)
        ]
    return found


def _of_page(path: Path, pages: dict[Path, _Page], site: Path) -> Iterator[str]:
    page = pages[path]
    if "mermaid" in page.classes:
        yield "a Mermaid picture, whose script would be loaded from another host"
    for address in page.assets:
        if ELSEWHERE.match(address):
            yield f"external asset {address}"
    for address in [*page.assets, *page.links]:
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = _target(path, unquote(parts.path), site)
        if not target.is_file():
            yield f"broken link {address}"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield f"no such anchor {address}"


def _target(page: Path, link: str, site: Path) -> Path:
    if not link:
        return page
    target = (site / link.lstrip("/") if link.startswith("/") else page.parent / link).resolve()
    return target / "index.html" if target.is_dir() else target


class _Page(HTMLParser):
    """The links, loaded addresses, anchors and classes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.assets: list[str] = []
        self.anchors: set[str] = {"", "__top"}
        self.classes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.classes |= set(values.get("class", "").split())
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in INERT_LINKS:
            self.assets.append(values.get("href", ""))
        self.assets += [values[name] for name in ("src", "data", "poster") if values.get(name)]
        self.assets += [each.split()[0] for each in values.get("srcset", "").split(",") if each.strip()]
        self.assets += [
            address
            for found in STYLE_ADDRESS.findall(values.get("style", ""))
            for address in found
            if address
        ]
