"""The engines of the papers that only their experiments, benchmarks and tests need.

    filtering     XTrie, YFilter and one pattern by one, beside ``twigcast.Index``
    fragments     the thesis' engine for documents in fragments, and how early matches are known
    mapping       IDDR, QRA, DRR, transducers of events, the printed rules, and the generator of dialects
    piggyback     the formulas for the value of annotations, and the strategies of the papers by name
    routing       advertisements as path expressions, and schemas as lists of label paths
    chunking      the prefixes of the paper, and its schemas

They are not part of the package: nothing in ``src`` imports them, and they are in no wheel.
``python -m experiments.engines`` is ``twigcast`` with dialects for ``simulate``.
"""
