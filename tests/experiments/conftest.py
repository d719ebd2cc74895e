"""The experiments lie outside the package: their tests find them at the root of the project."""

from __future__ import annotations

import sys
from pathlib import Path

PROJECT = str(Path(__file__).parents[2])
if PROJECT not in sys.path:
    sys.path.insert(0, PROJECT)
