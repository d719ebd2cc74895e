"""One process compiles the subscriptions and saves the index; worker processes map the file and match."""

from __future__ import annotations

import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from twigcast import Index


def matched(path: Path, document: bytes) -> list[str]:
    """What a worker does: open the file, match one document."""
    return list(Index.open(path).match(document).ids)


def main() -> None:
    documents = [f"<order><item price='{price}'/></order>".encode() for price in (5, 50, 500)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "orders.tci")
        Index((f"from {price}", f"//item[@price >= {price}]") for price in (1, 10, 100)).save(path)
        with ProcessPoolExecutor(2) as workers:
            for document, ids in zip(
                documents, workers.map(matched, [path] * len(documents), documents), strict=True
            ):
                print(document.decode(), "→", ", ".join(ids))


if __name__ == "__main__":
    main()
