"""The techniques of a network as keys of a file, the same in a pipeline and in a scenario.

[network]
advertising = true            subscriptions go only where documents that match can come from
covering = true               a subscription that another one covers is not forwarded
merging = 0.1                 the degree up to which mergers may be imperfect
aggregation = 0.25            the share of the steps that may be forwarded
publication = "documents"     or "fragments", "paths"
annotations = "structure"     or "none", "answers", or a list of kinds
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from twigcast.config import ConfigSection, wrong
from twigcast.errors import RoutingError
from twigcast.routing.piggyback import annotations_named
from twigcast.routing.strategy import STRATEGIES, Publication, Strategy


def _kinds(value: Any) -> Any:
    """Validate the kinds of annotations, given as a word or a list of words; the result is a name."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = tuple(value)
    try:
        return annotations_named(value) if isinstance(value, str | tuple) else value
    except RoutingError as error:
        raise wrong("", error.message) from None


if TYPE_CHECKING:
    AnnotationNames = str | None
else:
    AnnotationNames = Annotated[str | None, BeforeValidator(_kinds)]

TECHNIQUES = ("advertising", "covering", "merging", "aggregation", "publication", "annotations")
"""The keys of the techniques."""


class TechniquesSection(ConfigSection):
    """The techniques that are switched on; ``strategy`` names a combination of the routing paper instead.

    Without ``advertising``, it is on if there is a schema to advertise.
    """

    strategy: str | None = None
    advertising: bool | None = None
    covering: bool = True
    merging: Annotated[float, Field(ge=0, lt=1)] | None = None
    aggregation: Annotated[float, Field(gt=0, le=1)] | None = None
    publication: Publication = "documents"
    annotations: AnnotationNames = None

    @property
    def has_techniques(self) -> bool:
        """Whether a technique is given."""
        return not self.model_fields_set.isdisjoint({"strategy", *TECHNIQUES})

    def check_techniques(self, *, has_schema: bool) -> None:
        """Refuse techniques that lack what they need; raises the error of a wrong key."""
        if self.strategy is not None:
            if self.strategy not in STRATEGIES:
                raise wrong("strategy", f"expected one of {', '.join(STRATEGIES)}")
            both = [key for key in TECHNIQUES[:4] if key in self.model_fields_set]
            if both:
                raise wrong("strategy", f"expected either strategy or {both[0]}: the name says it already")
        chosen = self.techniques(has_schema=has_schema)
        needs = {
            "advertising": chosen.advertising,
            "merging": chosen.merging is not None,
            "aggregation": chosen.aggregation is not None,
        }
        for key, is_needed in needs.items():
            if is_needed and not has_schema:
                named = f"strategy is {self.strategy!r}" if self.strategy is not None else f"there is {key}"
                raise wrong("schema", f"expected a DTD or XSD, since {named}")

    def techniques(self, *, has_schema: bool) -> Strategy:
        """Return the techniques as a strategy; by default covering, with advertising if there is a schema."""
        if self.strategy is not None:
            named = STRATEGIES[self.strategy]
            advertising, covering, merging = named.advertising, named.covering, named.merging
        else:
            advertising = has_schema if self.advertising is None else self.advertising
            covering, merging = self.covering, self.merging
        return Strategy(
            advertising,
            covering,
            merging,
            self.aggregation,
            self.publication,
            self.annotations,
        )
