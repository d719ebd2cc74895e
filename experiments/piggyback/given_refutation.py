"""A cost model in which annotations refute a given share of the rows, whatever the real routers found."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from twigcast.routing import DocumentWork
from twigcast.simulator.cost import CostModel


@dataclass(frozen=True, slots=True)
class GivenRefutation(CostModel):
    """The model that it was made of, for documents that come with annotations of which a share is refuted."""

    share: float = 0.0

    @classmethod
    def of(cls, model: CostModel, share: float) -> GivenRefutation:
        """Make the model from another one."""
        return cls(**{each.name: getattr(model, each.name) for each in fields(model)}, share=share)

    def matching(self, size: int, work: DocumentWork) -> float:
        """Return the time in which a document is parsed and matched with the share of its rows refuted."""
        if work.read_bytes:
            work = replace(work, refuted=round(self.share * work.rows), switched_off=0.0)
        return CostModel.matching(self, size, work)
