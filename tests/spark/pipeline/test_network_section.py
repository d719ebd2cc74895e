"""The keys of a pipeline file that are about borders with other pipelines."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from twigcast.errors import PipelineError
from twigcast.spark.pipeline import Pipeline

TABLE = '[source]\nkind = "table"\n'
NETWORK = '[network]\nrouters = ["north"]\n'
SOUTH = 'south = { plan = "south.json", to = "south" }\n'


def test_a_remote_site_is_behind_the_first_router(tmp_path: Path) -> None:
    """The site is a router of the network, and its paths are relative to the file."""
    text = '[network]\nrouters = ["north", "hub"]\nlinks = [["north", "hub"]]\n[network.remote]\n' + SOUTH
    network = Pipeline.of(tomllib.loads(text), folder=tmp_path).network
    assert network is not None
    assert network.network.links == (("north", "hub"), ("north", "south"))
    assert network.remote["south"].to == tmp_path / "south"


def test_the_files_of_the_documentation_fit_together(tmp_path: Path) -> None:
    """The south of the page writes the plan that the north reads, and reads what the north writes."""
    page = (Path(__file__).parents[3] / "docs/pipeline.md").read_text(encoding="utf-8")
    section = page.partition("\n## Remote sites\n")[2].partition("\n## ")[0]
    texts = re.findall(r"^```toml\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    north, south = (Pipeline.of(tomllib.loads(text), folder=tmp_path) for text in texts)
    assert north.network is not None
    assert south.network is not None
    assert south.network.plan == north.network.remote["south"].plan
    assert south.source.path == str(north.network.remote["south"].to)
    paths = [
        (each.work.path, each.metrics.path, each.dead_letters.path, each.sink[0].path)
        for each in (north, south)
    ]
    assert not set(paths[0]) & set(paths[1])


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        (NETWORK + "[network.remote]\nsouth = { plan = 'p' }", "network.remote.south.to", "required"),
        (
            NETWORK + "[network.remote]\nsouth = { plan = 'p', too = 't', to = 't' }",
            "too",
            "did you mean to?",
        ),
        (NETWORK + "[network.remote]\nsouth = { plan = 's3a://p', to = 't' }", "plan", "without a scheme"),
        (NETWORK + "[network.remote]\nnorth = { plan = 'p', to = 't' }", "remote.north", "name of its own"),
        (
            NETWORK + "[network.remote]\ns = { plan = 'p', to = 't', at = 'x' }",
            "remote.s.at",
            "routers north",
        ),
        (NETWORK + "[network.remote]\ns = { plan = 't/p', to = 't' }", "remote.s.to", "a folder of its own"),
        (
            NETWORK + "[network.remote]\ns = { plan = 'p', to = 'feed' }",
            "remote.s.to",
            "outside of source.path",
        ),
        (NETWORK + "[mediation]\n[network.remote]\n" + SOUTH, "network.remote", "there is mediation"),
        (NETWORK + "plan = 'p'\n[mediation]\n", "network.plan", "there is mediation"),
        (NETWORK + "piggyback = 'L+t'", "network.piggyback", "expected only with plan"),
        (NETWORK + "annotations = 'trees'", "network.annotations", "proofs, positions, structure"),
        (NETWORK + "plan = 'p'\nannotations = 'none'", "network.annotations", "since plan asks for them"),
        (NETWORK + "advertising = true", "network.schema", "since there is advertising"),
        (NETWORK + "aggregation = 0.5", "network.schema", "since there is aggregation"),
        (NETWORK + "merging = 1.0", "network.merging", "less than 1"),
        (NETWORK + "strategy = 'no-Adv-no-Cov'\ncovering = true", "network.strategy", "either strategy or"),
        (NETWORK + "plan = 'p'\npiggyback = 'L+x'", "network.piggyback", "is no piggyback strategy"),
        (NETWORK + "plan = 'p'\npiggyback = 'ES'", "network.piggyback", "such as \"structure\", got 'ES'"),
        (NETWORK + "plan = 'feed/p'", "network.plan", "outside of source.path"),
        (TABLE + "annotations = 'a'", "source.annotations", "expected network.plan"),
        ("[source]\nannotations = 'a'", "source.annotations", 'only with kind "table" or "format"'),
        (TABLE + "annotations = 'body'\n" + NETWORK + "plan = 'p'", "source.annotations", "of its own"),
        (
            TABLE + "annotations = 'a'\n[match]\nstructure = 's'\n" + NETWORK + "plan = 'p'",
            "source.annotations",
            "either annotations, or match.structure",
        ),
    ],
)
def test_a_mistake_is_one_sentence(tmp_path: Path, text: str, key: str, expected: str) -> None:
    """The message names the key and says what was expected."""
    with pytest.raises(PipelineError) as caught:
        Pipeline.of(tomllib.loads(text), folder=tmp_path)
    assert key in str(caught.value)
    assert expected in str(caught.value)
