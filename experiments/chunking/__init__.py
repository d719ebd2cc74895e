"""The tables and figures of the paper on chunking, and what lies beyond them: one file for each."""
