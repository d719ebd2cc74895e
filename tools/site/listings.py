"""Pages that show the files of a folder."""

from __future__ import annotations

import ast
from pathlib import Path

LANGUAGES = {".py": "python", ".toml": "toml", ".dtd": "dtd", ".xml": "xml"}


def folder_page(folder: Path) -> str:
    """The README of a folder, and then each of its files; programs with their first sentence."""
    readme = folder / "README.md"
    lines = [readme.read_text()] if readme.exists() else [f"# {folder.name.capitalize()}"]
    for path in sorted(folder.iterdir()):
        if path.suffix in LANGUAGES:
            text = path.read_text().rstrip()
            summary = (
                (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0] if path.suffix == ".py" else ""
            )
            lines += ["", f"## {path.name}", "", summary, "", f"```{LANGUAGES[path.suffix]}", text, "```"]
    return "\n".join(lines) + "\n"
