"""The command line: one file per command, nothing on stdout but results.

    program          the commands together, and how a run ends
    match  check  explain  generate  index  simulate  experiment  bench      one command each
    run  subscribe  unsubscribe  subscribed  dead_letters      those of the pipeline (subscribed lists)
    tables           which pipeline and subscription table a command means
    live             a run as people see it
    subscriptions    reading files of subscriptions
    documents        finding and reading documents
    options          the options that commands share
    terminal         what people see: tables, progress, complaints

Everything heavy (the kernel, Arrow, lxml) is imported inside the command that needs it, so that ``--help``
answers at once.
"""

from __future__ import annotations

from twigcast.cli.program import main

__all__ = ["main"]
