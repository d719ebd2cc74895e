"""The pages are maps, and maps are tested: examples run, commands and names exist, links lead somewhere."""

from __future__ import annotations

import doctest
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import twigcast
from twigcast.cli.program import app

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]\n]+\]\(([^)\s]+)\)")
PLACEHOLDER = re.compile(r"TODO-\w+")


def page_id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_on_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions give the answers that are printed, and programs run, one after the other in one namespace."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, code in blocks(page):
        if language == "pycon":
            session = doctest.DocTestParser().get_doctest(code, names, page_id(page), str(page), 0)
            complaints: list[str] = []
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(
                session, out=complaints.append, clear_globs=False
            )
            names |= session.globs
            assert not complaints, "".join(complaints)
        elif language == "python":
            exec(compile(code, page_id(page), "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_on_a_page_exist(page: Path) -> None:
    """Every ``twigcast …`` has such a command with such options, every ``make …`` such a target."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    wrong = []
    for command in commands(page):
        if command.startswith("make "):
            target = command.split()[1]
            known = target in targets or "=" in target
        else:
            known = is_known(command)
        if not known:
            wrong.append(command)
    assert wrong == []


def test_commands_in_the_examples_of_help_exist() -> None:
    """What ``--help`` says to copy is a command with options that it has."""
    lines = [line.strip().replace(r"\[", "[") for line in epilogs(typer.main.get_command(app))]
    shown = [part.strip() for line in lines for part in re.split(r"\s[|>]\s", line) if "twigcast" in part]
    assert shown
    assert [command for command in shown if not is_known(command)] == []


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    """A link to a file of the project names one that is there."""
    targets = [link.partition("#")[0] for link in LINK.findall(page.read_text()) if "://" not in link]
    assert [target for target in targets if target and not (page.parent / target).exists()] == []


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
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)", makefile, re.MULTILINE)
    assert phony
    explained = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert set(phony[1].split()) == explained


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_no_page_has_a_placeholder(page: Path) -> None:
    """Nothing is left to be filled in."""
    assert PLACEHOLDER.findall(page.read_text()) == []


def blocks(page: Path) -> list[tuple[str, str]]:
    """The fenced blocks of a page: language and content."""
    return BLOCK.findall(page.read_text())


def commands(page: Path) -> Iterator[str]:
    """The commands that a page shows, in blocks of shell and in running text."""
    shell = [code for language, code in blocks(page) if language in {"console", "sh", "bash", "shell"}]
    lines = [line.strip().removeprefix("$ ") for code in shell for line in code.splitlines()]
    text = BLOCK.sub("", page.read_text())
    for line in [*lines, *INLINE.findall(text)]:
        for part in re.split(r"\s[|;]\s|&&", line):
            if re.match(r"(twigcast|make) [a-z-]", part.strip()):
                yield part.strip()


def epilogs(command: Any) -> Iterator[str]:
    """The lines at the foot of the help of a command and of those below it."""
    yield from (command.epilog or "").splitlines()
    for below in getattr(command, "commands", {}).values():
        yield from epilogs(below)


def is_known(command: str) -> bool:
    """Whether the words after ``twigcast`` are a command and options that it has."""
    known: Any = typer.main.get_command(app)
    options = {"--help"}
    for word in shlex.split(command.replace("…", "").replace("|", " "))[1:]:
        if word in getattr(known, "commands", {}):
            known = known.commands[word]
        elif getattr(known, "commands", None) and not word.startswith("-"):
            return False
        options |= {option for parameter in known.params for option in parameter.opts}
        if word.startswith("-") and len(word) > 1 and word.partition("=")[0] not in options:
            return False
    return True
