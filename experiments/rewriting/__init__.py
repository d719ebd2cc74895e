"""Experiments of the paper on heterogeneous data and of chapter 6 of the thesis."""
