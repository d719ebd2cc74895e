"""Builds the documentation into a folder (default: ``site``) and checks it: ``python tools/site FOLDER``."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from checking import complaints

ROOT = Path(__file__).parents[2]


def main(folder: Path) -> int:
    """Build with every warning as an error, then check; returns an exit code."""
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # a notice of the theme about other tools
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    try:
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder)))
    except Abort as error:
        print(error, file=sys.stderr)
        return 1
    wrong = complaints(folder)
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    pages = sum(1 for _ in folder.rglob("*.html"))
    print(f"{pages} pages in {folder}, {len(wrong)} broken links, anchors or external assets")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "site"))
