"""Whether a document conforms to a schema; the naive version of what the kernel decides while it matches.

Each element gets the position to which its name leads from the position of its parent; a document does not
conform if there is no such position.  No pattern can express this, because the subscription language has no
``not(self::name)``.
"""

from __future__ import annotations

from twigcast.analysis.automaton import DOCUMENT, SchemaAutomaton
from twigcast.document import Document, Element, elements, read
from twigcast.errors import DocumentError
from twigcast.pattern import Axis, NameTest
from twigcast.system import Buffer


def describes(automaton: SchemaAutomaton, body: Buffer) -> bool:
    """Whether a document can be read and the automaton describes every label path of it."""
    try:
        return describes_document(automaton, read(body))
    except DocumentError:
        return False


def describes_document(automaton: SchemaAutomaton, document: Document) -> bool:
    """Whether the automaton describes every label path of a document, which may have several roots."""
    waiting: list[tuple[Document | Element, int]] = [(document, DOCUMENT)]
    while waiting:
        node, position = waiting.pop()
        for child in elements(node):
            reached = automaton.step(position, Axis.CHILD, NameTest(child.namespace, child.local))
            if not reached:
                return False
            waiting.append((child, reached))
    return True
