"""Advertisements as the routing paper writes them, and schemas as lists of label paths."""
