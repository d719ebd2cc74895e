"""Documents as root-to-leaf paths, and the branches of patterns that match paths."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, document, general_pattern, pattern
from twigcast.document import Document, Element, Node, read, string_value
from twigcast.errors import PatternError
from twigcast.pattern import matches, parse
from twigcast.routing.path_publication import branches, leaf_paths, reassemble


def test_a_document_has_a_path_for_each_leaf() -> None:
    """A leaf is an element without child elements; paths are numbered in document order."""
    paths = leaf_paths("d", read(b"<a x='1'><b>s</b><c>t<d/></c></a>"))
    assert [[node.local for node in path.nodes] for path in paths] == [["a", "b"], ["a", "c", "d"]]
    assert [(path.doc_id, path.path_id) for path in paths] == [("d", 0), ("d", 1)]


def test_text_travels_with_the_path_after_it_or_before_it() -> None:
    """No path consists of text alone, and no text is lost."""
    first, second = leaf_paths("d", read(b"<a>s<b/>t<c>u<d/>v</c>w</a>"))
    assert [text.value for text in first.texts] == ["s"]
    assert [text.value for text in second.texts] == ["t", "u", "v", "w"]


def test_a_path_carries_attributes_and_is_a_document_of_its_own() -> None:
    """The body of a path can be matched like any document."""
    first, second = leaf_paths("d", read(b"<a x='1'><b>s</b>t<c/></a>"))
    assert first.body == b'<a x="1"><b>s</b></a>'
    assert second.body == b'<a x="1">t<c></c></a>'


def test_some_paths_make_a_pruned_document() -> None:
    """Elements on no path are left out; the document order is kept, in whatever order the paths are given."""
    paths = leaf_paths("d", read(b"<a><b>s</b>x<b/><c>t<d/></c>u</a>"))
    assert reassemble([paths[2], paths[1]]) == b"<a>x<b></b><c>t<d></d></c>u</a>"


def test_comments_and_instructions_travel_with_text() -> None:
    """They are nodes too, and keep the texts around them apart."""
    paths = leaf_paths("d", read(b"<!--x--><a>s<!--c-->t<b/><?p q?></a><?p?>"))
    assert reassemble(paths) == b"<!--x--><a>s<!--c-->t<b></b><?p q?></a><?p?>"


def test_names_keep_their_namespaces() -> None:
    """This holds for elements, for attributes and for the prefix ``xml``."""
    body = b"<p:a xmlns:p='urn:p' p:x='1' xml:lang='en'><b xmlns='urn:q'><c xmlns=''/></b></p:a>"
    assert shape(read(reassemble(leaf_paths("d", read(body))))) == shape(read(body))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_all_paths_make_the_whole_document(random: Random) -> None:
    """Names, attributes, text nodes and their order are the same."""
    whole = read(document(random))
    assert shape(read(reassemble(leaf_paths("d", whole)))) == shape(whole)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/a/b", ["/a/b"]),
        ("/a[@x=1]//b/@y", ["/a[@x=1]//b/@y"]),
        ("/a[b]/c", ["/a/b", "/a/c"]),
        ("/a[not(b)]/c", ["/a/b", "/a/c"]),
        ("/a[@x][.='s']/c", ["/a[@x]", "/a[@x]/c"]),
        ("/a/b[2]/c", ["/a/b", "/a/b/c"]),
        ("/a[count(.//b[c]) > 2]", ["/a//b/c", "/a//b", "/a"]),
        ("/a/b | //c[d]", ["//c/d", "//c", "/a/b"]),
    ],
)
def test_branches_are_the_paths_that_a_pattern_looks_at(text: str, expected: list[str]) -> None:
    """Conditions on attributes stay on their step; other conditions become branches."""
    assert [str(branch) for branch in branches(parse(text))] == [str(parse(each)) for each in expected]


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_the_paths_of_its_branches_decide_a_pattern(random: Random) -> None:
    """A document pruned to these paths, or to more, matches if and only if the whole document does."""
    whole = read(document(random))
    try:
        subscription = parse(random.choice([pattern, general_pattern])(random).ours, NAMESPACES)
    except PatternError:
        return
    asked = branches(subscription)
    paths = leaf_paths("d", whole)
    wanted = [path for path in paths if any(matches(branch, read(path.body)) for branch in asked)]
    more = [path for path in paths if path in wanted or random.randint(0, 2) == 0]
    for kept in (wanted, more):
        found = bool(kept) and matches(subscription, read(reassemble(kept)))
        assert found == matches(subscription, whole)


def shape(node: Node) -> object:
    """Return a document as nested tuples, to compare it."""
    if isinstance(node, Document):
        return tuple(map(shape, node.children))
    if isinstance(node, Element):
        attributes = tuple((each.namespace, each.local, each.value, each.prefix) for each in node.attributes)
        return node.namespace, node.local, node.prefix, attributes, tuple(map(shape, node.children))
    return type(node), string_value(node)
