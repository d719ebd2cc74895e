"""A question to one large document: an XPath expression, or a function of the tree of a part.

    ChunkQuery("adults", "/site/people/person[profile/age > 17]/name")
    ChunkQuery("cited", "/site//item[@id = $wanted]", variables={"wanted": "item7"})
    ChunkQuery("number", "count(//person)")                         its answer is the number
    ChunkQuery("totals", function=totals, within="/site/open_auctions/open_auction")

An expression of the language of subscriptions is analysed and evaluated by twigcast; variables that are
strings, numbers or truth values are written into it.  Any other XPath 1.0 expression is run with lxml, in the
steps that ``DocumentLimits`` allows.  A function is called with the tree of
lxml, and its author says what it looks at: whole subtrees at ``within``, the start tags of their ancestors,
and whole subtrees at the paths in ``needs``, which may be anywhere; a query with ``needs`` runs on one
document.  The author of an expression may say so, too, who knows better than the analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from twigcast.chunking.reach.variables import with_values
from twigcast.document import PART_FORMS, PartForm
from twigcast.errors import ChunkingError, PatternError
from twigcast.pattern import Expression, Pattern, Subscription, parse, parse_value

Engine: TypeAlias = Literal["auto", "select", "lxml"]
"""Who evaluates an expression: twigcast's own evaluator (``select``), or lxml.

``auto`` is the evaluator, and lxml where that is certain to give the same answers.  ``lxml`` takes the text
of the query as it is.
"""


@dataclass(frozen=True, eq=False)  # without slots, which ``cached_property`` does not support
class ChunkQuery:
    """One query; ``weight`` is its share in the plan, ``priority`` orders chunks (lower is earlier).

    With ``answers="ranges"`` the content of what it selects is not kept for it, only byte ranges are known.
    The content of an element is a document of its own; with ``form="range"`` it is the bare range of bytes.

    Raises ``ChunkingError`` if it has neither an expression nor a function, or both.
    """

    id: Hashable
    text: str = ""
    namespaces: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0
    priority: int = 0
    engine: Engine = "auto"
    variables: Mapping[str, Any] = field(default_factory=dict)
    function: Callable[[Any], Iterable[Any]] | None = None
    within: str = ""
    needs: tuple[str, ...] = ()
    answers: Literal["content", "ranges"] = "content"
    form: PartForm = "document"

    def __post_init__(self) -> None:
        if bool(self.text) is (self.function is not None):
            raise ChunkingError(f"the query {self.id} needs an expression or a function", code="query")
        if self.weight <= 0:
            raise ChunkingError(f"the weight of the query {self.id} must be positive", code="query")
        if self.form not in PART_FORMS:
            expected = " or ".join(PART_FORMS)
            raise ChunkingError(f"the form of the query {self.id} must be {expected}", code="query")

    @classmethod
    def of_subscription(cls, subscription: Subscription, engine: Engine = "auto") -> ChunkQuery:
        """The query that asks for what a subscription selects."""
        return cls(subscription.id, subscription.text, subscription.namespaces, engine=engine)

    @cached_property
    def pattern(self) -> Pattern | None:
        """The pattern by which the query is analysed; ``None`` if the expression is outside the language.

        A relative path means another thing to lxml, so it is not taken from a query for lxml.
        """
        if self.function is not None or (self.engine == "lxml" and self.variables):
            return None
        if self.engine == "lxml" and not self.text.lstrip().startswith(("/", "(/")):
            return None
        try:
            return parse(with_values(self.text, self.variables), self.namespaces)
        except PatternError as error:
            if error.code in ("unsupported", "never-matches") or self.engine == "lxml":
                return None
            raise

    @cached_property
    def value(self) -> Expression | None:
        """The expression that twigcast evaluates, if its value is a number, a string or a truth value.

        As a subscription, such an expression is a condition on the document.
        """
        if self.function is not None or self.engine == "lxml":
            return None
        try:
            return parse_value(with_values(self.text, self.variables), self.namespaces)
        except PatternError:
            return None

    @property
    def runs_on_lxml(self) -> bool:
        """Whether lxml evaluates the query."""
        return self.engine == "lxml" or (self.value is None and self.pattern is None)

    def __str__(self) -> str:
        return self.text or f"{getattr(self.function, '__name__', 'function')} within {self.within or '/'}"
