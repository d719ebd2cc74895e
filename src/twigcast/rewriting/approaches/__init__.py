"""Approaches of the literature beside the compiled one: to compare with, and to understand it by.

translate(pattern, mapping)             query rewriting (QRA): the subscription in the publisher's schema
FrameEngine(patterns, mapping)          matching on source events, with frames of image elements (IDDR)
ReverseRewriter(mapping).reverse(text)  a document from its image (EDRR, LDRR); for experiments
write_document(image)                   the text of an image, which SDR sends along
"""

from twigcast.rewriting.approaches.frames import FrameEngine, FrameEvent
from twigcast.rewriting.approaches.image_text import write_document
from twigcast.rewriting.approaches.reversing import ReverseRewriter
from twigcast.rewriting.approaches.translating import QueryTranslator, Translation, translate

__all__ = [
    "FrameEngine",
    "FrameEvent",
    "QueryTranslator",
    "ReverseRewriter",
    "Translation",
    "translate",
    "write_document",
]
