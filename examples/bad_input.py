"""A bad subscription or document is reported with its position; the good ones are processed."""

from __future__ import annotations

import warnings

import pyarrow as pa

from twigcast import Index

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the refused are looked at below
    index = Index([("good", "//p"), ("bad", "//p[person="), ("also good", "//person")])
for refused in index.refused:
    print(f"refused: {refused.id}: {refused.error}")

documents = [
    b"<p/>",
    b"<p><person></p>",
    b"<!DOCTYPE p [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><p>&x;</p>",
    b"<person/>",
]
found = index.match_batch(pa.array(documents, pa.binary()))
for row, error in enumerate(found.errors):
    if error is not None:
        print(f"document {row + 1}: {error.code}: {error}")
    else:
        print(f"document {row + 1}: {', '.join(map(str, found.ids(row)))}")
