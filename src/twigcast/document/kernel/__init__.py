"""Compiled code of this room; ``_scanner`` is its only module, and only ``twigcast.document`` imports it."""
