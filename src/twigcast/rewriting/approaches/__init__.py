"""Approaches of the literature beside the compiled one: to compare with, and to understand it by.

translate(pattern, mapping)             query rewriting (QRA): the subscription in the publisher's schema
"""

from twigcast.rewriting.approaches.translating import QueryTranslator, Translation, translate

__all__ = ["QueryTranslator", "Translation", "translate"]
