"""Evaluates the queries of a part: trees, places of elements, contents of answers, and what lxml may cost."""
