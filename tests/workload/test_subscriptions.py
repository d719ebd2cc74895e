"""Generated subscriptions: in the language, distinct, and with the parameters asked for."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice, pairwise

import pytest
from lxml import etree

from twigcast.document import read
from twigcast.errors import SchemaError
from twigcast.pattern import Axis, matches, parse
from twigcast.schema import ElementGraph, element_graph, read_dtd
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
    presets,
)

PLAIN = SubscriptionOptions(wildcard=0.0, descendant=0.0)
EVERYTHING = SubscriptionOptions(nested=0.5, nesting=3, value=0.5, wildcard=0.3, descendant=0.3)


def generated(options: SubscriptionOptions, count: int = 500) -> list[str]:
    return list(generate_subscriptions(news(), count, options))


def lengths(texts: list[str]) -> set[int]:
    return {len(parse(text).alternatives[0].steps) for text in texts}


@pytest.mark.parametrize("options", [*presets.SUBSCRIPTIONS.values(), EVERYTHING])
def test_all_are_in_the_language(options: SubscriptionOptions) -> None:
    """Every text is accepted by the parser, and by lxml."""
    for text in generated(options):
        parse(text)
        etree.XPath(text)


def test_the_same_seed_gives_the_same_texts() -> None:
    """Texts depend on schema, options and seed alone, and fewer of them are the first of more."""
    assert generated(EVERYTHING) == generated(EVERYTHING)
    assert generated(EVERYTHING, 10) == generated(EVERYTHING)[:10]
    assert generated(EVERYTHING) != generated(replace(EVERYTHING, seed=1))


def test_texts_are_those_of_yesterday() -> None:
    """Generated subscriptions never change, or benchmarks could not be compared."""
    assert generated(replace(presets.VALUES, seed=3), 4) == [
        "/feed/article/summary/paragraph/link/emphasis/place/region",
        "/feed[@priority='urgent']/article[*/*/emphasis]/sources/*/organisation[ticker]/ticker",
        "/feed[article/section]/article/section//*/place",
        "/feed/article/sources[source/*]/source[.='protest']",
    ]


def test_distinct_texts() -> None:
    """No text comes twice, unless repetitions are allowed."""
    assert len(set(generated(presets.LINEAR, 20_000))) == 20_000
    assert len(set(generated(replace(PLAIN, max_steps=2, min_steps=1, distinct=False)))) < 500


def test_an_exhausted_space_is_an_error() -> None:
    """If a schema has too few distinct texts, all of them are yielded before the error."""
    graph = read_dtd(b"<!ELEMENT a (b?)><!ELEMENT b EMPTY>")
    stream = generate_subscriptions(graph, 10, replace(PLAIN, min_steps=1))
    assert set(islice(stream, 2)) == {"/a", "/a/b"}
    with pytest.raises(SchemaError, match="only 2 of 10 distinct subscriptions"):
        next(stream)


def test_lengths_are_within_bounds() -> None:
    """Steps number from min_steps to max_steps."""
    assert lengths(generated(SubscriptionOptions(min_steps=3, max_steps=6))) == {3, 4, 5, 6}
    assert lengths(generated(SubscriptionOptions(min_steps=7, max_steps=7, descendant=0.5))) == {7}


def test_shallow_schemas_shorten_paths() -> None:
    """Where the schema is not as deep as the steps asked for, paths go to its bottom."""
    graph = read_dtd(b"<!ELEMENT a (b?)><!ELEMENT b EMPTY>")
    assert list(generate_subscriptions(graph, 1, PLAIN)) == ["/a/b"]


def test_depth_is_bounded() -> None:
    """A walk, with what it leaves out, goes no deeper than max_depth."""
    graph = read_dtd(b"<!ELEMENT a (b)><!ELEMENT b (c)><!ELEMENT c (d)><!ELEMENT d EMPTY>")
    options = SubscriptionOptions(min_steps=1, descendant=0.9, max_depth=2, wildcard=0.0, distinct=False)
    assert "c" not in "".join(generate_subscriptions(graph, 200, options))


def test_steps_follow_the_schema() -> None:
    """Without // and * each step is a child of the one before, from the root down."""
    graph = news()
    for text in generated(PLAIN):
        names = text[1:].split("/")
        assert names[0] == graph.root
        for parent, child in pairwise(names):
            assert child in {each.name for each in graph.children(parent)}


def test_descendant_steps_follow_the_schema() -> None:
    """What follows // is a descendant of what goes before."""
    graph = news()
    for text in generated(replace(PLAIN, descendant=0.5)):
        for before, axis, after in re.findall(r"(?=(?:^|/)(\w+)(//?)(\w+))", text):
            assert after in graph.descendants[before] if axis == "//" else graph.children(before)


@pytest.mark.parametrize("probability", [0.0, 0.2, 0.6])
def test_wildcard_probability(probability: float) -> None:
    """The part of steps that are * is p(*)."""
    texts = generated(replace(PLAIN, wildcard=probability, distinct=False), 2000)
    steps = [step for text in texts for step in text[1:].split("/")]
    assert steps.count("*") / len(steps) == pytest.approx(probability, abs=0.03)


@pytest.mark.parametrize("probability", [0.0, 0.2, 0.6])
def test_descendant_probability(probability: float) -> None:
    """The part of steps with // is p(//)."""
    texts = generated(replace(PLAIN, descendant=probability, distinct=False), 2000)
    steps = [step for text in texts for step in parse(text).alternatives[0].steps]
    below = sum(step.axis is Axis.DESCENDANT for step in steps)
    assert below / len(steps) == pytest.approx(probability, abs=0.03)


def test_nested_probability() -> None:
    """No nested paths with p = 0; with p = 0.2 three or four of five subscriptions branch."""
    assert not any("[" in text for text in generated(presets.LINEAR))
    branching = sum("[" in text for text in generated(presets.BRANCHING)) / 500
    assert 0.65 < branching < 0.9


def test_nested_paths_are_short_and_flat_by_default() -> None:
    """A nested path has at most nested_steps steps, and none nested in it unless asked for."""
    flat = generated(SubscriptionOptions(nested=0.5, nested_steps=2))
    assert (
        max(
            inner.lstrip("./").replace("//", "/").count("/")
            for text in flat
            for inner in re.findall(r"\[([^]]*)]", text)
        )
        == 1
    )
    assert not any(re.search(r"\[[^]]*\[", text) for text in flat)
    assert any(
        re.search(r"\[[^]]*\[", text) for text in generated(SubscriptionOptions(nested=0.5, nesting=2))
    )


def test_value_probability() -> None:
    """No values with p = 0; otherwise conditions on attributes and on text, of all operators."""
    assert not any("@" in text or "text()" in text for text in generated(presets.BRANCHING))
    texts = " ".join(generated(presets.VALUES, 3000))
    for form in (
        "[@",
        "[text()=",
        "[.=",
        "contains(",
        "starts-with(",
        "!=",
        "<",
        ">",
        "<=",
        ">=",
        "='",
        "=1",
    ):
        assert form in texts


def test_some_values_hold() -> None:
    """Subscriptions with values are matched by some documents of the same schema, and missed by others."""
    nodes = [etree.fromstring(body) for body in generate_documents(news(), 20)]
    options = SubscriptionOptions(min_steps=1, max_steps=4, wildcard=0.0, descendant=0.0, value=1.0)
    conditions = [etree.XPath(f"boolean({text})") for text in generated(options)]
    holding = (
        sum(condition(node) for condition in conditions for node in nodes) / len(conditions) / len(nodes)
    )
    assert 0.005 < holding < 0.5


def test_subscriptions_match_documents() -> None:
    """Of linear subscriptions a fair part matches a document of the schema."""
    nodes = [etree.fromstring(body) for body in generate_documents(news(), 20)]
    paths = [etree.XPath(f"boolean({text})") for text in generated(presets.LINEAR)]
    matching = sum(path(node) for path in paths for node in nodes) / len(paths) / len(nodes)
    assert 0.01 < matching < 0.5


def test_skew_prefers_what_stands_first() -> None:
    """With skew the first child of a content model is the most frequent step."""
    graph = read_dtd(b"<!ELEMENT a (b, c, d)><!ELEMENT b EMPTY><!ELEMENT c EMPTY><!ELEMENT d EMPTY>")
    options = replace(PLAIN, min_steps=2, max_steps=2, skew=1.0, distinct=False)
    texts = list(generate_subscriptions(graph, 1000, options))
    assert texts.count("/a/b") > 1.5 * texts.count("/a/c") > 1.5 * texts.count("/a/d")


def test_values_with_quotes_are_quoted() -> None:
    """A value with one kind of quote stands in the other; one with both is left out."""
    graph = read_dtd(b"<!ELEMENT a EMPTY><!ATTLIST a x CDATA #FIXED \"it's\" y CDATA #FIXED '&#34;&#39;'>")
    options = replace(PLAIN, value=1.0, distinct=False)
    texts = set(generate_subscriptions(graph, 50, options))
    assert '/a[@x="it\'s"]' in texts
    assert not any("@y" in text for text in texts)
    assert all(parse(text) for text in texts)


def test_prefixes_are_bound_by_the_graph() -> None:
    """Names are read with the bindings of their graph; attributes of unbound prefixes are not asked for."""
    graph = read_dtd(b"<!ELEMENT p:a (p:b)><!ELEMENT p:b EMPTY><!ATTLIST p:b xml:lang CDATA #IMPLIED>")
    graph = element_graph(graph.elements, namespaces=[("p", "urn:p")])
    for text in generate_subscriptions(graph, 5, replace(PLAIN, value=1.0, distinct=False)):
        assert text == "/p:a/p:b"
        parse(text, dict(graph.namespaces))


@pytest.mark.parametrize(
    "wrong", [{"wildcard": -0.1}, {"nested": 2.0}, {"min_steps": 9}, {"nested_steps": 0}, {"skew": -1.0}]
)
def test_impossible_options_are_refused(wrong: dict[str, float]) -> None:
    """Options out of range are refused where they are made."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SubscriptionOptions(**wrong)  # type: ignore[arg-type]


def test_a_condition_on_the_test_element_is_put_before_each() -> None:
    """Besides it, the texts are those without the option; they match only documents with the element."""
    plain = generated(EVERYTHING, 50)
    conditional = generated(replace(EVERYTHING, test_condition=True), 50)
    assert conditional == [f"/self::node()[.//test]{text}" for text in plain]
    bodies = list(generate_documents(news(), 5, DocumentOptions(test_element=0.5)))
    for text, other in zip(conditional, plain, strict=True):
        for body in bodies:
            document = read(body)
            assert matches(parse(text), document) == matches(parse(other), document)
            assert not matches(parse(text), read(body.replace(b"<test/>", b"")))


@pytest.mark.data
def test_nitf_has_enough_distinct_paths(nitf: ElementGraph) -> None:
    """A hundred thousand distinct linear paths come from NITF without difficulty."""
    assert len(set(generate_subscriptions(nitf, 100_000, presets.LINEAR))) == 100_000
