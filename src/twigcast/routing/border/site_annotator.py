"""Annotates documents for another site, by the plan that the site has written."""

from __future__ import annotations

from twigcast.errors import DocumentError
from twigcast.routing.border.site_plan import SitePlan
from twigcast.routing.messages import Envelope, Message, Publish, RequestAnnotations, Subscribe, flooded
from twigcast.routing.piggyback import protocol
from twigcast.routing.router import Router
from twigcast.routing.strategy import Strategy

HERE, SITE = "publishers", "site"


class SiteAnnotator:
    """A router whose only neighbour is the other site.

    Cost: each document is parsed once, and matched with the plan's subscriptions and questions.
    """

    def __init__(self, plan: SitePlan) -> None:
        strategy = Strategy(advertising=False, covering=False, piggyback=plan.piggyback)
        self._router = Router("here", [SITE], [HERE], strategy=strategy)
        said: list[Message] = [Subscribe(id, pattern) for id, pattern in plan.told.items()]
        if plan.questions is not None:
            said.append(RequestAnnotations(plan.questions))
        self._router.handle(said, SITE)
        kinds = protocol(plan.piggyback)
        self._says_nothing = not (kinds.positive or kinds.negative)

    def annotations(self, doc_id: str, body: bytes) -> bytes:
        """Return the annotations of a document for the site; nothing if it cannot be read."""
        if self._says_nothing:
            return b""
        envelope = flooded(Envelope(doc_id, body), "the network has decided to send it")
        try:
            sent = self._router.handle([Publish(envelope)], HERE)
        except DocumentError:
            return b""
        (message,) = (each.message for each in sent)
        assert isinstance(message, Publish)
        return message.envelope.annotations
