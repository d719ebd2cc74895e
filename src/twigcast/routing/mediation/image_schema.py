"""The advertisement of a publisher whose documents are rewritten: the schema of their images.

Subscriptions are written against the global schema, so they overlap images, never the publisher's own schema.
"""

from __future__ import annotations

from twigcast.rewriting import Mapping, image_automaton
from twigcast.routing.advertising import Advertisement


def image_advertisement(id: str, mapping: Mapping) -> Advertisement:
    """The advertisement of the images of a mapping."""
    return Advertisement(id, image_automaton(mapping.image))
