"""A parse with C handlers that do nothing: the baseline of the benchmarks, compiled at its first use."""

from __future__ import annotations

import ctypes
import os
import shlex
import subprocess
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).with_suffix(".c")
_BUILT = Path(__file__).parents[1] / "build" / "benchmarks"
_ONE_CALL = 1 << 30


class BareParser:
    """Parses documents and does nothing else; one thread at a time may use it."""

    def __init__(self) -> None:
        self._library = _library()
        self._parser = self._library.make_parser()
        self._salt = int.from_bytes(os.urandom(8), "little")

    def __del__(self) -> None:
        self._library.free_parser(self._parser)

    def parse_batch(self, starts: Any, ends: Any, data: bytes, block_bytes: int = _ONE_CALL) -> int:
        """The number of documents ``data[starts[i]:ends[i]]`` that are well-formed, each read in blocks.

        The starts and ends are buffers of 8-byte integers.
        """
        count = len(starts)
        extents = ctypes.c_int64 * count
        return int(
            self._library.parse_batch(
                self._parser,
                self._salt,
                extents.from_buffer(starts),
                extents.from_buffer(ends),
                count,
                data,
                block_bytes,
            )
        )


@cache
def _library() -> ctypes.CDLL:
    source = _SOURCE.read_bytes()
    file = _BUILT / f"bare_parser-{blake2b(source, digest_size=8).hexdigest()}.so"
    if not file.exists():
        _BUILT.mkdir(parents=True, exist_ok=True)
        made = file.with_suffix(f".{os.getpid()}")
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run(
            [*compiler, "-O3", "-shared", "-fPIC", "-o", made, _SOURCE, "-lexpat"], check=True, timeout=60
        )
        made.rename(file)
    library = ctypes.CDLL(str(file))
    library.make_parser.restype = ctypes.c_void_p
    library.free_parser.argtypes = [ctypes.c_void_p]
    library.parse_batch.restype = ctypes.c_uint64
    library.parse_batch.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_char_p,
        ctypes.c_int64,
    ]
    return library
