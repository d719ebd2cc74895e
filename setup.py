"""Builds the compiled kernel; everything else is in pyproject.toml."""

import os
import platform
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

KERNEL = "src/twigcast/filtering/kernel"
SOURCES = (".hpp", ".pxi")
# Every x86-64 processor since 2009 counts bits in one instruction; the compiler's default does not.
MACHINE = ["-march=x86-64-v2"] if platform.machine() == "x86_64" else []
FLAGS = ["-std=c++17", "-O3", "-g0", *MACHINE, *shlex.split(os.environ.get("TWIGCAST_CXXFLAGS", ""))]


class BuildKernel(build_ext):
    """Says what is missing on a machine where the kernel cannot be compiled."""

    def build_extension(self, extension):
        try:
            super().build_extension(extension)
        except CompileError as error:
            if self._compiles("int main() { return 0; }"):
                if self._compiles("#include <expat.h>"):
                    raise
                missing = "the header expat.h of libexpat: apt-get install libexpat1-dev"
            else:
                missing = "a C++ compiler for C++17: apt-get install g++"
            raise CompileError(f"{error}\n\ntwigcast needs {missing}\n") from None

    def _compiles(self, source):
        with TemporaryDirectory() as folder:
            file = Path(folder, "probe.cpp")
            file.write_text(source)
            try:
                self.compiler.compile([str(file)], output_dir=folder, extra_preargs=FLAGS)
            except CompileError:
                return False
        return True


setup(
    cmdclass={"build_ext": BuildKernel},
    ext_modules=cythonize(
        [
            Extension(
                "twigcast.filtering.kernel._kernel",
                [f"{KERNEL}/_kernel.pyx"],
                depends=[f"{KERNEL}/{each}" for each in sorted(os.listdir(KERNEL)) if each.endswith(SOURCES)],
                include_dirs=[KERNEL],
                libraries=["expat"],
                language="c++",
                extra_compile_args=FLAGS,
                extra_link_args=shlex.split(os.environ.get("TWIGCAST_LDFLAGS", "")),
            )
        ]
    ),
)
