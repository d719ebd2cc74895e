"""``twigcast simulate``: its table, its JSON, its plot, and its errors."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("simpy")

from experiments.engines.mapping.publishers import provide

SMALL = """
[network]
topology = "line"
routers = 3
[subscribers]
count = 5
[publishers]
documents = 2
elements = 10
"""


def test_a_table_has_a_row_for_each_strategy(run: Any, write: Any) -> None:
    """The table has a row for each strategy, with the messages first, and all deliveries are correct."""
    done = run("simulate", write("small.toml", SMALL))
    assert done.exit_code == 0
    assert done.lines[0].strip() == "small: 3 routers"
    rows = [line.split()[0] for line in done.lines[2:] if line.strip()]
    assert rows[0] == "no-Adv-no-Cov"
    assert len(rows) == 6


def test_json_has_every_figure(run: Any, write: Any) -> None:
    """There is a result for each requested strategy, in their order."""
    names = ["with-Adv-with-Cov", "no-Adv-no-Cov"]
    options = [word for name in names for word in ("--strategy", name)]
    done = run("simulate", write("small.toml", SMALL), *options, "--json")
    answer = json.loads(done.stdout)
    assert answer["scenario"] == "small"
    assert [each["name"] for each in answer["results"]] == names
    assert answer["results"][1]["messages"]["subscription"] == 2 * 5 * 3
    assert all(each["correct"] for each in answer["results"])


def test_options_replace_what_the_scenario_says(run: Any, write: Any, tmp_path: Path) -> None:
    """Options replace the schema and the numbers of subscriptions and documents."""
    dtd = write("small.dtd", "<!ELEMENT a (b*)><!ELEMENT b (#PCDATA)>")
    path = write("small.toml", SMALL)
    done = run(
        "simulate", path, "--dtd", dtd, "--subscriptions", 1, "--documents", 1, "--seed", 2,
        "--strategy", "no-Adv-no-Cov", "--measured", "--json",
    )  # fmt: skip
    (result,) = json.loads(done.stdout)["results"]
    assert result["messages"]["subscription"] == 2 * 3


@pytest.mark.slow
def test_a_picture_is_drawn_beside_the_table(run: Any, write: Any, tmp_path: Path) -> None:
    """The plot is written as PNG and as SVG."""
    pytest.importorskip("matplotlib")
    done = run("simulate", write("small.toml", SMALL), "--plot", tmp_path / "picture.png")
    assert "picture.svg: drawn" in done.stderr
    assert (tmp_path / "picture.png").exists()
    assert (tmp_path / "picture.svg").exists()


def test_scenarios_are_listed(run: Any) -> None:
    """``--list`` prints one scenario on each line."""
    done = run("simulate", "--list")
    assert [line.split("\t")[0] for line in done.lines] == [
        "seven",
        "hundred-and-twenty-seven",
        "line",
        "star",
        "fifteen",
        "four-links",
    ]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["eight"], "there is no scenario 'eight'"),
        (["seven", "--strategy", "none"], "choose one of no-Adv-no-Cov"),
        (["line", "--strategy", "ES-s"], "ES has no negative kinds"),
        ([], "give a scenario"),
    ],
)
def test_what_cannot_be_run_is_said(run: Any, arguments: list[str], complaint: str) -> None:
    """The exit code is that of a command that could not run."""
    done = run("simulate", *arguments)
    assert done.exit_code == 2
    assert complaint in " ".join(done.stderr.replace("│", " ").split())


def test_mediation_has_a_table_of_its_own(run: Any, write: Any) -> None:
    """Documents for each user, recall, and the bytes that an approach adds."""
    pytest.importorskip("rapidfuzz", reason="the extra schemas is not installed")
    provide()
    mediated = SMALL + "[strategies]\nnames = ['no-Adv-no-Cov']\n[mediation]\ndialects = 2\napproach = 'SDR'"
    done = run("simulate", write("dialects.toml", mediated))
    assert done.exit_code == 0
    assert "documents/user" in done.stdout
    assert "1.000" in done.stdout


def test_dialects_are_made_in_a_checkout_only(write: Any) -> None:
    """The program of the experiments runs a scenario with dialects; ``twigcast`` says so."""
    path = write("dialects.toml", SMALL + "[mediation]\ndialects = 2")
    done = subprocess.run(
        [sys.executable, "-m", "twigcast", "simulate", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "python -m experiments.engines simulate" in " ".join(done.stderr.split())


def test_annotations_have_a_table_of_their_own(run: Any, write: Any) -> None:
    """It fits into 80 columns; the strategy of another name is the first one of the scenario with it."""
    path = write("small.toml", SMALL + "[strategies]\nnames = ['no-Adv-with-Cov']\npiggyback = ['ES', 'L+t']")
    done = run("simulate", path, "--strategy", "ES", "--strategy", "L+s-sd")
    assert done.exit_code == 0
    start = next(number for number, line in enumerate(done.lines) if "refuted" in line)
    header, *rows = done.lines[start : start + 3]
    assert header.split() == [
        "strategy", "notes", "B", "%", "plan", "B", "parsed", "proven", "refuted", "open", "µs/hop", "saved",
    ]  # fmt: skip
    assert [row.split()[0] for row in rows] == ["ES", "L+s-sd"]
    assert max(len(line.rstrip()) for line in (header, *rows)) <= 80
    plain = run("simulate", path, "--strategy", "ES", "--json")
    (result,) = json.loads(plain.stdout)["results"]
    assert result["strategy"]["piggyback"] == "ES"
    assert set(result["work"]) == {"total", "downstream", "by_router", "by_level"}
    assert result["work"]["by_level"]["0"]["documents"] == 2


def test_fragments_have_a_table_of_their_own(run: Any, write: Any) -> None:
    """Times until the first fragment, until a match is certain and until the end; JSON has the same."""
    text = (
        SMALL + "[strategies]\nnames = ['no-Adv-no-Cov']\npublication = 'fragments'\n[fragments]\nbytes = 200"
    )
    done = run("simulate", write("fragments.toml", text))
    assert done.exit_code == 0
    header, row = (line.split() for line in done.lines[-2:])
    expected = "strategy first ms certain ms end ms earliness held KB fragments parsed resent"
    assert " ".join(header) == expected
    assert row[0] == "no-Adv-no-Cov"
    (result,) = json.loads(run("simulate", write("fragments.toml", text), "--json").stdout)["results"]
    assert 0 < result["fragments"]["earliness"] <= 1
    assert set(result["fragments"]["first"]) == {"mean", "p50", "p99"}


def test_without_annotations_there_is_one_table(run: Any, write: Any) -> None:
    """The columns of annotations are not shown."""
    assert "refuted" not in run("simulate", write("small.toml", SMALL)).stdout
