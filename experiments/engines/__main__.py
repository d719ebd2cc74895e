"""``python -m experiments.engines`` is the program ``twigcast`` with dialects for ``simulate``.

A scenario may then have a section ``[mediation]``, with the approaches of the papers.
"""

from experiments.engines.mapping.publishers import provide
from twigcast.cli import main

if __name__ == "__main__":
    provide()
    main()
