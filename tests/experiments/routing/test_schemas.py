"""Documents of the experiments: as many paths as the paper's have."""

from __future__ import annotations

import pytest

from experiments.routing.schemas import PSD_DOCUMENTS, psd, publications
from twigcast.document import Element, read

pytestmark = [pytest.mark.data, pytest.mark.usefixtures("data")]


def test_fifty_psd_documents_have_about_as_many_paths_as_the_papers() -> None:
    """4,182 in the paper; ours never change."""
    assert len(publications(psd(), 50, PSD_DOCUMENTS)) == 4165


def test_a_publication_is_a_document_of_one_path() -> None:
    """Each element of it has one child at most."""
    element = read(publications(psd(), 1, PSD_DOCUMENTS)[0]).root
    names = []
    while element is not None:
        names.append(element.local)
        (element,) = [each for each in element.children if isinstance(each, Element)] or [None]
    assert names == ["ProteinDatabase", "Database"]
