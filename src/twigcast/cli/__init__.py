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

from twigcast.cli.program import main

__all__ = ["main"]
