"""Names in namespaces: prefixes are bound for all subscriptions, or for one."""

from __future__ import annotations

from twigcast import Index

index = Index(
    [
        ("sport", "//n:subject[@code='sport']"),
        ("any publisher", "//*:publisher"),
        ("author", "//d:creator", {"d": "http://purl.org/dc/elements/1.1/"}),
    ],
    namespaces={"n": "urn:example:news"},
)
document = b"""<item xmlns="urn:example:news" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <subject code="sport"/>
  <dc:creator>Ada</dc:creator>
  <dc:publisher>Engine Press</dc:publisher>
</item>"""

print(index.match(document).ids)
