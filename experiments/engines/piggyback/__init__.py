"""Piggybacking as the papers have it: their formulas for the value of annotations, and their strategies."""
