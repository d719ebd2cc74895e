"""Builds the compiled kernel; everything else is in pyproject.toml."""

import os
import platform
import shlex

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNEL = "src/twigcast/filtering/kernel"
# Every x86-64 processor since 2009 counts bits in one instruction; the compiler's default does not.
MACHINE = ["-march=x86-64-v2"] if platform.machine() == "x86_64" else []

setup(
    ext_modules=cythonize(
        [
            Extension(
                "twigcast.filtering.kernel._kernel",
                [f"{KERNEL}/_kernel.pyx"],
                depends=[f"{KERNEL}/{name}" for name in sorted(os.listdir(KERNEL)) if name.endswith(".hpp")],
                include_dirs=[KERNEL],
                libraries=["expat"],
                language="c++",
                extra_compile_args=[
                    "-std=c++17",
                    "-O3",
                    "-g0",
                    *MACHINE,
                    *shlex.split(os.environ.get("TWIGCAST_CXXFLAGS", "")),
                ],
                extra_link_args=shlex.split(os.environ.get("TWIGCAST_LDFLAGS", "")),
            )
        ]
    )
)
