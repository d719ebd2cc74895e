"""The command line: one file for each command, and only results on stdout.

    program          the commands together, and the exit codes
    match  check  explain  generate  index  simulate  fragment  assemble
    run  subscribe  unsubscribe  subscriptions  dead_letters      the commands of the pipeline
    stores           finds the pipeline file and the subscription store of a command
    index_building   builds an index from a subscription file
    subscription_lines  reads subscription files and reports their bad lines
    documents        finds and reads documents
    live             the display of a running pipeline
    options          options that commands share
    terminal         error messages, progress bars and tables

The heavy libraries (the kernel, Arrow, lxml) are imported inside the command that needs them, so that
``--help`` answers at once.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``twigcast`` with the arguments of the process."""
    try:
        from twigcast.cli.program import app
    except KeyboardInterrupt:  # the imports take a moment
        print("Interrupted.", file=sys.stderr)
        raise SystemExit(130) from None
    app(prog_name="twigcast")
