"""Three publishers with schemas of their own, their mappings to a global schema, and documents of each."""

from __future__ import annotations

from pathlib import Path

GLOBAL = """
<!ELEMENT news (item*, writer*)>
<!ELEMENT item (title?, author*, place?)> <!ELEMENT author (name?)> <!ELEMENT writer (name?, work*)>
<!ELEMENT work (text?)> <!ELEMENT title (#PCDATA)> <!ELEMENT place (#PCDATA)>
<!ELEMENT name (#PCDATA)> <!ELEMENT text (#PCDATA)>
"""

SCHEMAS = {
    "north": "<!ELEMENT paper (story*)> <!ELEMENT story (head, by*, town?)>"
    "<!ELEMENT head (#PCDATA)> <!ELEMENT by (#PCDATA)> <!ELEMENT town (#PCDATA)>",
    "south": "<!ELEMENT blatt (artikel*)> <!ELEMENT artikel (ort?)> <!ELEMENT ort (#PCDATA)>"
    "<!ATTLIST artikel titel CDATA #REQUIRED>",
    "west": "<!ELEMENT list (entry*)> <!ELEMENT entry (body, who*)> <!ELEMENT body (#PCDATA)>"
    "<!ELEMENT who (name)> <!ELEMENT name (#PCDATA)>",
}

MATCHES = {
    "north": {
        "paper": "news",
        "paper/story": "news/item",
        "paper/story/head": "news/item/title",
        "paper/story/by": "news/item/author/name",
        "paper/story/town": "news/item/place",
    },
    "south": {
        "blatt": "news",
        "blatt/artikel": "news/item",
        "blatt/artikel/@titel": "news/item/title",
        "blatt/artikel/ort": "news/item/place",
    },
    "west": {
        "list": "news",
        "list/entry": "news/writer/work",
        "list/entry/body": "news/writer/work/text",
        "list/entry/who": "news/writer",
        "list/entry/who/name": "news/writer/name",
    },
}

NORTH = b"<paper><story><head>Rain</head><by>Ann</by><by>Bo</by><town>Oslo</town></story></paper>"
SOUTH = b'<blatt><artikel titel="Rain"><ort>Bern</ort></artikel></blatt>'
WEST = b"<list><entry><body>Rain</body><who><name>Ann</name></who><who><name>Bo</name></who></entry></list>"
EXPLOSIVE = b"<list><entry><body>%s</body>%s</entry></list>" % (
    b"x" * 2000,
    b"<who><name>n</name></who>" * 100,
)
"""With limits of 10 times and 4,000 bytes, its copies of the entry are too many."""

LIMITS = {"amplification": 10.0, "amplification_threshold": 4000}


def write_mappings(folder: Path, *names: str) -> Path:
    """Write the mapping files of publishers, by default of all, with their schemas; returns their folder."""
    mappings = folder / "mappings"
    mappings.mkdir(exist_ok=True)
    (folder / "global.dtd").write_text(GLOBAL)
    for name in names or tuple(MATCHES):
        (mappings / f"{name}.dtd").write_text(SCHEMAS[name])
        write_mapping(mappings, name, MATCHES[name])
    return mappings


def write_mapping(mappings: Path, name: str, pairs: dict[str, str], version: int = 1) -> None:
    """Write one mapping file, as an editor should: under a hidden name, and then renamed."""
    lines = [f'mapping = "{name}"', f"version = {version}", f'source = "{name}.dtd"']
    lines += [
        'target = "../global.dtd"',
        "[match]",
        *(f'"{one}" = "{other}"' for one, other in pairs.items()),
    ]
    hidden = mappings / f".{name}.toml"
    hidden.write_text("\n".join(lines))
    hidden.rename(mappings / f"{name}.toml")
