"""A program for ``spark-submit``: it gets a session, delivers a document, and prints where that was done.

spark-submit … submitted.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from twigcast import spark as tc

KEYS = ("spark.master", "spark.app.name", "spark.sql.shuffle.partitions")


def main(folder: Path) -> None:
    asked = {"spark.app.name": "asked for", "spark.sql.shuffle.partitions": "7"}
    spark = tc.session(master="local[1]", conf=asked)
    version = tc.IndexVersion.write(folder / "versions", 1, [tc.Subscription("s", "/x", "ada")])
    documents = spark.sql("select '1' doc_id, '<x/>' body")
    hits = tc.match(documents, version, ship="files")
    delivered = tc.deliveries(hits, version, ship="files").collect()
    said = {key: spark.conf.get(key) for key in KEYS}
    print(json.dumps({**said, "delivered": [row.subscriber for row in delivered]}))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
