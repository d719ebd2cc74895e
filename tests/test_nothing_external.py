"""Whatever reads XML, a DTD or an XSD opens nothing that its text refers to.

Each text refers to a bait, a file that inotify watches, in every way that XML has.  The kernel of the system
reports whoever opens it, also a library in C, which an audit hook of Python would not see.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.rewriting.mapping_files.publisher import publisher
from twigcast import Index
from twigcast.document import RecordSplitter, read
from twigcast.errors import TwigcastError
from twigcast.fragmenting import FragmentIndex, Spans, fragment
from twigcast.schema import read_dtd, read_xsd
from twigcast.workload import SchemaInference

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has inotify")

RunCommand = Callable[..., Any]

DOCUMENTS = {
    "document type": '<!DOCTYPE cmu SYSTEM "BAIT"><cmu/>',
    "public document type": '<!DOCTYPE cmu PUBLIC "-//x" "BAIT"><cmu/>',
    "entity": '<!DOCTYPE cmu [<!ENTITY e SYSTEM "BAIT">]><cmu>&e;</cmu>',
    "entity in an attribute": '<!DOCTYPE cmu [<!ENTITY e SYSTEM "BAIT">]><cmu k="&e;"/>',
    "parameter entity": '<!DOCTYPE cmu [<!ENTITY % e SYSTEM "BAIT"> %e;]><cmu/>',
    "default": '<!DOCTYPE cmu [<!ENTITY e SYSTEM "BAIT"><!ATTLIST cmu k CDATA "&e;">]><cmu/>',
    "unparsed entity": '<!DOCTYPE cmu [<!NOTATION n SYSTEM "BAIT"><!ENTITY e SYSTEM "BAIT" NDATA n>]><cmu/>',
    "standalone": '<?xml version="1.0" standalone="no"?><!DOCTYPE cmu SYSTEM "BAIT"><cmu>&e;</cmu>',
    "inclusion": '<cmu xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="BAIT"/></cmu>',
    "stylesheet": '<?xml-stylesheet type="text/xsl" href="BAIT"?><cmu/>',
    "schema location": '<cmu xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="BAIT" xsi:schemaLocation="urn:x BAIT"/>',
}
DTDS = {
    "parameter entity": '<!ENTITY % e SYSTEM "BAIT"> %e; <!ELEMENT a EMPTY>',
    "public parameter entity": '<!ENTITY % e PUBLIC "-//x" "BAIT"> %e; <!ELEMENT a EMPTY>',
    "in a model": '<!ENTITY % e SYSTEM "BAIT"> <!ELEMENT a (b %e;)>',
    "in an entity": '<!ENTITY % e SYSTEM "BAIT"> <!ENTITY % f "x%e;"> <!ELEMENT a EMPTY>',
    "of an entity": "<!ENTITY % e \"<!ENTITY &#37; f SYSTEM 'BAIT'> &#37;f;\"> %e; <!ELEMENT a EMPTY>",
    "section": '<!ENTITY % e SYSTEM "BAIT"> <![INCLUDE[ %e; ]]> <!ELEMENT a EMPTY>',
    "switch": '<!ENTITY % e SYSTEM "BAIT"> <![%e;[ ]]> <!ELEMENT a EMPTY>',
    "default": '<!ENTITY e SYSTEM "BAIT"><!ELEMENT a EMPTY><!ATTLIST a k CDATA "&e;">',
    "notation": '<!NOTATION n SYSTEM "BAIT"><!ENTITY e SYSTEM "BAIT" NDATA n>'
    '<!ELEMENT a EMPTY><!ATTLIST a k ENTITY "e">',
    "document type": '<!DOCTYPE a SYSTEM "BAIT"><!ELEMENT a EMPTY>',
}
ELEMENT = '<xs:element name="a" type="xs:string"/></xs:schema>'
XS = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"'
XSDS = {
    "include": f'{XS}><xs:include schemaLocation="BAIT"/>{ELEMENT}',
    "redefine": f'{XS}><xs:redefine schemaLocation="BAIT"/>{ELEMENT}',
    "override": f'{XS}><xs:override schemaLocation="BAIT"/>{ELEMENT}',
    "import": f'{XS}><xs:import namespace="urn:x" schemaLocation="BAIT"/>{ELEMENT}',
    "import of xml": f'{XS}><xs:import namespace="http://www.w3.org/XML/1998/namespace" '
    f'schemaLocation="BAIT"/>{ELEMENT}',
    "import without place": f'{XS}><xs:import namespace="BAIT"/>{ELEMENT}',
    "hint": f'{XS} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:x BAIT" '
    f'xsi:noNamespaceSchemaLocation="BAIT">{ELEMENT}',
    "document type": f'<!DOCTYPE xs:schema SYSTEM "BAIT">{XS}>{ELEMENT}',
    "entity": f'<!DOCTYPE xs:schema [<!ENTITY e SYSTEM "BAIT">]>{XS}>&e;{ELEMENT}',
    "parameter entity": f'<!DOCTYPE xs:schema [<!ENTITY % e SYSTEM "BAIT"> %e;]>{XS}>{ELEMENT}',
    "inclusion": f'{XS} xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="BAIT"/>{ELEMENT}',
}


def split(body: bytes) -> None:
    splitter = RecordSplitter("cmu")
    for record in [*splitter.feed(b"<feed>"), *splitter.feed(body), *splitter.finish()]:
        if record.body is not None:
            read(record.body)
    list(RecordSplitter("cmu").feed(body))


def match_fragments(body: bytes) -> None:
    fragments = FragmentIndex(index())
    for part in fragment(body, doc_id="d", cut=Spans(elements=1)):
        fragments.add(part)
    fragments.finish("d")


def index() -> Index:
    return Index([("a", "//cmu[. = 'x' or true()]")])


# What reads a document, from its bytes.
READERS: dict[str, Callable[[bytes], object]] = {
    "read": read,
    "match": lambda body: index().match(body),
    "match_batch": lambda body: index().match_batch([body]),
    "select": lambda body: index().select(body, "a"),
    "parts": lambda body: list(index().parts(body, "a")),
    "explain": lambda body: index().explain("a", body),
    "structure": lambda body: index().structure(body),
    "fragments": match_fragments,
    "records": split,
    "infer": lambda body: SchemaInference().add(body),
}

# Commands, with what they read in place of FILE; MAPPING is a mapping file, whose folder has SUBSCRIPTIONS.
DOCUMENT_COMMANDS = [
    "match --subscriptions SUBSCRIPTIONS FILE",
    "match --subscriptions SUBSCRIPTIONS --select FILE",
    "match --subscriptions SUBSCRIPTIONS --mappings MAPPING FILE",
    "explain --subscription //cmu[1] FILE",
    "fragment FILE --bytes 20 --output FOLDER",
    "chunk FILE --queries SUBSCRIPTIONS --sample --run --engine lxml",
    "chunk FILE --queries SUBSCRIPTIONS --sample --run --engine select",
    "schema infer FILE",
    "schema match FILE TARGET",
    "schema match SOURCE TARGET --documents FILE",
    "schema match SOURCE TARGET --learn TESTED",
    "schema try MAPPING FILE",
    "schema check TESTED",
    "schema compare MAPPING MAPPING --documents FILE --subscriptions SUBSCRIPTIONS",
]
SCHEMA_COMMANDS = [
    "generate documents --dtd FILE --count 1 --output FOLDER",
    "generate subscriptions --dtd FILE --count 1",
    "schema match FILE TARGET",
    "schema match SOURCE FILE",
    "schema grow FILE MAPPING",
    "schema check FROM",
    "schema show FROM",
    "schema coverage FROM --subscriptions SUBSCRIPTIONS",
    "match --subscriptions SUBSCRIPTIONS --mappings FROM DOCUMENT",
    "chunk DOCUMENT --queries SUBSCRIPTIONS --schema FILE --run",
]


class Bait:
    """A file that tells whether it was opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_text("<!ELEMENT bait EMPTY>")
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._watch = self._libc.inotify_init1(os.O_NONBLOCK)
        if self._watch < 0:
            pytest.skip(f"inotify cannot be used: {os.strerror(ctypes.get_errno())}")
        assert self._libc.inotify_add_watch(self._watch, os.fsencode(path), _OPENED) >= 0

    def was_opened(self) -> bool:
        """Whether anything has opened the file since the last question."""
        try:
            return bool(os.read(self._watch, 1 << 16))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self._watch)

    def texts(self, text: str) -> list[bytes]:
        """A text with the path of the bait in all ways to write it."""
        ways = (str(self.path), self.path.as_uri(), self.path.name, f"../{self.path.name}")
        return [text.replace("BAIT", way).encode() for way in ways]


_OPENED = 0x20  # IN_OPEN


@pytest.fixture
def bait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bait]:
    """A bait in the working folder, so that its name alone leads to it, and above the folders of files."""
    monkeypatch.chdir(tmp_path)
    bait = Bait(tmp_path / "bait")
    yield bait
    bait.close()


def test_the_bait_tells(bait: Bait) -> None:
    """A parser that may open it does, so that a test that sees nothing means something."""
    assert not bait.was_opened()
    for body in bait.texts(DOCUMENTS["document type"])[:3]:
        etree.fromstring(body, etree.XMLParser(load_dtd=True))
        assert bait.was_opened()
    assert not bait.was_opened()


@pytest.mark.parametrize("text", DTDS.values(), ids=DTDS)
def test_dtds(bait: Bait, text: str) -> None:
    """A DTD that refers to another file is refused, or the reference means nothing."""
    for body in bait.texts(text):
        with contextlib.suppress(TwigcastError):
            assert "bait" not in read_dtd(body)
    assert not bait.was_opened()


@pytest.mark.parametrize("text", XSDS.values(), ids=XSDS)
def test_xsds(bait: Bait, text: str) -> None:
    """So is an XSD."""
    for body in bait.texts(text):
        with contextlib.suppress(TwigcastError):
            assert "bait" not in read_xsd(body)
    assert not bait.was_opened()


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_readers_of_documents(bait: Bait, reader: Callable[[bytes], object]) -> None:
    """Every document is read without the file, or refused."""
    for name, text in DOCUMENTS.items():
        for body in bait.texts(text):
            with contextlib.suppress(TwigcastError):
                reader(body)
            assert not bait.was_opened(), name


@pytest.mark.parametrize("command", DOCUMENT_COMMANDS)
def test_commands_that_read_documents(invoke: RunCommand, bait: Bait, command: str) -> None:
    """Every document is read without the file, or refused with a sentence."""
    for name, text in DOCUMENTS.items():
        for number, body in enumerate(bait.texts(text)):
            run(
                invoke, bait.path.parent / f"{name}-{number}".replace(" ", "-"), command, "document.xml", body
            )
            assert not bait.was_opened(), name


@pytest.mark.parametrize("command", SCHEMA_COMMANDS)
def test_commands_that_read_schemas(invoke: RunCommand, bait: Bait, command: str) -> None:
    """Every schema is read without the file, or refused with a sentence."""
    for suffix, texts in (("dtd", DTDS), ("xsd", XSDS)):
        for name, text in texts.items():
            body = bait.texts(text)[0]
            run(invoke, bait.path.parent / f"{suffix}-{name}".replace(" ", "-"), command, f"s.{suffix}", body)
            assert not bait.was_opened(), (suffix, name)


def run(invoke: RunCommand, folder: Path, command: str, name: str, body: bytes) -> None:
    """Run a command in a folder of its own that has this file; it must not fail but with a sentence."""
    from twigcast.cli.program import app

    mapping = publisher(folder)
    file = folder / name
    file.write_bytes(body)
    (folder / "s.txt").write_text("//cmu\n//code\n")
    (folder / "cmu.xml").write_text("<cmu/>")
    text = mapping.read_text().split("[[test]]")[0]
    (folder / "tested.toml").write_text(f'{text}[[test]]\ndocument = "{name}"\nmatches = ["//code"]\n')
    (folder / "from.toml").write_text(text.replace('"cmu.dtd"', f'"{name}"'))
    places = {
        "FILE": file,
        "MAPPING": mapping,
        "TESTED": folder / "tested.toml",
        "FROM": folder / "from.toml",
        "SOURCE": folder / "cmu.dtd",
        "TARGET": folder / "catalogue.dtd",
        "SUBSCRIPTIONS": folder / "s.txt",
        "DOCUMENT": folder / "cmu.xml",
        "FOLDER": folder / "into",
    }
    done = invoke(app, *[places.get(word, word) for word in command.split()])
    assert "Usage:" not in done.stderr, done.stderr
