"""The names of delivered files, from a template such as ``{name}-{id}.xml``.

    {name}           the name of the document: the end of its id, without folders, ``.xml`` and ``.gz``
    {id}             the first 16 digits of the delivery id
    {delivery_id}    all of it
    {doc_id}, {subscriber}, {subscription}, {part}, and the columns that deliveries carry

Invariant: a name has an id in it, so no two deliveries share a file, and the same delivery has the same name
in every run; nothing else in it varies from run to run.  A name is one that every file system takes and that
no reader skips as hidden.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from string import Formatter

FILE_NAME = "{name}-{id}.xml"
FILE_NAME_FIELDS = ("name", "id", "delivery_id", "doc_id", "subscriber", "subscription", "part")
NAME_BYTES = 200
LITERAL_BYTES = 60
SHORT_ID = 16
"""The digits of a short id: with 64 bits, nobody can make a document that gets the id of another one."""

_IDS = ("id", "delivery_id")
_UNSAFE = re.compile(r'[/\\:*?"<>|%]')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(?= *(?:\.|\Z))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FileNameTemplate:
    """A template, as pairs of literal text and the field that follows it, or none at the end."""

    pieces: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str) -> FileNameTemplate:
        """The template of a text; raises ``ValueError`` with a sentence about what was expected."""
        try:
            parsed = list(Formatter().parse(text))
        except ValueError as error:
            raise ValueError(f"expected fields in braces, such as {FILE_NAME}: {error}") from None
        pieces = [(literal, field) for literal, field, _, _ in parsed]
        if any(form or conversion for _, _, form, conversion in parsed):
            raise ValueError("expected the names of fields in braces only, without a format")
        found = cls(tuple(pieces))
        literals = "".join(literal for literal, _ in pieces)
        if _safe(literals) != literals or "/" in literals:
            hint = "; partition_by makes folders" if "/" in literals else ""
            raise ValueError(f"expected characters that every file system takes, got {literals!r}{hint}")
        if text[:1] in _LEADING or text[-1:] in (".", " "):
            raise ValueError("expected a name that is not hidden and does not end in a dot or a space")
        if len(literals.encode()) > LITERAL_BYTES:
            raise ValueError(f"expected at most {LITERAL_BYTES} bytes beside the fields")
        if not set(_IDS) & set(found.fields):
            raise ValueError("expected {id} or {delivery_id} in it, so that no two deliveries share a file")
        return found

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields, in order."""
        return tuple(field for _, field in self.pieces if field is not None)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of a delivery that the fields are made from."""
        return frozenset({"name": "doc_id", "id": "delivery_id"}.get(field, field) for field in self.fields)

    def name(self, delivery: Mapping[str, object]) -> str:
        """The name of the file of a delivery, given at least its ``columns``."""
        values = {field: _safe(_value(field, delivery)) for field in self.fields}
        free = [field for field in self.fields if field not in _IDS]
        fixed = len("".join(literal for literal, _ in self.pieces).encode())
        fixed += sum(len(values[field]) for field in self.fields if field in _IDS)
        if fixed + sum(len(values[field].encode()) for field in free) > NAME_BYTES:
            most = max(0, NAME_BYTES - fixed) // len(free)
            values |= {field: values[field].encode()[:most].decode("utf-8", "ignore") for field in free}
        made = "".join(literal + (values[field] if field else "") for literal, field in self.pieces)
        return _DEVICE.sub(r"\1-", made.lstrip(_LEADING).rstrip(". "), count=1)


_LEADING = "._-~ "


def document_name(doc_id: str) -> str:
    """The name of a document, from its id: ``feed/a.xml.gz`` and ``a.zip!b/a.xml`` are both ``a``."""
    path = re.split(r"[/!]", doc_id.rstrip("/!"))[-1]
    file, mark, record = path.rpartition("#")
    if not mark or not record.isdecimal():
        file, record = path, ""
    stem = re.sub(r"(?i)(?<=.)\.gz\Z", "", file)
    stem = re.sub(r"(?i)(?<=.)\.xml\Z", "", stem)
    return f"{stem}-{record}" if record else stem


def text_of(value: object) -> str:
    """A value of a column as text for names of files and folders."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):  # or a datetime
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _value(field: str, delivery: Mapping[str, object]) -> str:
    if field == "name":
        return document_name(text_of(delivery["doc_id"]))
    if field == "id":
        return text_of(delivery["delivery_id"])[:SHORT_ID]
    return text_of(delivery[field])


def _safe(text: str) -> str:
    """The text with ``_`` for characters that some file system refuses, or that cannot be seen."""
    return _UNSAFE.sub(
        "_",
        "".join(
            "_" if unicodedata.category(each)[0] == "C" or each in "\u2028\u2029" else each for each in text
        ),
    )
