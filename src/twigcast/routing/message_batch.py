"""Validates a batch of messages from one link, and splits it into parts before any message is handled.

    Subscribe s, Unsubscribe t, Publish d, Unsubscribe s        a batch
    {s: pattern, t: None}, [d]   │   {s: None}, []              two parts, each with its net change

The changes of a part are made first and all at once, then its publications are routed.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from twigcast.characters import describe_character, illegal_character
from twigcast.errors import PatternError, RoutingError
from twigcast.pattern import Pattern, PatternLimits, check_text, render, shortened
from twigcast.routing.advertising import Advertisement
from twigcast.routing.messages import (
    Advertise,
    Envelope,
    Message,
    Paths,
    Publish,
    PublishFragment,
    RequestAnnotations,
    Subscribe,
    Unadvertise,
    Unpublish,
    Unsubscribe,
)
from twigcast.routing.piggyback import DocumentFinding
from twigcast.routing.tables import AdvertisementTable, PublicationTable

RESERVED = ("merge:", "aggregate:", "branch:")
"""The prefixes of the ids that routers generate; clients cannot use them."""


@dataclass(slots=True)
class BatchPart:
    """Changes that are made together, where None is a removal, and the publications that come after them."""

    subscriptions: dict[str, Pattern | None] = field(default_factory=dict)
    advertisements: dict[str, Advertisement | None] = field(default_factory=dict)
    documents: list[tuple[Envelope, DocumentFinding]] = field(default_factory=list)
    """With what was found before the batch, which is stale from the first part with changes on."""
    paths: list[Paths] = field(default_factory=list)
    fragments: list[PublishFragment | Unpublish] = field(default_factory=list)

    @property
    def has_changes(self) -> bool:
        return bool(self.subscriptions or self.advertisements)


def in_parts(
    messages: Sequence[Message],
    link: str,
    subscribed: Container[str],
    announced: AdvertisementTable,
    read: Callable[[Envelope], DocumentFinding],
    *,
    takes_paths: bool,
    takes_plans: bool,
    takes_fragments: bool = False,
) -> list[BatchPart]:
    """Split a batch from one link into parts; raises ``RoutingError`` or ``DocumentError`` to refuse it.

    ``subscribed`` holds the ids that the link has.  Every document is read here, so that an unreadable
    document refuses the batch before anything has changed.
    """
    parts = [BatchPart()]
    present: dict[str, bool] = {}  # by id in this batch: whether it is subscribed after the last message
    known: dict[str, bool] = {}
    for message in messages:
        if isinstance(message, Publish):
            parts[-1].documents.append((message.envelope, read(message.envelope)))
        elif isinstance(message, Subscribe):
            if present.get(message.id, message.id in subscribed):
                raise duplicate("subscription", message.id, link)
            _check_subscription(message)
            present[message.id] = True
            _part_for_change(parts).subscriptions[message.id] = message.pattern
        elif isinstance(message, Unsubscribe):
            if not present.get(message.id, message.id in subscribed):
                raise unknown("subscription", message.id, link)
            present[message.id] = False
            _part_for_change(parts).subscriptions[message.id] = None
        elif isinstance(message, Advertise):
            id = message.advertisement.id
            origin = announced.origin(id)
            if known.get(id, origin is not None):
                raise duplicate("advertisement", id, origin or link)
            _check_id("advertisement", id)
            known[id] = True
            _part_for_change(parts).advertisements[id] = message.advertisement
        elif isinstance(message, Unadvertise):
            if not known.get(message.id, message.id in announced[link]):
                raise unknown("advertisement", message.id, link)
            known[message.id] = False
            _part_for_change(parts).advertisements[message.id] = None
        elif isinstance(message, Paths) and takes_paths:
            parts[-1].paths.append(message)
        elif isinstance(message, PublishFragment | Unpublish) and takes_fragments:
            parts[-1].fragments.append(message)
        elif isinstance(message, RequestAnnotations) and takes_plans:
            _check_plan(message, link)  # it concerns the documents that are sent to the link
        else:
            raise RoutingError(
                f"a router does not accept {type(message).__name__} from {link!r}",
                code="unexpected-message",
                name=type(message).__name__,
            )
    return parts


def added(parts: Sequence[BatchPart]) -> dict[str, Pattern]:
    """Return the subscriptions that a batch adds, including those that it removes again."""
    return {
        id: pattern for part in parts for id, pattern in part.subscriptions.items() if pattern is not None
    }


def check_ids(
    new: Mapping[str, Pattern],
    link: str,
    asked: PublicationTable,
    exact: PublicationTable,
    pattern: Callable[[int], Pattern],
) -> None:
    """Check that each id is new, or generated by a router and used for the same pattern as before."""
    is_client = asked[link].is_client
    if is_client:
        for id in new:
            if id.startswith(RESERVED):
                raise RoutingError(
                    f"the id {id!r} has a prefix that is reserved for routers: {', '.join(RESERVED)}",
                    code="reserved-id",
                    name=id,
                )
        for id, links in exact.holders(new, link).items():
            raise duplicate("subscription", id, links[0])
    for id, links in asked.holders(new, link).items():
        other = links[0]
        number = asked[other].numbers[id]
        if is_client or asked[other].is_client or pattern(number) != new[id]:
            raise duplicate("subscription", id, other)


def duplicate(what: str, id: str, link: str) -> RoutingError:
    """Make the error for an id that is already in use."""
    return RoutingError(f"the {what} {id!r} already exists, from {link!r}", code="duplicate-id", name=id)


def unknown(what: str, id: str, link: str) -> RoutingError:
    """Make the error for an id that a link does not have."""
    return RoutingError(f"{link!r} has no {what} {id!r}", code="unknown-id", name=id)


def _check_subscription(message: Subscribe) -> None:
    """Refuse a pattern that no index accepts: later it would stop the documents of all subscribers."""
    _check_id("subscription", message.id)
    try:
        check_text(render(message.pattern))
    except (PatternError, ValueError) as error:
        raise RoutingError(
            f"the pattern of the subscription {shortened(message.id)} has no valid text: {error}",
            code="character",
            name=message.id,
        ) from error


def _check_plan(message: RequestAnnotations, link: str) -> None:
    """Refuse a plan with questions that no index accepts, for the same reason."""
    plan = message.plan
    plan.check()
    try:
        for pattern in (*[wish.pattern for wish in plan.wishes], *plan.answers):
            check_text(render(pattern))
    except (PatternError, ValueError) as error:
        raise RoutingError(
            f"the annotation plan of {link!r} has a pattern without a valid text: {error}",
            code="character",
            name=link,
        ) from error


def _check_id(what: str, id: str) -> None:
    at = illegal_character(id)
    if at is not None:
        message = (
            f"the id of the {what} {shortened(id)} has the character {describe_character(id[at])} at "
            f"position {at + 1}, which XML does not allow"
        )
        raise RoutingError(message, code="character", name=id)
    if len(id) > PatternLimits().size:
        message = f"the id of the {what} {shortened(id)} has more than {PatternLimits().size} characters"
        raise RoutingError(message, code="too-complex", name=id)


def _part_for_change(parts: list[BatchPart]) -> BatchPart:
    """Return the part for the next change, which is a new one if the last part has publications."""
    if parts[-1].documents or parts[-1].paths or parts[-1].fragments:
        parts.append(BatchPart())
    return parts[-1]
