"""The compiled part of matching; ``_kernel`` is its only module, and only this room imports it."""
