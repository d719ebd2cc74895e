"""Builds the compiled kernels; everything else is in pyproject.toml."""

import os
import platform
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

# Each compiled module, and the libraries that it is linked with.
MODULES = {
    "twigcast.document.kernel._projector": ["expat"],
    "twigcast.document.kernel._scanner": [],
    "twigcast.filtering.kernel._kernel": ["expat"],
}
SOURCES = (".hpp", ".pxi")
# Every x86-64 processor since 2009 counts bits in one instruction; the compiler's default does not.
MACHINE = ["-march=x86-64-v2"] if platform.machine() == "x86_64" else []
# Cython takes the offsets of members in its classes, which hold classes of C++.
WARNINGS = ["-Wall", "-Wextra", "-Wno-invalid-offsetof"]
OWN_FLAGS = shlex.split(os.environ.get("TWIGCAST_CXXFLAGS", ""))
FLAGS = ["-std=c++17", "-O3", "-g0", *WARNINGS, *MACHINE, *OWN_FLAGS]


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


def folder_of(module):
    """The folder with the sources of a compiled module."""
    return Path("src", *module.split(".")[:-1])


def extension(module, libraries):
    """The extension of a module, which is compiled again if any source of a kernel changes."""
    folder = folder_of(module)
    folders = {folder_of(each) for each in MODULES}
    return Extension(
        module,
        [str(folder / f"{module.rpartition('.')[2]}.pyx")],
        depends=sorted(str(each) for one in folders for each in one.iterdir() if each.suffix in SOURCES),
        include_dirs=[str(folder), "src"],
        libraries=libraries,
        language="c++",
        extra_compile_args=FLAGS,
        extra_link_args=shlex.split(os.environ.get("TWIGCAST_LDFLAGS", "")),
    )


setup(
    cmdclass={"build_ext": BuildKernel},
    ext_modules=cythonize([extension(module, libraries) for module, libraries in MODULES.items()]),
)
