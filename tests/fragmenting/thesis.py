"""The document, the query and the cuts of the thesis's Figure 5.1, as far as its text gives them."""

from __future__ import annotations

from twigcast.fragmenting import Cuts, Fragment, HeaderKind, fragment

DOCUMENT = (
    b"<a><b><f><p><i/></p></f><e><p/></e><e><x/><g/></e></b>"
    b"<m><c><k><y/></k><s><y/></s></c><c><k><y/></k><u><v/></u></c><n/></m></a>"
)
SEPARATORS = (8, 11, 15, 17, 20, 22)
"""The second e, m, s, the second c, u and n, as numbers of elements."""

QUERY = "/a[b/f//i]//m/c[k/y]/s/y"
WITHOUT_MATCH = "/a[b/f//j]//m/c[k/y]/s/y"


def fragments(kind: HeaderKind = "prefix+level") -> list[Fragment]:
    """The seven fragments; f7 has the root."""
    return list(fragment(DOCUMENT, doc_id="d", cut=Cuts(SEPARATORS), header=kind))
