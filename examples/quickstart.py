"""Builds an index of subscriptions, and matches and selects from one document."""

from __future__ import annotations

from twigcast import Index

index = Index(
    [
        ("lead", "/nitf//hl1[@class='lead']"),
        ("ada", "//p[person='Ada']"),
        ("long", "//body[count(p) > 2]"),
        ("sport", "//category[starts-with(., 'sport') or @code >= 15000]"),
    ]
)
document = b"""<nitf>
  <head><category code="15054">football</category></head>
  <body>
    <hl1 class="lead">Engines</hl1>
    <p>A note by <person>Ada</person>.</p>
    <p>Another one.</p>
  </body>
</nitf>"""

print("matched:", ", ".join(index.match(document).ids))
for part in index.select(document, "ada"):
    print("ada gets:", document[part.start : part.end].decode())
print()
print(index.explain(document, "long"))
