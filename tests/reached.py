"""What of the package is reached from its entry points, as far as imports and names show it.

    pyproject scripts, ``python -m``     functions that a user starts
    the root page                        its ``__all__``
    README, docs, examples               names of room pages that stand in code there
    compiled modules                     what they import

A definition is reached if a reached one names it, through any chain of imports; importing a page is no use of
its names.  A method is reached if its class is and its name stands anywhere in reached code or in the docs,
or if a library calls it: it is special, is decorated, or its class has a base that is not ours.  So a name
that is on the way too often is missed, and nothing that is reached is reported.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "twigcast"
DOCS = [
    ROOT / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions"),
    *sorted((ROOT / "examples").rglob("*.py")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
"""What users read; decisions say what was tried, and experiments are not part of the package."""
NOT_FOR_USERS = {"experiments.md", "benchmarks.md"}

BLOCK = re.compile(r"^```(?:py|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?", re.MULTILINE)
IMPORTED = re.compile(r"from (twigcast[\w.]*) import (?:\(([^)]*)\)|([^\n]*))")
COMPILED_IMPORT = re.compile(r"^ *from (twigcast[\w.]*) import (?:\(([\w,\s]*)\)|([\w, ]*))", re.MULTILINE)
PLAIN = {
    *("cache", "cached_property", "classmethod", "contextmanager", "dataclass", "lru_cache", "overload"),
    *("property", "runtime_checkable", "setter", "staticmethod", "total_ordering", "final"),
}
"""Decorators that do not register what they decorate anywhere."""
PLAIN_BASES = {"Protocol", "NamedTuple", "Enum", "IntEnum", "IntFlag", "Generic", "ABC"}
"""Bases from libraries that call no methods of their own accord."""

Key: TypeAlias = tuple[str, str | None]
"""A module and the name of a definition in it; None for the module itself."""


@dataclass(slots=True)
class Module:
    """The imports and the definitions of a module, and what runs when it is imported."""

    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By local name, the module and the name that it is imported from; the name may be that of a module."""
    definitions: dict[str, list[ast.stmt]] = field(default_factory=lambda: defaultdict(list))
    statements: list[ast.AST] = field(default_factory=list)


class Method(NamedTuple):
    """A method by the class that has it."""

    module: str
    owner: str
    name: str


@cache
def modules() -> dict[str, Module]:
    """The modules of the package by name."""
    return {module_name(path): _module(path) for path in sorted(SOURCE.rglob("*.py"))}


def module_name(path: Path) -> str:
    """The dotted name of a module of the package."""
    parts = ["twigcast", *path.relative_to(SOURCE).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def page_names(page: str) -> list[str]:
    """The names in the ``__all__`` of a page."""
    for node in modules()[page].definitions.get("__all__", []):
        if isinstance(node, ast.Assign):
            return list(ast.literal_eval(node.value))
    return []


def resolved(module: str, name: str) -> Key | None:
    """Where a name of a module is defined in the package; None if it comes from elsewhere."""
    seen = set()
    while (module, name) not in seen:
        seen.add((module, name))
        found = modules()[module]
        if name in found.definitions:
            return module, name
        if name not in found.imports:
            below = f"{module}.{name}"
            return (below, None) if below in modules() else None
        module, name = found.imports[name]
        if not name:
            return module, None
        if module not in modules():
            return None
    return (f"{module}.{name}", None) if f"{module}.{name}" in modules() else None


@cache
def words_of_docs() -> frozenset[str]:
    """All names in code of the docs, and in the examples."""
    return frozenset(word for text in _code_of_docs() for word in re.findall(r"\w+", text))


@cache
def named_in_docs() -> frozenset[Key]:
    """The definitions that code in the docs imports, or names as they are named on a page of a room."""
    found = set()
    aliases = {}
    for text in _code_of_docs():
        for page, in_parentheses, in_line in IMPORTED.findall(text):
            for name, alias in re.findall(r"(\w+)(?: as (\w+))?", in_parentheses or in_line):
                key = resolved(page, name) if page in modules() else None
                if key is not None and key[1] is None:
                    aliases[alias or name] = key[0]
                found.add(key)
    for text in _code_of_docs():
        for alias, name in re.findall(r"\b(\w+)\.(\w+)", text):
            if alias in aliases:
                found.add(resolved(aliases[alias], name))
    for room in rooms():
        found |= {resolved(room, name) for name in page_names(room) if name in words_of_docs()}
    return frozenset(key for key in found if key is not None)


@cache
def rooms() -> tuple[str, ...]:
    """The packages directly below the package."""
    return tuple(name for name in modules() if name.count(".") == 1 and page_names(name))


@cache
def entry_points() -> frozenset[Key]:
    """The definitions that users reach by a command or by a name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {("twigcast.__main__", None), *named_in_docs()}
    named = [script.split(":") for script in project["scripts"].values()]
    named += [["twigcast", name] for name in page_names("twigcast")]
    named += [[page, name] for _, page, name in compiled_imports() if page in modules()]
    found |= {key for page, name in named if (key := resolved(page, name)) is not None}
    return frozenset(found)


def compiled_sources() -> list[Path]:
    """The Cython files of the package."""
    return sorted([*SOURCE.rglob("*.pyx"), *SOURCE.rglob("*.pxi")])


def compiled_imports() -> Iterator[tuple[str, str, str]]:
    """For each import of ours in a Cython file: the room of the file, the page and the name."""
    for path in compiled_sources():
        for page, *names in COMPILED_IMPORT.findall(path.read_text(encoding="utf-8")):
            for name in "".join(names).split(","):
                yield path.relative_to(SOURCE).parts[0], page, name.strip()


def page_users() -> set[tuple[str, str]]:
    """The pages with those of their names that another room imports."""
    users = {
        (page, name)
        for module, found in modules().items()
        for page, name in found.imports.values()
        if module.split(".")[1:2] != page.split(".")[1:2]
    }
    return users | {(page, name) for room, page, name in compiled_imports() if page != f"twigcast.{room}"}


def unreached() -> set[str]:
    """The definitions and methods of the package that nothing reaches, as dotted names."""
    walk = _Walk()
    walk.follow(entry_points())
    defined = {
        (module, name)
        for module, found in modules().items()
        for name in found.definitions
        if not (name.startswith("__") and name.endswith("__"))
    }
    left = {f"{module}.{name}" for module, name in defined - walk.reached}
    left |= {".".join(method) for method in walk.waiting}
    return left | set(_unreached_of_kernels(walk.words))


class _Walk:
    """Follows names from definition to definition."""

    def __init__(self) -> None:
        self.reached: set[Key] = set()
        self.words: set[str] = set(words_of_docs())
        self.waiting: dict[Method, list[ast.stmt]] = defaultdict(list)
        self._next: list[Key] = []

    def follow(self, starts: Iterable[Key]) -> None:
        self._next += starts
        while self._next:
            while self._next:
                self._reach(self._next.pop())
            for method in [each for each in self.waiting if each.name in self.words]:
                for node in self.waiting.pop(method):
                    self._read(method.module, node)

    def _reach(self, key: Key) -> None:
        if key in self.reached:
            return
        self.reached.add(key)
        module, name = key
        if name is None:
            for node in modules()[module].statements:
                self._read(module, node)
            return
        self._next.append((module, None))
        for node in modules()[module].definitions[name]:
            if isinstance(node, ast.ClassDef):
                self._read_class(module, node)
            else:
                self._read(module, node)

    def _read_class(self, module: str, node: ast.ClassDef) -> None:
        for part in [*node.bases, *node.decorator_list, *(each.value for each in node.keywords)]:
            self._read(module, part)
        is_called_by_library = any(self._is_from_library(module, base) for base in node.bases)
        for item in node.body:
            is_method = isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_method and not is_called_by_library and not is_special(item) and not is_registered(item):
                self.waiting[Method(module, node.name, item.name)].append(item)
            else:
                self._read(module, item)

    def _is_from_library(self, module: str, base: ast.expr) -> bool:
        base = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(base, ast.Attribute):
            return base.attr not in PLAIN_BASES
        assert isinstance(base, ast.Name)
        key = resolved(module, base.id)
        if key is None or key[1] is None:
            return base.id not in PLAIN_BASES
        return any(
            self._is_from_library(key[0], each)
            for node in modules()[key[0]].definitions[key[1]]
            if isinstance(node, ast.ClassDef)
            for each in node.bases
        )

    def _read(self, module: str, node: ast.AST) -> None:
        """Note the definitions and the words that stand in a node."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                self._note(resolved(module, part.id), part.id)
            elif isinstance(part, ast.Attribute):
                self._note(_of_dotted(module, part), part.attr)
            elif isinstance(part, ast.keyword) and part.arg:
                self.words.add(part.arg)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                if part.value in modules():  # a program of its own, such as the daemon of workers
                    self._next += [(part.value, None), *((part.value, each) for each in _names(part.value))]
                elif part.value.isidentifier():
                    self.words.add(part.value)

    def _note(self, key: Key | None, word: str) -> None:
        self.words.add(word)
        if key is not None:
            self._next.append(key)


def is_special(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether Python calls a method by itself."""
    return node.name.startswith("__") and node.name.endswith("__")


def is_registered(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Whether a decorator hands a definition to somebody who calls it."""
    return any(_decorator(each) not in PLAIN for each in node.decorator_list)


def _is_special(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.startswith("__")


def _decorator(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _of_dotted(module: str, node: ast.Attribute) -> Key | None:
    """What a dotted name such as ``match.command`` names, if it begins with a module of ours."""
    names = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        return None
    key = resolved(module, inner.id)
    for name in reversed(names):
        if key is None or key[1] is not None:
            break
        key = resolved(key[0], name)
    return key


def _names(module: str) -> list[str]:
    return list(modules()[module].definitions)


def _module(path: Path) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    made = Module()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            made.imports |= {each.asname or each.name: (node.module, each.name) for each in node.names}
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.startswith("twigcast"):
                    made.imports[each.asname or "twigcast"] = (each.name if each.asname else "twigcast", "")
    _define(made, tree.body)
    return made


def _define(made: Module, body: Iterable[ast.stmt]) -> None:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                made.definitions[node.name].append(node)
                if is_registered(node):
                    made.statements.append(ast.Name(node.name, ast.Load()))
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name):
                            made.definitions[part.id].append(node)
                    if not isinstance(target, ast.Name | ast.Tuple) or _is_special(target):
                        made.statements.append(node)
            case ast.If() | ast.Try() | ast.With():
                made.statements += [each.context_expr for each in getattr(node, "items", [])]
                for part in ("body", "orelse", "finalbody"):
                    _define(made, getattr(node, part, []))
                for handler in getattr(node, "handlers", []):
                    _define(made, handler.body)
            case ast.Import() | ast.ImportFrom():
                pass
            case _:
                made.statements.append(node)


def _unreached_of_kernels(words: set[str]) -> Iterator[str]:
    """The classes and functions of compiled modules that Python can name, and does not."""
    for path in compiled_sources():
        text = path.read_text(encoding="utf-8")
        found = re.findall(r"^(?:cdef )?class ([A-Z]\w*)|^ *(?:cp)?def (?:\w+ )?(\w+)\(", text, re.MULTILINE)
        for name in (each for pair in found for each in pair if each):
            is_special = name.startswith("__") and name.endswith("__")
            if not is_special and name not in words and len(re.findall(rf"\b{name}\b", text)) == 1:
                yield f"{path.relative_to(SOURCE).as_posix()}: {name}"


@cache
def _code_of_docs() -> tuple[str, ...]:
    """The programs of the docs, and what is marked as code within their sentences."""
    found = []
    for path in DOCS:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            found.append(text)
        elif path.name not in NOT_FOR_USERS:
            found += [
                re.sub(r"^(?:>>>|\.\.\.) ?", "", each, flags=re.MULTILINE) for each in BLOCK.findall(text)
            ]
            found += INLINE.findall(BLOCK.sub("", text))
    return tuple(found)
