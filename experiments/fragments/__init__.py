"""Repeats the experiments of the thesis's chapter 5, on documents in fragments."""
