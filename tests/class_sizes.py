"""How many lines the classes of the package have, wherever these lines stand.

A class that is cut over files is still one class: in Python by inheritance, so that the lines of its bases in
the package count; in C++ by definitions outside of the class, in headers that include each other.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from pathlib import Path

from tests.reached import SOURCE, module_name, modules, resolved

CPP_CLASS = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: : [^{;]*)? \{", re.MULTILINE)
CPP_METHOD = re.compile(r"^(?:[\w:<>,&*]+ )+[&*]?(\w+)::~?\w+\([^;]*?\{", re.MULTILINE)
INCLUDED = re.compile(r'^include "(\w+\.pxi)"', re.MULTILINE)


def class_sizes() -> dict[str, int]:
    """The lines of each class by name, of Python and of the compiled kernels."""
    return {**_python_classes(), **_cpp_classes()}


def file_sizes() -> dict[str, int]:
    """The lines of each source file; a Cython module has those of the files that it includes."""
    sizes = {}
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix in {".py", ".pyx", ".pxd", ".hpp"}:
            text = path.read_text(encoding="utf-8")
            included = [path.with_name(name) for name in INCLUDED.findall(text)]
            sizes[path.relative_to(SOURCE).as_posix()] = sum(map(_lines, [path, *included]))
    return sizes


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _python_classes() -> dict[str, int]:
    own: dict[tuple[str, str], ast.ClassDef] = {}
    for path in SOURCE.rglob("*.py"):
        module = module_name(path)
        for name, nodes in modules()[module].definitions.items():
            for node in nodes:
                if isinstance(node, ast.ClassDef):
                    own[module, name] = node

    def size(key: tuple[str, str]) -> int:
        node = own[key]
        assert node.end_lineno is not None
        bases = [resolved(key[0], each.id) for each in node.bases if isinstance(each, ast.Name)]
        return node.end_lineno - node.lineno + 1 + sum(size(each) for each in bases if each in own)  # type: ignore[arg-type]

    return {".".join(key): size(key) for key in own}


def _cpp_classes() -> dict[str, int]:
    sizes: Counter[str] = Counter()
    places: dict[str, set[str]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.hpp")):
        text = path.read_text(encoding="utf-8")
        for pattern in (CPP_CLASS, CPP_METHOD):
            for found in pattern.finditer(text):
                name = f"{path.parent.relative_to(SOURCE).as_posix()}: {found[1]}"
                sizes[name] += _block(text, found.end() - 1) + found[0].count("\n")
                places[name].add(path.name)
    return dict(sizes)


def _block(text: str, start: int) -> int:
    """The lines of a block whose first brace is at an offset."""
    depth = 0
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return text.count("\n", start, start + found.end()) + 1
    return text.count("\n", start) + 1
