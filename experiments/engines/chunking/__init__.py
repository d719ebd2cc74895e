"""The algorithm of the paper on chunking, and its schemas."""
