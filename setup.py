"""Builds the compiled kernel; everything else is in pyproject.toml."""

import os
import shlex

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNEL = "src/twigcast/filtering/kernel"

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
                extra_compile_args=["-std=c++17", "-O3", "-g", *shlex.split(os.environ.get("TWIGCAST_CXXFLAGS", ""))],
                extra_link_args=shlex.split(os.environ.get("TWIGCAST_LDFLAGS", "")),
            )
        ]
    )
)
