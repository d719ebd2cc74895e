"""A program for ``spark-submit``: it runs a pipeline and says where that was.

spark-submit … submitted.py PIPELINE
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from twigcast.spark import Pipeline, run
from twigcast.spark.operating import start


def main(path: str) -> None:
    pipeline = Pipeline.load(path)
    spark = start(pipeline)
    conf = {
        key: spark.conf.get(key) for key in ("spark.master", "spark.app.name", "spark.sql.shuffle.partitions")
    }
    print(json.dumps({**conf, "batches": [asdict(batch) for batch in run(spark, pipeline)]}))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
