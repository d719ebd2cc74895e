"""The reference engine for documents in fragments, as the thesis describes it; slow, for comparison."""

from experiments.engines.fragments.matching import (
    Eliminate,
    ThesisEngine,
    ThesisMatching,
    ThesisOptions,
    ThesisWork,
)

__all__ = ["Eliminate", "ThesisEngine", "ThesisMatching", "ThesisOptions", "ThesisWork"]
