"""Stages: functions from DataFrame to DataFrame whose work is done in the Python workers.

``match`` adds to each document the subscriptions that it matches, and ``deliveries`` makes one row for each
delivery; an index reaches the workers as files that they map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.spark.stages.delivering import dead_letters, deliveries, refused_deliveries
    from twigcast.spark.stages.matching import match, measures

__all__ = [
    "dead_letters",
    "deliveries",
    "match",
    "measures",
    "refused_deliveries",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.spark.stages.delivering": ["dead_letters", "deliveries", "refused_deliveries"],
        "twigcast.spark.stages.matching": ["match", "measures"],
    },
)
