"""The engines of the papers that only their experiments, benchmarks and tests need.

    filtering     XTrie, YFilter and one pattern by one, beside ``twigcast.Index``
    fragments     the thesis' engine for documents in fragments, and how early matches are known

They are not part of the package: nothing in ``src`` imports them, and they are in no wheel.
"""
