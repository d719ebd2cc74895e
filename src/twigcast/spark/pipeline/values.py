"""The types of single values in a pipeline file: paths, names, sizes and options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

from twigcast.config import wrong
from twigcast.document import NO_LIMIT
from twigcast.subscriptions import check_binding


def _resolved(path: str, info: ValidationInfo) -> str:
    if not path:
        raise PydanticCustomError("path", "expected a path, got an empty string")
    if "://" in path:
        return path
    folder = (info.context or {}).get("folder") or Path.cwd()  # the JVM may have another current folder
    return str(Path(folder, Path(path).expanduser()))


def _local(path: object, info: ValidationInfo) -> object:
    if isinstance(path, str) and "://" in path:
        raise PydanticCustomError("path", "expected a local or mounted path, without a scheme")
    return Path(_resolved(str(path), info)) if isinstance(path, str | Path) else path


def _as_text(value: object) -> object:
    """Spark takes options as text; TOML has booleans and numbers too."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def as_tuple(value: object) -> object:
    """A list of a TOML file, or one name, as the tuple that a frozen section holds."""
    if isinstance(value, list):
        return tuple(value)
    return (value,) if isinstance(value, str) else value


def _bindable(bound: dict[str, str]) -> dict[str, str]:
    for prefix, uri in bound.items():
        try:
            check_binding(prefix, uri)
        except ValueError as error:
            raise wrong(prefix, str(error)) from None
    return bound


AnyPath = Annotated[str, AfterValidator(_resolved)]
"""A local path, or a URL that Spark can open."""

LocalPath = Annotated[Path, BeforeValidator(_local)]
"""A path that the driver opens itself."""

Name = Annotated[str, Field(min_length=1)]
ByteCount = Annotated[int, Field(gt=0, le=NO_LIMIT)]
KernelCount = Annotated[int, Field(gt=0, le=1 << 31)]  # the kernel stores it in 32 bits
Options = dict[str, Annotated[str, BeforeValidator(_as_text)]]

Namespaces = Annotated[dict[str, str], AfterValidator(_bindable)]
"""Prefixes with their namespaces; the empty prefix is the namespace of element names without a prefix."""
