"""Bindings of prefixes to namespaces, as options, subscription files and pipeline files write them.

    cbc=urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2
    =urn:d                                   the empty prefix: the namespace of element names without a prefix

Several bindings are separated by white space, which a URI cannot have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from twigcast.characters import describe_character, illegal_character
from twigcast.pattern import Subscription, is_prefix, shortened

XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"


def read_bindings(text: str) -> dict[str, str]:
    """Return the bindings of a text of prefix=uri pairs; raises ``ValueError`` if one is malformed."""
    bound: dict[str, str] = {}
    for pair in text.split():
        prefix, equals, uri = pair.partition("=")
        if not equals:
            raise ValueError(f"expected prefix=uri, got {shortened(pair)}")
        check_binding(prefix, uri)
        if bound.setdefault(prefix, uri) != uri:
            raise ValueError(f"the prefix {shortened(prefix)} is bound twice")
    return bound


def check_binding(prefix: str, uri: str) -> None:
    """Raise ``ValueError`` if a prefix cannot occur in an expression, or not be bound to this namespace."""
    if prefix and not is_prefix(prefix):
        raise ValueError(f"expected a prefix, which is an XML name without a colon, got {shortened(prefix)}")
    if not uri:
        raise ValueError(f"expected prefix=uri, got no URI for the prefix {shortened(prefix)}")
    at = illegal_character(uri)
    if at is not None:
        character = describe_character(uri[at])
        raise ValueError(f"the namespace {shortened(uri)} has the character {character}")
    if any(character in "{}" or character.isspace() for character in uri):
        raise ValueError(f"expected a URI without braces and white space, got {shortened(uri)}")
    if prefix == "xmlns" or (prefix == "xml" and uri != XML_NAMESPACE):
        raise ValueError(f"the prefix {prefix!r} is reserved by XML and cannot be bound")


def written_bindings(bound: Mapping[str, str]) -> str:
    """Return bindings as ``read_bindings`` reads them."""
    return " ".join(f"{prefix}={uri}" for prefix, uri in bound.items())


def looks_like_binding(text: str) -> bool:
    """Whether a text begins like prefix=uri, with a URI that has a scheme.

    In TSV such a column binds prefixes, so no subscriber can have such a name; ``cn=ada`` is a name.
    """
    found = _BINDING.match(text)
    return found is not None and (not found[1] or is_prefix(found[1]))


def used_bindings(text: str, bound: Mapping[str, str]) -> dict[str, str]:
    """Return the bindings that an expression may use: those of its prefixes, and the empty prefix.

    It is enough that a prefix occurs before a colon, even inside a string: a superfluous binding is harmless.
    """
    return {prefix: uri for prefix, uri in bound.items() if not prefix or f"{prefix}:" in text}


def completed(subscription: Subscription, bound: Mapping[str, str]) -> Subscription:
    """Return the subscription with those of the bindings that it uses and does not have itself."""
    own, text = subscription.namespaces, subscription.text
    if not bound or subscription.is_parsed or not isinstance(text, str):
        return subscription
    used = used_bindings(text, bound)
    if not used.keys() - own.keys():
        return subscription
    return Subscription.unchecked(
        subscription.id, text, subscription.subscriber, subscription.deliver, {**used, **own}
    )


_BINDING = re.compile(r"([^\s=:]*)=[A-Za-z][A-Za-z0-9+.-]*:")
