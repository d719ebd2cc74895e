"""What is kept in projections, decided for each label path by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from twigcast.document import Keep, LabelPath


class PathDecisions:
    """Decisions by a function of the label path, with a state for each label path that occurs."""

    def __init__(self, decide: Callable[[LabelPath], Sequence[Keep]]) -> None:
        self.start = 0
        self._decide = decide
        self._paths: list[LabelPath] = [()]
        self._keeps: list[tuple[Keep, ...]] = [tuple(decide(()))]
        self._steps: dict[tuple[int, str, str], int] = {}

    def step(self, state: int, namespace: str, local: str) -> int:
        """The state of a child with this name."""
        key = state, namespace, local
        found = self._steps.get(key)
        if found is None:
            path = (*self._paths[state], (namespace, local))
            above = self._keeps[state] if state else [Keep.ABOVE] * len(self._keeps[0])
            own = self._decide(path)
            ended = (Keep.DROP, Keep.TREE)
            kept = [Keep.DROP if outer in ended else each for outer, each in zip(above, own, strict=True)]
            found = self._steps[key] = len(self._paths)
            self._paths.append(path)
            self._keeps.append(tuple(kept))
        return found

    def keeps(self, state: int) -> Sequence[Keep]:
        """How much is kept in each output."""
        return self._keeps[state]
