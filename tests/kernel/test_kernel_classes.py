"""Tests of the kernels below Python: the C++ programs beside this file, and that headers stand alone."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
KERNELS = [SOURCE / "twigcast" / room / "kernel" for room in ("document", "filtering")]
HEADERS = sorted(header for kernel in KERNELS for header in kernel.glob("*.hpp"))
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
FLAGS = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-D_GLIBCXX_ASSERTIONS", f"-I{SOURCE}"]

pytestmark = pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="there is no C++ compiler")


def compiled(*arguments: object) -> None:
    """Run the compiler, and show what it says if it fails."""
    run = subprocess.run(
        [*COMPILER, *FLAGS, *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr


def test_the_classes_of_the_kernel_keep_their_invariants(tmp_path: Path) -> None:
    """The C++ tests, in one program, find no failure."""
    program = tmp_path / "tests"
    folders = [f"-I{kernel}" for kernel in KERNELS]
    compiled("-O1", *folders, *sorted(HERE.glob("*.cpp")), "-o", program)
    run = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("header", HEADERS, ids=lambda header: f"{header.parts[-3]}/{header.name}")
def test_a_header_stands_alone(header: Path) -> None:
    """It includes what it uses, and compiles without a warning."""
    compiled("-fsyntax-only", f"-I{header.parent}", "-x", "c++", "-include", header, "/dev/null")
