"""Matches invoices in UBL and in CII with the same subscriptions, written against one global schema.

python examples/invoices/invoices.py            the small documents of the mapping files
python examples/invoices/invoices.py FOLDER     invoices of your own, in either syntax
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from twigcast.document import read
from twigcast.errors import TwigcastError
from twigcast.pattern import matches, parse
from twigcast.rewriting import Mapping, Mappings, mapping_paths, read_mapping_file

HERE = Path(__file__).parent
SUBSCRIPTIONS = {
    "from Germany": "/invoice[seller/country='DE']",
    "payment terms": "//payment[means_code='58'][terms]",
    "standard rate": "//line[item/tax_category='S'][quantity > 1]",
    "not delivered": "/invoice[not(delivery)]",
    "credit notes": "/invoice[type_code='381']",
}


def main() -> None:
    """Print which subscriptions each document matches."""
    for name, text in SUBSCRIPTIONS.items():
        print(f"{name:14} {text}")
    mappings = Mappings.load(HERE)
    by_root = {mapping.source.root.label: mapping for mapping in mappings}
    patterns = {name: parse(text) for name, text in SUBSCRIPTIONS.items()}
    for title, body in documents():
        try:
            document = read(body)
        except TwigcastError as error:
            print(f"{title}: refused, {error.message}")
            continue
        mapping: Mapping | None = by_root.get((document.root.namespace, document.root.local))
        if mapping is None:
            print(f"{title}: no mapping for {document.root.local}")
            continue
        image = mapping.apply(document)
        matched = [name for name, pattern in patterns.items() if matches(pattern, image)]
        print(f"{title} ({mapping.name}): {', '.join(matched) or 'nothing'}")


def documents() -> Iterator[tuple[str, bytes]]:
    """The invoices of a folder, or those in the tests of the mapping files."""
    if len(sys.argv) > 1:
        for path in sorted(Path(sys.argv[1]).glob("*.xml")):
            yield path.name, path.read_bytes()
        return
    for path in mapping_paths(HERE):
        file = read_mapping_file(path)
        for test in file.tests:
            yield f"test of {path.name}", test.body()


if __name__ == "__main__":
    main()
