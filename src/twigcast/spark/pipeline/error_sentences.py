"""Turns the validation errors of pydantic into one sentence for each wrong key of a pipeline file.

source.kind: expected one of 'directory', 'archives' or 'records', got 'dir'
└─ the key as it is written in the file      └─ what would be valid     └─ what the file has
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from twigcast.errors import PipelineError


def wrong(key: str, message: str) -> PydanticCustomError:
    """An error for a validator of a whole section to raise; ``key`` names the key that must change."""
    return PydanticCustomError("wrong", "{message}", {"key": key, "message": message})


def refuse_keys_of_other_kinds(section: BaseModel, kind: str, kinds: Mapping[str, Sequence[str]]) -> None:
    """Raise if a section has a key that belongs to another ``kind`` and would otherwise be ignored."""
    for key, those in kinds.items():
        if key in section.model_fields_set and getattr(section, key) is not None and kind not in those:
            named = " or ".join(f'"{each}"' for each in those)
            raise wrong(key, f'expected it with kind {named}, not "{kind}"')


def pipeline_error(
    error: ValidationError, pipeline: type[BaseModel], sections: Mapping[str, type[BaseModel]], path: str
) -> PipelineError:
    """All problems of a file as one ``PipelineError``, whose ``key`` is the first wrong key."""
    problems = [_problem(details, pipeline, sections) for details in error.errors(include_url=False)]
    sentences = [f"{key}: {problem}" if key else problem for key, problem in problems]
    return PipelineError("; ".join(sentences), path=path, key=problems[0][0])


def _problem(
    details: ErrorDetails, pipeline: type[BaseModel], sections: Mapping[str, type[BaseModel]]
) -> tuple[str, str]:
    """The wrong key, as it is written in the file, and a sentence about it."""
    location, context = details["loc"], details.get("ctx", {})
    key = _written(location)
    if details["type"] == "wrong":
        return ".".join(part for part in (key, context["key"]) if part), context["message"]
    if details["type"] == "extra_forbidden":
        return key, _unknown(location, pipeline, sections)
    if details["type"] == "path":
        return key, details["msg"]
    expected = _EXPECTED.get(details["type"], details["msg"][:1].lower() + details["msg"][1:])
    return key, f"expected {expected.format(**context)}, got {_shown(details['input'])}"


_EXPECTED = {
    "literal_error": "one of {expected}",
    "string_type": "a string",
    "int_type": "a whole number",
    "float_type": "a number",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than_equal": "at most {le:.0f}",
    "finite_number": "a finite number",
    "string_too_short": "at least one character",
    "dict_type": "a table of options",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "one or more tables",
    "too_short": "at least one",
    "path_type": "a path",
    "is_instance_of": "a path",
}


def _unknown(
    location: Sequence[str | int], pipeline: type[BaseModel], sections: Mapping[str, type[BaseModel]]
) -> str:
    """A sentence about an unknown key, with the known key that is nearest to it."""
    section: type[BaseModel] | None = pipeline
    for part in location[:-1]:
        if isinstance(part, str) and section is not None:
            section = sections.get(part)
    keys = sorted(field.alias or name for name, field in section.model_fields.items()) if section else []
    near = difflib.get_close_matches(str(location[-1]), keys, n=1)
    return f"unknown key; did you mean {near[0]}?" if near else f"unknown key; expected {', '.join(keys)}"


def _written(location: Sequence[str | int]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= 60 else f"{text[:59]}…"
