"""The border between two sites that are not connected by messages, but by files.

    north                                                          south
    annotator ◄───────── SitePlan: subscriptions, questions ────── SiteBorder
        └─────────────── documents with annotations ─────────────► SiteReader

The southern site writes a ``SitePlan``, and the northern one follows the newest that it finds.  Both ends are
ordinary routers, so annotations are made and read as they are in a network.
"""

from twigcast.routing.border.site_annotator import SiteAnnotator
from twigcast.routing.border.site_border import SiteBorder
from twigcast.routing.border.site_plan import SitePlan
from twigcast.routing.border.site_reader import SiteReader

__all__ = ["SiteAnnotator", "SiteBorder", "SitePlan", "SiteReader"]
