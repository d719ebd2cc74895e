"""Publication by fragments: routers forward a document before all of it has come.

A ``FragmentRelay`` has the open documents of one router; a ``RelayedDocument`` is one of them.
"""

from twigcast.routing.fragment_publication.relay import FragmentRelay
from twigcast.routing.fragment_publication.relayed_document import RelayedDocument

__all__ = ["FragmentRelay", "RelayedDocument"]
