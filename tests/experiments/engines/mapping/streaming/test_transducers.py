"""When transducers let go of events: the event lists of the papers."""

from __future__ import annotations

from experiments.engines.mapping.streaming import EndEvent, EventRewriter, StartEvent, TextEvent, events
from tests.rewriting.images import name, tree_of
from twigcast.document import read
from twigcast.rewriting import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertEach,
    Mapping,
    Operator,
    ToElement,
    Upgrade,
)
from twigcast.rewriting.operators import InsertAll, UpgradeAll


def steps(schema: str, body: str, *operators: Operator) -> list[str]:
    """For each event of the source, the events of the image that it lets go, in short: ``<a x >``."""
    rewriter = EventRewriter(Mapping("m", tree_of(schema), operators), len(body))
    return [" ".join(map(_short, rewriter.feed(event))) for event in events(read(body.encode()))]


def _short(event: object) -> str:
    match event:
        case StartEvent(label):
            return f"<{label.local}"
        case EndEvent():
            return ">"
        case TextEvent(value):
            return value
    raise AssertionError(event)


BODY = "<e>1<f>2</f><s>3</s></e>"
TREE = "r(e*(@a, f, s))"


def around(*operators: Operator) -> list[str]:
    """The steps of ``BODY``, without the root around it."""
    return steps(TREE, f"<r>{BODY}</r>", *operators)[1:-1]


def test_to_element_writes_at_the_start() -> None:
    """Start(E) Start(A) text End(A), as soon as the next event shows that nothing stands before it."""
    body = "<r><e a='7'>1</e></r>"
    assert steps(TREE, body, ToElement("r/e/@a", name("n"))) == ["<r", "<e", "<n 7 >", "1 >", ">"]


def test_insert_all_opens_its_path_before_the_first_content() -> None:
    """Start(E), then the path, and its ends before End(E)."""
    path = (name("p"), name("q"))
    assert around(InsertAll("r/e", path)) == ["<e", "<p <q", "1 <f", "", "2 >", "<s", "", "3 >", "> > >"]
    assert steps(TREE, "<r><e/></r>", InsertAll("r/e", path)) == ["<r", "<e", ">", ">"]


def test_insert_each_writes_at_once() -> None:
    """Nothing waits."""
    each = InsertEach("r/e", (name("p"),), ("r/e/f",))
    assert around(each) == ["<e", "", "1 <p <f", "", "2 > >", "<s", "", "3 >", ">"]


def test_insert_waits_for_the_end() -> None:
    """The members come before End(E), in the made path."""
    insert = Insert("r/e", (name("p"),), ("r/e/f",))
    assert around(insert) == ["<e", "", "", "", "", "1 <s", "", "3 >", "<p <f 2 > > >"]


def test_upgrade_waits_until_after_the_end() -> None:
    """The members come after End(E)."""
    assert around(Upgrade("r/e", ("r/e/f",))) == ["<e", "", "", "", "", "1 <s", "", "3 >", "> <f 2 >"]
    assert around(UpgradeAll("r/e")) == ["<e", "", "", "", "", "", "", "", "1 > <f 2 > <s 3 >"]


def test_downgrade_waits_for_the_end() -> None:
    """Each holder comes with the members before its end."""
    downgrade = Downgrade("r/e", ("r/e/f",), "r/e/s")
    assert around(downgrade) == ["<e", "", "", "", "", "", "", "", "1 <s 3 <f 2 > > >"]


def test_exchange_waits_for_all_of_an_element() -> None:
    """At End(E): Start(F), the rest of E, the rest of F."""
    exchange = Exchange("r/e", "r/e/s")
    assert around(exchange) == ["", "", "", "", "", "", "", "", "<s <e 1 <f 2 > > 3 >"]


def test_hide_writes_nothing() -> None:
    """What is left is as it was."""
    assert around(Hide("r/e/f")) == ["<e", "", "", "", "", "1 <s", "", "3 >", ">"]


def test_a_cached_tree_is_written_into_the_next_transducer() -> None:
    """Which may hold it again."""
    both = Upgrade("r/e", ("r/e/f",)), Insert("r", (name("p"),), ("r/e/f",))
    found = steps(TREE, f"<r>{BODY}</r>", *both)
    assert found[-2:] == [">", "<p <f 2 > > >"]
