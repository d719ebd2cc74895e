"""The compiled kernel; ``_kernel`` is its only module, and only ``twigcast.filtering`` imports it."""
