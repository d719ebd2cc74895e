"""Reads TOML files by a pydantic model and says in one sentence for each wrong key what was expected there.

    source.kind: expected one of 'directory' or 'records', got 'dir'
    link.latancy: unknown key; did you mean latency?
    └─ the key as it is written in the file

The room needs pydantic, which comes with the extras of the rooms that read such files.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from twigcast.characters import describe_character, illegal_character

LARGEST = 16 << 20
"""The most bytes of a file: one of that size takes seconds to read."""
DEEPEST = 32
"""The most parts of a key, and the most levels of tables and lists: a parser of TOML needs memory for the
square of the first, and stack for the second."""
MOST_PROBLEMS = 20
"""The most wrong keys that one error names."""
_TOKENS = re.compile(
    r'''"""(?:[^"\\]++|\\.|"(?!""))*+"{3,5}|"(?:[^"\\\n]++|\\.)*+"'''
    r"""|'''(?:[^']++|'(?!''))*+'{3,5}|'[^'\n]*+'"""
    r"|#[^\n]*+|[][{}.=,\n]",
    re.DOTALL,
)
"""Strings and comments as a whole, and the characters that structure a file."""

Section = TypeVar("Section", bound="ConfigSection")


class ConfigError(Exception):
    """Why a file cannot be used; ``key`` is the first wrong key, or empty if the file as a whole is at fault.

    The rooms turn it into their own error with the path of the file.
    """

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.key = key


class ConfigSection(BaseModel):
    """A section of a file: immutable, strict about types, and without unknown keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", validate_default=True)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; raises ``ConfigError`` if it is missing, unreadable, or not TOML in UTF-8."""
    try:
        table = tomllib.loads(toml_text(path))
    except ValueError as error:  # also an integer with too many digits
        raise ConfigError(f"not TOML: {error}") from None
    _check_values(table)
    return table


def toml_text(path: Path) -> str:
    """The text of a TOML file, which a parser can read at a bounded cost; raises ``ConfigError``."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ConfigError(f"larger than {LARGEST:,} bytes")
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError("there is no such file") from None
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"not UTF-8 at byte {error.start + 1}") from None
    except ValueError as error:  # a path with a NUL
        raise ConfigError(f"cannot be read: {error}") from None
    _check_depth(text)
    return text


def _check_depth(text: str) -> None:
    """Refuse long keys and deep values before a parser sees them; what is not TOML is left to the parser."""
    depth = parts = 0
    for token in _TOKENS.finditer(text):
        character = token[0][0]
        if character == ".":
            parts += 1
            if parts >= DEEPEST:
                raise ConfigError(f"{_line(text, token)}: a key of more than {DEEPEST} parts")
        elif character in "[{":
            depth, parts = depth + 1, 0
            if depth > DEEPEST:
                raise ConfigError(f"{_line(text, token)}: {_TOO_DEEP}")
        elif character in "]}":
            depth, parts = max(depth - 1, 0), 0
        elif character in "=,\n":
            parts = 0


def _line(text: str, token: re.Match[str]) -> str:
    return f"line {text.count(chr(10), 0, token.start()) + 1}"


_TOO_DEEP = f"nested more than {DEEPEST} levels deep"


def _check_values(table: dict[str, Any]) -> None:
    """Refuse values that are too deep, and text that no path, name or URI can have.

    Long keys of deep tables make a value deeper than either; TOML can write any character as an escape.
    """
    waiting: list[tuple[str, int, Any]] = [("", 0, table)]
    while waiting:
        key, depth, value = waiting.pop()
        if depth > DEEPEST:
            raise ConfigError(f"{_cut(key)}: {_TOO_DEEP}", key)
        if isinstance(value, dict):
            inside = [(f"{key}.{name}" if key else name, depth + 1, part) for name, part in value.items()]
            waiting += reversed([*((key, depth, name) for name in value), *inside])
        elif isinstance(value, list):
            waiting += [(f"{key}[{at}]", depth + 1, part) for at, part in enumerate(value)][::-1]
        elif isinstance(value, str):
            at = illegal_character(value)
            if at is not None:
                what = f"has the character {describe_character(value[at])} at position {at + 1}"
                raise ConfigError(f"{_cut(key)}: {what}, which XML does not allow" if key else what, key)


def validated(
    model: type[Section], table: Mapping[str, Any], context: Mapping[str, Any] | None = None
) -> Section:
    """The table as a value of the model; raises ``ConfigError`` with a sentence for every wrong key."""
    try:
        return model.model_validate(dict(table), context=None if context is None else dict(context))
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems = [_problem(each, model) for each in details[:MOST_PROBLEMS]]
        sentences = [f"{_cut(key)}: {problem}" if key else problem for key, problem in problems]
        if len(details) > MOST_PROBLEMS:
            sentences.append(f"and {len(details) - MOST_PROBLEMS:,} more")
        raise ConfigError("; ".join(sentences), problems[0][0]) from None


def wrong(key: str, message: str) -> PydanticCustomError:
    """An error for a validator of a whole section to raise; ``key`` names the key that must change."""
    return PydanticCustomError("wrong", "{message}", {"key": key, "message": message})


def _problem(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str]:
    """The wrong key, as it is written in the file, and a sentence about it."""
    location, context = details["loc"], details.get("ctx", {})
    key = _written(location)
    if details["type"] == "wrong":
        return ".".join(part for part in (key, context["key"]) if part), context["message"]
    if details["type"] == "extra_forbidden":
        return key, _unknown(location, model)
    expected = _EXPECTED.get(details["type"])
    if expected is None:
        return key, details["msg"][:1].lower() + details["msg"][1:]
    return key, f"expected {expected.format(**context)}, got {_shown(details['input'])}"


_EXPECTED = {
    "literal_error": "one of {expected}",
    "string_type": "a string",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:.0f}",
    "finite_number": "a finite number",
    "string_too_short": "at least one character",
    "dict_type": "a table of options",
    "list_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "one or more tables",
    "too_short": "at least {min_length}",
    "too_long": "at most {max_length}",
    "path_type": "a path",
    "is_instance_of": "a path",
}


def _unknown(location: Sequence[str | int], model: type[BaseModel]) -> str:
    """A sentence about an unknown key, with the known key that is nearest to it."""
    section = model
    for part in location[:-1]:
        if isinstance(part, str):
            section = _section(section, part) or section  # in a table of sections, names are no keys
    keys = [field.alias or name for name, field in section.model_fields.items()]
    return f"unknown key; {suggestion(str(location[-1]), keys)}"


def suggestion(name: str, known: Iterable[str]) -> str:
    """The known name that is nearest to an unknown one, or all of them if none is near."""
    keys = sorted(known)
    near = nearest(name, keys)
    return f"expected {', '.join(keys)}" if near is None else f"did you mean {near}?"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is nearest to an unknown one, if any is near."""
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1)), None)


def _section(model: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The model of the section that a key of ``model`` holds, also in a list or beside ``None``."""
    for name, field in model.model_fields.items():
        if key in (name, field.alias):
            return next(_models(field.annotation), None)
    return None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def _written(location: Sequence[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _shown(value: object) -> str:
    return _cut(repr(value) if not isinstance(value, bool) else str(value).lower(), 60)


def _cut(text: str, length: int = 200) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
