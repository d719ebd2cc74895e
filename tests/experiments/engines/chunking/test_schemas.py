"""The schemas of the paper on chunking: what the package ships."""

from __future__ import annotations

from experiments.engines.chunking.schemas import MEMBERS, deployment, mixed_university, university
from twigcast.document import elements, read
from twigcast.workload import DocumentOptions, generate_documents

OPTIONS = DocumentOptions(seed=1, elements=200, skew=0.0)


def test_the_kinds_of_members_come_one_after_the_other() -> None:
    """As the appendix has them."""
    (body,) = generate_documents(university(), 1, OPTIONS)
    kinds = [each.local for each in elements(read(body).root)]
    assert list(dict.fromkeys(kinds)) == list(MEMBERS)
    assert kinds == sorted(kinds, key=MEMBERS.index)


def test_the_kinds_of_members_are_mixed() -> None:
    """As the text says."""
    (body,) = generate_documents(mixed_university(), 1, OPTIONS)
    kinds = [each.local for each in elements(read(body).root)]
    assert set(kinds) <= set(MEMBERS)
    assert kinds != sorted(kinds, key=MEMBERS.index)


def test_one_kind_of_member_can_be_the_root() -> None:
    """A record alone is generated from the same schema."""
    (body,) = generate_documents(university("student"), 1, OPTIONS)
    assert read(body).root.local == "student"


def test_a_method_can_contain_methods() -> None:
    """The descriptor is recursive."""
    (body,) = generate_documents(deployment("method"), 1, OPTIONS)
    root = read(body).root
    assert root.local == "method"
    assert any(each.local == "method" for each in elements(root))
