"""Listing: which files a source has, found by twigcast itself on one machine, else by Spark."""
