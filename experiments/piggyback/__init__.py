"""Repeats the experiments of the thesis's chapter 4 and of the paper on piggybacking."""
