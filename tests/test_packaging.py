"""The source distribution and the wheel contain what they need, and work in an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# Compiled modules.
KERNELS = {
    "document/kernel/_projector",
    "document/kernel/_scanner",
    "filtering/kernel/_kernel",
}
DATA = {
    "twigcast/py.typed",
    "twigcast/rewriting/matching/thesaurus.txt",
    "twigcast/workload/news.dtd",
}
NOT_COPIED = shutil.ignore_patterns(".*", "build", "dist", "out", "*.egg-info", "__pycache__")
QUICK = {"TWIGCAST_CXXFLAGS": "-O0"}  # a kernel that is compiled in a third of the time
SMALL_MATCH = """
from twigcast import Index
from twigcast.workload import news
index = Index([("ada", "//p[person='Ada']")])
print(index.match(b"<n><p><person>Ada</person></p></n>").ids, news().root)
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]


def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command without the Python settings of the tests."""
    settings = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, env=settings | environment, capture_output=True, text=True)


def succeed(*command: object, cwd: Path, **environment: str) -> str:
    done = run(*command, cwd=cwd, **environment)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def environment(folder: Path, requirements: list[str]) -> Path:
    """The Python of a new environment with these packages; the test is skipped if they are not to be had."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    done = run(python, "-m", "pip", "install", "-q", *requirements, cwd=folder)
    if done.returncode:
        pytest.skip(f"no package index has {', '.join(requirements)}: {done.stderr.strip()[-300:]}")
    return python


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of a copy of the checkout, in which the kernel was built before."""
    folder = tmp_path_factory.mktemp("sdist")
    python = environment(folder / "builder", PROJECT["build-system"]["requires"])
    copy = folder / "checkout"
    shutil.copytree(ROOT, copy, ignore=NOT_COPIED)
    for kernel in KERNELS:
        (copy / "src" / "twigcast" / f"{kernel}.cpp").touch()
        (copy / "src" / "twigcast" / f"{kernel}.so").touch()
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    succeed(python, "-c", build, cwd=copy)
    (made,) = folder.glob("*.tar.gz")
    return made


@pytest.fixture(scope="session")
def wheel(sdist: Path) -> Path:
    """The wheel that pip builds from the source distribution."""
    command = ("-m", "pip", "wheel", "-q", "--no-deps", "-w", sdist.parent, sdist)
    succeed(sdist.parent / "builder" / "bin" / "python", *command, cwd=sdist.parent, **QUICK)
    (made,) = sdist.parent.glob("*.whl")
    return made


def test_the_source_distribution_has_the_sources(sdist: Path) -> None:
    """The kernel's sources are in it; what a build makes, and what only a checkout can run, is not."""
    with tarfile.open(sdist) as archive:
        names = {Path(*Path(each.name).parts[1:]).as_posix() for each in archive if each.isfile()}
    sources = [file for kind in ("py", "pyx", "pxd", "pxi", "hpp") for file in ROOT.glob(f"src/**/*.{kind}")]
    wanted = {file.relative_to(ROOT).as_posix() for file in sources}
    wanted |= {f"src/{name}" for name in DATA}
    wanted |= {"pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE"}
    made = {"PKG-INFO", "setup.cfg"} | {name for name in names if name.startswith("src/twigcast.egg-info/")}
    assert names - made == wanted


def test_the_wheel_has_the_package_and_its_data(wheel: Path) -> None:
    """Modules, the compiled kernel, the mark of typing and data, and no sources of the kernel."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    modules = {file.relative_to(ROOT / "src").as_posix() for file in ROOT.glob("src/**/*.py")}
    compiled = {name for name in names if name.endswith(".so")}
    assert {name.partition(".")[0] for name in compiled} == {f"twigcast/{kernel}" for kernel in KERNELS}
    assert names - compiled == modules | DATA


@pytest.mark.parametrize("distribution", [pytest.param("sdist", marks=pytest.mark.soak), "wheel"])
def test_an_installed_distribution_works(
    distribution: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """It matches in an environment without extras; a command of an extra names what to install."""
    made = request.getfixturevalue(distribution)
    python = environment(tmp_path / "environment", PROJECT["project"]["dependencies"])
    succeed(python, "-m", "pip", "install", "-q", "--no-deps", made, cwd=tmp_path, **QUICK)
    assert succeed(python, "-c", SMALL_MATCH, cwd=tmp_path) == "['ada'] feed\n"
    twigcast = python.parent / "twigcast"
    assert PROJECT["project"]["version"] in succeed(twigcast, "--version", cwd=tmp_path)
    (tmp_path / "s.txt").write_text("//p\n")
    (tmp_path / "a.xml").write_text("<n><p/></n>")
    assert succeed(twigcast, "match", "-s", "s.txt", "a.xml", cwd=tmp_path) == "a.xml\t1\n"
    (tmp_path / "pipeline.toml").touch()
    (tmp_path / "scenario.toml").touch()
    (tmp_path / "a.dtd").write_text("<!ELEMENT a EMPTY>")
    commands = {
        "run pipeline.toml": "spark",
        "dead-letters pipeline.toml": "spark",
        "simulate scenario.toml": "simulator",
        "schema match a.dtd a.dtd -o a.toml": "schemas",
    }
    for command, extra in commands.items():
        done = run(twigcast, *command.split(), cwd=tmp_path)
        assert done.returncode != 0
        assert f"is not installed: pip install 'twigcast[{extra}]'" in done.stderr
    programs = {"from twigcast.spark import match": "spark", "import twigcast.simulator": "simulator"}
    for program, extra in (programs | {"from twigcast import spark; spark.session('x')": "spark"}).items():
        done = run(python, "-c", program, cwd=tmp_path)
        assert f"is not installed: pip install 'twigcast[{extra}]'" in done.stderr, done.stderr


def test_a_machine_without_the_header_of_expat_is_told_so(sdist: Path, tmp_path: Path) -> None:
    """The error of the build ends with the package to install."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    python = sdist.parent / "builder" / "bin" / "python"
    done = run(python, "setup.py", "build_ext", cwd=source, TWIGCAST_CXXFLAGS="-nostdinc")
    assert done.returncode != 0
    assert "twigcast needs the header expat.h of libexpat: apt-get install libexpat1-dev" in done.stderr
    missing = run(python, "setup.py", "build_ext", cwd=source, CXX="no-such-compiler", CC="no-such-compiler")
    assert "twigcast needs a C++ compiler" in missing.stderr


def test_build_requirements_are_pinned() -> None:
    """A build next year compiles the kernel with the same Cython."""
    assert all("==" in each for each in PROJECT["build-system"]["requires"])
    assert {each.split("==")[0] for each in PROJECT["build-system"]["requires"]} == {"setuptools", "Cython"}
