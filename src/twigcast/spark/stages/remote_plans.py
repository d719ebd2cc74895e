"""The plans of remote sites, as the driver finds them when a batch begins.

    <plan of south>  ─read─►  frozen with the index version  ─►  subscriptions in the routers, annotations

A batch that is run again has the plans of its first start, because they are a part of its index version.
A site without a plan that can be read gets every document, without annotations: nothing is lost before a site
has told its subscriptions.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from twigcast.errors import RoutingError
from twigcast.pattern import Pattern, parse, render
from twigcast.routing import SitePlan
from twigcast.spark.pipeline import RemoteSection

EVERYTHING = SitePlan("L", {"": parse("/*")})
"""The plan of a site that has written none: it wants all documents, and no annotations."""

_log = logging.getLogger("twigcast")


def freeze_plans(remote: Mapping[str, RemoteSection]) -> bytes:
    """Read the newest plan of each site; returns them as one content, which is empty without a site."""
    if not remote:
        return b""
    plans = {name: newest_plan(each.plan) for name, each in sorted(remote.items())}
    texts = {name: plan.encode().decode() for name, plan in plans.items()}
    return json.dumps(texts, ensure_ascii=False).encode()


@lru_cache(maxsize=4)
def frozen_plans(content: bytes) -> Mapping[str, SitePlan]:
    """The plan of each site, from the result of ``freeze_plans``."""
    return {name: SitePlan.decode(text.encode()) for name, text in json.loads(content or b"{}").items()}


def newest_plan(path: Path) -> SitePlan:
    """The plan in a file; ``EVERYTHING`` if there is none, or none that can be used."""
    try:
        return _decoded(path.read_bytes(), path)
    except FileNotFoundError:
        return EVERYTHING
    except OSError as error:
        _log.warning("%s: %s (the site gets all documents)", path, error.strerror or error)
        return EVERYTHING


def patterns_by_name(plan: SitePlan) -> dict[str, Pattern]:
    """The subscriptions of a plan under names of their own, so that another pattern has another name."""
    return {_name(pattern): pattern for pattern in plan.told.values()}


def changed_names(before: Iterable[str], after: Iterable[str]) -> tuple[list[str], list[str]]:
    """The names that have gone, and those that have come, in order."""
    return sorted({*before} - {*after}), sorted({*after} - {*before})


@lru_cache(maxsize=16)  # a plan is read again only if it has changed, and warned about once
def _decoded(content: bytes, path: Path) -> SitePlan:
    try:
        return SitePlan.decode(content)
    except RoutingError as error:
        _log.warning("%s: %s (the site gets all documents)", path, error.message)
        return EVERYTHING


def _name(pattern: Pattern) -> str:
    return blake2b(render(pattern).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
