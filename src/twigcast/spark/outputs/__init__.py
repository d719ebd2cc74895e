"""Outputs: sinks for deliveries, the table of dead letters, and the metrics of batches.

A batch that is written again replaces what an earlier attempt left, so that a batch which was cut off can be
run again at any time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.spark.outputs.dead_letters import open_letters, read_letters, settled_path, write_letters
    from twigcast.spark.outputs.link_metrics import HopMetrics, write_hops
    from twigcast.spark.outputs.mapping_metrics import MappingMetrics, write_mapping_metrics
    from twigcast.spark.outputs.metrics import BatchMetrics, read_metrics, write_metrics
    from twigcast.spark.outputs.sinks import write_deliveries

__all__ = [
    "BatchMetrics",
    "HopMetrics",
    "MappingMetrics",
    "open_letters",
    "read_letters",
    "read_metrics",
    "settled_path",
    "write_deliveries",
    "write_hops",
    "write_letters",
    "write_mapping_metrics",
    "write_metrics",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.spark.outputs.dead_letters": [
            "open_letters",
            "read_letters",
            "settled_path",
            "write_letters",
        ],
        "twigcast.spark.outputs.link_metrics": ["HopMetrics", "write_hops"],
        "twigcast.spark.outputs.mapping_metrics": ["MappingMetrics", "write_mapping_metrics"],
        "twigcast.spark.outputs.metrics": ["BatchMetrics", "read_metrics", "write_metrics"],
        "twigcast.spark.outputs.sinks": ["write_deliveries"],
    },
)
