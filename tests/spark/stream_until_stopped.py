"""A process that streams the pipeline of a file until there is a file ``stop`` beside it.

    python stream_until_stopped.py FOLDER

It writes a file ``ready`` when the stream has been started; the test that starts it kills it at any time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from twigcast import spark as tc


def main(folder: Path) -> None:
    spark = tc.session(master="local[2]", conf={"spark.sql.shuffle.partitions": "2"})
    query = tc.stream(spark, tc.Pipeline.load(folder / "pipeline.toml"))
    (folder / "ready").touch()
    while query.isActive and not (folder / "stop").exists():
        time.sleep(0.05)
    query.processAllAvailable()
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
