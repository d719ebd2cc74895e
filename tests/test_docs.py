"""Documentation is tested: its programs run, its commands, names and links exist."""

from __future__ import annotations

import doctest
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
import typer

import benchmarks.__main__
import experiments.__main__
import twigcast
from twigcast.cli.program import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
PICTURE = re.compile(r"!\[([^\]\n]*)\]\(([^)\s]+)\)")
SPARK_PATH = re.compile(r'"(feed/|deliveries)"')  # Spark resolves these against the folder it was started in
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
APPS = {
    "twigcast": app,
    "python -m benchmarks": benchmarks.__main__.app,
    "python -m experiments": experiments.__main__.app,
}
DOCUMENT = b"<nitf><headline>Engines</headline><quote/><body><hl1 class='lead'>Engines</hl1></body></nitf>"
PLACEHOLDER = re.compile(r"TODO-\w+")


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


RUN_AS_A_WHOLE = {ROOT / "docs/tutorial.md", *(ROOT / "docs/recipes").glob("*.md")}  # by test_tutorial
WITH_SESSIONS = [page for page in PAGES if page not in RUN_AS_A_WHOLE]
WITH_PROGRAMS = [page for page in WITH_SESSIONS if "\n```py\n" in page.read_text()]


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=page_id)
def test_sessions_on_a_page_give_the_answers_that_are_printed(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ``pycon`` blocks of a page run one after the other in one namespace."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    execute(page, {}, {"pycon"})


@pytest.mark.parametrize("page", WITH_PROGRAMS, ids=page_id)
def test_programs_on_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: Any
) -> None:
    """The ``py`` blocks of a page run after its sessions, and Spark can compute every table they make."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "feed").mkdir()
    (tmp_path / "feed" / "1.xml").write_bytes(DOCUMENT)
    (tmp_path / "feed" / "2.xml").write_bytes(b"<nitf>")
    names = execute(page, {"spark": spark}, {"pycon", "py"})
    rows = {name: value.count() for name, value in names.items() if hasattr(value, "toPandas")}
    assert rows["docs"] == rows["hits"] == 2
    assert rows["outs"] > 0


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_on_a_page_exist(page: Path) -> None:
    """A page names only commands, options, make targets and extras that exist."""
    assert [command for command in commands(page) if not is_known(command)] == []


def test_a_command_that_does_not_exist_is_found() -> None:
    """The check of commands knows a wrong command, option, target and extra from a right one."""
    right = [
        "twigcast match -s a b",
        "make test",
        "python -m benchmarks --list",
        "pip install 'twigcast[spark]'",
    ]
    wrong = [
        "twigcast mtach",
        "twigcast match --nonsense",
        "twigcast index bild",
        "make nonsense",
        "python -m benchmarks --nonsense",
        "python -m nonsense",
        "python -m benchmarks.nonsense",
        "pip install 'twigcast[nonsense]'",
    ]
    assert [is_known(command) for command in right + wrong] == [True] * len(right) + [False] * len(wrong)


@pytest.mark.parametrize("program", APPS)
def test_commands_in_the_examples_of_help_exist(program: str) -> None:
    """The examples that ``--help`` prints are commands with options that they have."""
    lines = [line.strip().replace(r"\[", "[") for line in epilogs(typer.main.get_command(APPS[program]))]
    shown = [part.strip() for line in lines for part in re.split(r"\s[|>]\s", line) if program in part]
    assert shown
    assert [command for command in shown if not is_known(command)] == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    """A link to a file of the project names one that is there."""
    targets = [link.partition("#")[0] for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("picture", sorted((ROOT / "docs/images").glob("*.svg")), ids=page_id)
def test_a_picture_can_be_read_by_everybody(picture: Path) -> None:
    """A picture says what it shows, has colours for light and dark, and is on a page with a description."""
    if picture.stem == "favicon":
        return
    root = fromstring(picture.read_bytes())
    assert all(root.findtext(f"{{*}}{name}") for name in ("title", "desc"))
    assert "prefers-color-scheme: dark" in picture.read_text()
    shown = [alt for page in PAGES for alt, path in PICTURE.findall(page.read_text()) if picture.name in path]
    assert shown
    assert min(map(len, shown)) > 40


def test_every_public_name_is_on_a_page() -> None:
    """What the package exports is named in README or ARCHITECTURE."""
    text = (ROOT / "README.md").read_text() + (ROOT / "ARCHITECTURE.md").read_text()
    words = {word for code in INLINE.findall(text) for word in re.findall(r"\w+", code)}
    assert [name for name in twigcast.__all__ if name not in words and not name.startswith("__")] == []


def test_every_command_is_in_the_readme() -> None:
    """A newcomer finds each command by reading one page."""
    text = " ".join(commands(ROOT / "README.md"))
    assert [name for name in typer.main.get_command(app).commands if f"twigcast {name}" not in text] == []  # type: ignore[attr-defined]


def test_every_target_is_explained() -> None:
    """``make help`` and the page for contributors know every target."""
    phony = re.search(r"^\.PHONY: (.*)", MAKEFILE, re.MULTILINE)
    assert phony
    explained = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
    assert set(phony[1].split()) == explained


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_no_page_has_a_placeholder(page: Path) -> None:
    """Nothing is left to be filled in."""
    assert PLACEHOLDER.findall(page.read_text()) == []


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and content."""
    return BLOCK.findall(page.read_text())


def execute(page: Path, names: dict[str, Any], languages: set[str]) -> dict[str, Any]:
    """Run the blocks of a page in these languages, in order and in one namespace, which is returned."""
    for language, code in blocks(page):
        if language not in languages:
            continue
        if language == "py":
            here = SPARK_PATH.sub(lambda found: f'"{Path.cwd() / found[1]}"', code)
            exec(compile(here, page_id(page), "exec"), names)
            continue
        session = doctest.DocTestParser().get_doctest(code, names, page_id(page), str(page), 0)
        complaints: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
            session, out=complaints.append, clear_globs=False
        )
        names |= session.globs
        assert not complaints, "".join(complaints)
    return names


def commands(page: Path) -> Iterator[str]:
    """The commands that a page shows, in blocks of shell and in running text."""
    shell = [code for language, code in blocks(page) if language in {"console", "sh", "bash", "shell"}]
    lines = [line.strip().removeprefix("$ ") for code in shell for line in code.splitlines()]
    text = BLOCK.sub("", page.read_text())
    for line in [*lines, *INLINE.findall(text)]:
        for part in re.split(r"\s[|;]\s|&&", line):
            if re.match(r"(twigcast|make|python -m|pip install) [a-z'-]", part.strip()):
                yield part.strip()


def epilogs(command: Any) -> Iterator[str]:
    """The lines at the foot of the help of a command and of those below it."""
    yield from (command.epilog or "").splitlines()
    for below in getattr(command, "commands", {}).values():
        yield from epilogs(below)


def is_known(command: str) -> bool:
    """Whether a command line names a program, subcommand, options, make target or extras that exist."""
    words = shlex.split(command.replace("…", "").replace("|", " "))
    match words:
        case ["twigcast", *rest]:
            return has_options(typer.main.get_command(app), rest)
        case ["python", "-m", module, *rest]:
            if program := APPS.get(f"python -m {module}"):
                return has_options(typer.main.get_command(program), rest)
            return importlib.util.find_spec(module.partition(".")[0]) is not None and (
                importlib.util.find_spec(module) is not None
            )
        case ["make", target, *_]:
            return "=" in target or target in re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)
        case ["pip", "install", *packages]:
            named = {extra for each in packages for extra in re.findall(r"[\w-]+", each.partition("[")[2])}
            return named <= set(PROJECT["optional-dependencies"])
    return False


def has_options(known: Any, words: list[str]) -> bool:
    """Whether the words are a command below ``known`` and options that it has."""
    options = {"--help"}
    for word in words:
        if word in getattr(known, "commands", {}):
            known = known.commands[word]
        elif getattr(known, "commands", None) and not word.startswith("-"):
            return False
        options |= {option for each in known.params for option in (*each.opts, *each.secondary_opts)}
        if word.startswith("-") and len(word) > 1 and word.partition("=")[0] not in options:
            return False
    return True
